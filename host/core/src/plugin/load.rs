//! From a component's bytes to a plugin.

use std::path::Path;
use std::sync::Arc;

use tokio::task::spawn_blocking;
use wasmtime::component::Component;

use super::cache::Cached;
use super::definition::{self, RejectedTool, ToolDefinition};
use super::{LoadError, LoadedTool, Plugin, PluginInner, world};
use crate::digest::Digest;
use crate::engine::Engine;
use crate::instance::bindings::CustomToolPre;
use crate::instance::{Home, Instance, State, VolatileActions};
use crate::policy::{Policy, WorkspaceGrant};
use crate::workspace::{Roots, ScratchFolder};

pub(super) async fn from_file(engine: &Engine, path: &Path) -> Result<Plugin, LoadError> {
    let name = match path.file_stem() {
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    };
    let read = |source| LoadError::Read {
        path: path.to_owned(),
        source,
    };
    let size = std::fs::metadata(path).map_err(read)?.len();
    check_size(engine, &name, size)?;
    let bytes = std::fs::read(path).map_err(read)?;
    from_bytes(engine, name.into(), bytes).await
}

pub(super) async fn from_bytes(
    engine: &Engine,
    name: Arc<str>,
    bytes: impl AsRef<[u8]> + Send + 'static,
) -> Result<Plugin, LoadError> {
    let size = bytes.as_ref().len();
    check_size(engine, &name, size as u64)?;
    let digest = Digest::of(bytes.as_ref());
    if let Some(cached) = engine
        .cache()
        .and_then(|cache| cache.get(engine.wasmtime(), digest))
    {
        let checked = Checked::new(engine, &name, cached.component)?;
        return Ok(checked.into_plugin(engine, name, digest, size, cached.tools, cached.rejected));
    }

    let compiled = {
        let (engine, name) = (engine.clone(), Arc::clone(&name));
        // Compiling can take seconds, and would stall what else runs on this thread.
        let compiled = spawn_blocking(move || compile(&engine, &name, bytes.as_ref())).await;
        match compiled {
            Ok(compiled) => compiled?,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    };
    let checked = Checked::new(engine, &name, compiled)?;
    let (tools, rejected) = checked.ask_for_tools(engine, &name, digest).await?;
    if tools.is_empty() {
        let plugin = name.to_string();
        return Err(LoadError::NoTools { plugin, rejected });
    }
    if let Some(cache) = engine.cache() {
        cache.put(
            engine.wasmtime(),
            digest,
            Cached {
                component: checked.component.clone(),
                tools: tools.clone(),
                rejected: rejected.clone(),
            },
        );
    }
    Ok(checked.into_plugin(engine, name, digest, size, tools, rejected))
}

fn check_size(engine: &Engine, name: &str, size: u64) -> Result<(), LoadError> {
    let limit = engine.plugin_bytes();
    match size > limit as u64 {
        true => Err(LoadError::TooLarge {
            plugin: name.to_owned(),
            size,
            limit,
        }),
        false => Ok(()),
    }
}

fn compile(engine: &Engine, name: &str, bytes: &[u8]) -> Result<Component, LoadError> {
    let refuse = |reason: String| LoadError::NotAComponent {
        plugin: name.to_owned(),
        reason,
    };
    match bytes {
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => {
            let reason = "it is a core module; `wasm-tools component new` makes a component of one";
            return Err(refuse(reason.to_owned()));
        }
        [0, b'a', b's', b'm', ..] => {}
        _ => {
            return Err(refuse(
                "the bytes don't begin as WebAssembly does".to_owned(),
            ));
        }
    }
    Component::from_binary(engine.wasmtime(), bytes).map_err(|error| {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        refuse(causes.join(": "))
    })
}

/// A component whose imports and exports fit.
struct Checked {
    component: Component,
    linked: CustomToolPre<State>,
    fit: world::Fit,
}

impl Checked {
    fn new(engine: &Engine, name: &str, component: Component) -> Result<Self, LoadError> {
        let misfit = |reason| LoadError::World {
            plugin: name.to_owned(),
            reason,
        };
        let fit = world::check(engine.wasmtime(), &component).map_err(misfit)?;
        let linked = engine
            .linker()
            .instantiate_pre(&component)
            .and_then(CustomToolPre::new)
            .map_err(|error| misfit(world::explain_link_error(&error)))?;
        Ok(Self {
            component,
            linked,
            fit,
        })
    }

    async fn ask_for_tools(
        &self,
        engine: &Engine,
        name: &Arc<str>,
        digest: Digest,
    ) -> Result<(Vec<ToolDefinition>, Vec<RejectedTool>), LoadError> {
        let home = Home {
            plugin: digest,
            plugin_name: Arc::clone(name),
            policy: Policy::default().with_workspace(WorkspaceGrant::None),
            limits: Arc::clone(engine.shared_limits()),
            roots: Arc::new(Roots {
                workspace: None,
                scratch: ScratchFolder::inside(engine.scratch_parent().to_owned()),
            }),
            observer: None,
            volatile: VolatileActions::default(),
            session: None,
        };
        let permit = engine.live().permit().await;
        let answer = match Instance::new(engine, &self.linked, home, permit).await {
            Ok(instance) => instance.definitions().await,
            Err(error) => Err(error),
        };
        answer
            .map(definition::check_all)
            .map_err(|error| LoadError::Definitions {
                plugin: name.to_string(),
                source: Box::new(error),
            })
    }

    fn into_plugin(
        self,
        engine: &Engine,
        name: Arc<str>,
        digest: Digest,
        size: usize,
        tools: Vec<ToolDefinition>,
        rejected: Vec<RejectedTool>,
    ) -> Plugin {
        Plugin {
            inner: Arc::new(PluginInner {
                name,
                digest,
                size,
                world_version: self.fit.version,
                imports: self.fit.imports,
                tools: tools.into_iter().map(LoadedTool::new).collect(),
                rejected,
                engine: engine.clone(),
                component: self.linked,
            }),
        }
    }
}
