//! From a component's bytes to a plugin.

use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::spawn_blocking;
use wasmtime::component::Component;

use super::cache::Key;
use super::definition::{self, RejectedTool, ToolDefinition};
use super::linked::Linked;
use super::{Facts, LoadError, LoadedTool, Plugin, PluginInner, world};
use crate::digest::Digest;
use crate::engine::Engine;
use crate::instance::{Home, Instance, VolatileActions};
use crate::policy::{Policy, WorkspaceGrant};
use crate::store::PluginBytes;
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
    let metadata = std::fs::metadata(path).map_err(read)?;
    if !metadata.is_file() {
        // Reading a pipe or a device might never end.
        return Err(read(io::Error::other("it is not a regular file")));
    }
    check_size(engine, &name, metadata.len())?;
    let bytes = std::fs::read(path).map_err(read)?;
    from_bytes(engine, name.into(), bytes.into()).await
}

pub(super) async fn from_bytes(
    engine: &Engine,
    name: Arc<str>,
    bytes: Bytes,
) -> Result<Plugin, LoadError> {
    check_size(engine, &name, bytes.len() as u64)?;
    let plugin = |source: PluginBytes, component: Linked, facts: Facts| Plugin {
        inner: Arc::new(PluginInner {
            source,
            world_version: facts.world_version,
            imports: facts.imports,
            tools: facts.tools.into_iter().map(LoadedTool::new).collect(),
            rejected: facts.rejected,
            engine: engine.clone(),
            component,
        }),
    };
    let cache = engine.cache();
    let cache = cache.map(|cache| (cache, Key::new(engine.wasmtime(), &bytes)));
    if let Some((cache, key)) = &cache
        && let Some(entry) = cache.get(engine.wasmtime(), key)
    {
        let source = PluginBytes {
            digest: entry.digest,
            name,
            bytes,
        };
        return Ok(plugin(source, Linked::later(entry.component), entry.facts));
    }

    let source = PluginBytes {
        digest: Digest::of(&bytes),
        name,
        bytes,
    };
    let component = compile_elsewhere(engine, &source).await?;
    let misfit = |reason| LoadError::World {
        plugin: source.name.to_string(),
        reason,
    };
    let fit = world::check(engine.wasmtime(), &component).map_err(misfit)?;
    let component = Linked::now(engine, component)
        .map_err(|error| misfit(world::explain_link_error(&error)))?;
    let (tools, rejected) = ask_for_tools(engine, &component, &source).await?;
    if tools.is_empty() {
        let plugin = source.name.to_string();
        return Err(LoadError::NoTools { plugin, rejected });
    }
    let facts = Facts {
        world_version: fit.version,
        imports: fit.imports,
        tools,
        rejected,
    };
    if let Some((cache, key)) = cache {
        cache.put(&key, source.digest, component.component(), &facts);
    }
    Ok(plugin(source, component, facts))
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

/// Compiling can take seconds, and would stall what else runs on this thread.
async fn compile_elsewhere(engine: &Engine, source: &PluginBytes) -> Result<Component, LoadError> {
    let (engine, source) = (engine.clone(), source.clone());
    let compiled = spawn_blocking(move || compile(&engine, &source.name, &source.bytes)).await;
    match compiled {
        Ok(compiled) => compiled,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
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

pub(super) async fn ask_for_tools(
    engine: &Engine,
    component: &Linked,
    source: &PluginBytes,
) -> Result<(Vec<ToolDefinition>, Vec<RejectedTool>), LoadError> {
    let limits = engine.shared_limits();
    let home = Home {
        plugin: source.clone(),
        loaded: None,
        policy: Policy::default().with_workspace(WorkspaceGrant::None),
        limits: Arc::clone(limits),
        roots: Arc::new(Roots {
            workspace: None,
            scratch: ScratchFolder::inside(
                engine.scratch_homes(),
                engine.scratch_parent().to_owned(),
            ),
        }),
        observer: None,
        volatile: VolatileActions::default(),
        session: None,
    };
    let answer = async {
        let permit = engine
            .live()
            .permit_within(limits.call_time, &source.name)
            .await?;
        let instance = Instance::new(engine, component.get(engine)?, home, permit).await?;
        instance.definitions(limits).await
    };
    match answer.await {
        Ok(definitions) => Ok(definition::check_all(definitions)),
        Err(error) => Err(LoadError::Definitions {
            plugin: source.name.to_string(),
            source: Box::new(error),
        }),
    }
}
