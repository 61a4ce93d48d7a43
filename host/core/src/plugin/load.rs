//! Loads plugins from component bytes.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use airlock_model::digest::Digest;
use airlock_model::error::HostError;
use airlock_model::policy::{Policy, WorkspaceGrant};
use airlock_model::regular::open_regular_file;
use airlock_model::store::PluginBytes;
use airlock_model::tool::command::CommandTools;
use airlock_model::tool::{RejectedTool, ToolDefinition};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use tracing::Instrument;

use super::linked::Linked;
use super::{Checks, Loaded, LoadedTool, Plugin, PluginInner};
use super::{definition, fit};
use crate::compile::{CompileCache, Facts, Key, elsewhere};
use crate::engine::Engine;
use crate::instance::{Instance, InstanceContext, VolatileActions};
use crate::load_error::LoadError;
use crate::reserved::{ToolNames, leave_out_reserved};
use crate::tenant::Tenant;
use crate::workspace::{Roots, ScratchFolder};
use crate::world::{Definition, World};

pub(super) async fn from_file(engine: &Engine, path: &Path) -> Result<Plugin, LoadError> {
    let name = match path.file_stem() {
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    };
    let read = |source| LoadError::Read {
        path: path.to_owned(),
        source: Arc::new(source),
    };
    let file = open_regular_file(path).map_err(read)?;
    let length = file.metadata().map_err(read)?.len();
    check_size(engine, &name, length)?;
    let mut bytes = Vec::with_capacity(length as usize + 1);
    // The file may grow in the meantime.
    let most = (engine.plugin_bytes() as u64).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(read)?;
    let loaded = from_bytes(engine, name.into(), bytes.into()).await;
    loaded.map_err(|error| match error {
        // It may be any file, so its name is not that of a plugin.
        LoadError::NotAComponent { reason, .. } => LoadError::NotAComponent {
            plugin: path.display().to_string(),
            reason,
        },
        error => error,
    })
}

pub(super) async fn from_bytes(
    engine: &Engine,
    name: Arc<str>,
    bytes: Bytes,
) -> Result<Plugin, LoadError> {
    check_size(engine, &name, bytes.len() as u64)?;
    let key = Key::new(engine.wasmtime(), &bytes);
    let plugin = |name, loaded: Arc<Loaded>| Plugin {
        inner: Arc::new(PluginInner {
            source: PluginBytes {
                digest: loaded.digest,
                name,
                bytes: loaded.bytes.clone(),
            },
            engine: engine.clone(),
            loaded,
        }),
    };
    if let Some(loaded) = engine.compiler().loads.get(&key) {
        return Ok(plugin(name, loaded));
    }
    let cached = |cache: &CompileCache| cache.get(engine.wasmtime(), &key);
    if let Some(entry) = engine.cache().and_then(cached) {
        let component = Linked::later(entry.component);
        let loaded = loaded(engine, &key, (entry.digest, bytes), component, entry.facts);
        return Ok(plugin(name, loaded));
    }

    let source = PluginBytes {
        digest: Digest::of(&bytes),
        name,
        bytes,
    };
    let failed = &engine.compiler().failed;
    if let Some(error) = failed.get(&source.digest) {
        return Err(error.of_plugin(&source.name));
    }
    // The slow part: reading the outline, compiling, and asking for the tools.
    let span = tracing::debug_span!(target: "airlock::load", "load", plugin = %source.name, digest = %source.digest);
    let began = Instant::now();
    let made = make(engine, &source).instrument(span).await;
    tracing::debug!(
        target: "airlock::load",
        plugin = %source.name,
        failed = made.is_err(),
        "compiled and asked for its tools, after {:?}",
        began.elapsed()
    );
    let made = match made {
        Ok(made) => made,
        Err(error) => {
            if error.is_the_components() {
                failed.remember(source.digest, &error);
            }
            return Err(error.of_plugin(&source.name));
        }
    };
    if let Some(cache) = engine.cache() {
        cache.put(&key, source.digest, &made.code, &made.facts);
    }
    let source_of = (source.digest, source.bytes);
    let loaded = loaded(engine, &key, source_of, made.component, made.facts);
    Ok(plugin(source.name, loaded))
}

fn loaded(
    engine: &Engine,
    key: &Key,
    (digest, bytes): (Digest, Bytes),
    component: Linked,
    facts: Facts,
) -> Arc<Loaded> {
    // Not part of the cache entry, which an earlier version of the host may have written.
    let mut rejected = facts.rejected;
    let tools = leave_out_reserved(facts.tools, &mut rejected);
    let names = ToolNames::new(tools.iter());
    let checks = Checks::new();
    let loaded = Arc::new(Loaded {
        digest,
        bytes,
        names: Arc::new(names),
        world: World::of(facts.world_version),
        imports: facts.imports,
        // It was read before it became a fact.
        command_tools: facts
            .command_tools
            .and_then(|json| serde_json::from_str(&json).ok()),
        about: facts.about,
        wants: facts.wants,
        tools: tools
            .into_iter()
            .map(|tool| LoadedTool::new(tool, &checks))
            .collect(),
        rejected,
        component,
    });
    engine.compiler().loads.remember(key, loaded.clone());
    loaded
}

/// The result of loading a component that was not in the cache.
struct Made {
    component: Linked,
    code: Bytes,
    facts: Facts,
}

/// Boxed, so that the callers' crates don't compile it again.
fn make<'a>(engine: &'a Engine, source: &'a PluginBytes) -> BoxFuture<'a, Result<Made, LoadError>> {
    Box::pin(async move {
        let misfit = |reason| LoadError::World {
            plugin: source.name.to_string(),
            reason,
        };
        check_beginning(source)?;
        let outline = elsewhere({
            let (engine, source) = (engine.clone(), source.clone());
            move || engine.compiler().read(&source)
        });
        let built_for = fit::check(outline.await?).map_err(misfit)?;
        let (component, code) = engine.compiler().compile(engine.wasmtime(), source).await?;
        let component = Linked::now(engine, component)
            .map_err(|error| misfit(fit::explain_link_error(&error)))?;
        let asking = match &built_for.command_tools {
            Some((tools, _)) => command_tools(engine, tools, source),
            None => ask_for_tools(engine, &component, source),
        };
        let (tools, rejected) = asking.await?;
        if tools.is_empty() {
            let plugin = source.name.to_string();
            return Err(LoadError::NoTools { plugin, rejected });
        }
        let facts = Facts {
            world_version: built_for.world.version().map(str::to_owned),
            imports: built_for.imports,
            command_tools: built_for.command_tools.map(|(_, json)| json),
            about: built_for.about,
            wants: built_for.wants,
            tools,
            rejected,
        };
        Ok(Made {
            component,
            code,
            facts,
        })
    })
}

fn check_size(engine: &Engine, name: &str, size: u64) -> Result<(), LoadError> {
    let limit = engine.plugin_bytes();
    if size > limit as u64 {
        Err(LoadError::TooLarge {
            plugin: name.to_owned(),
            size,
            limit,
        })
    } else {
        Ok(())
    }
}

fn check_beginning(source: &PluginBytes) -> Result<(), LoadError> {
    let reason = match source.bytes.as_ref() {
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => {
            "it is a core module; `wasm-tools component new` makes a component of one"
        }
        [0, b'a', b's', b'm', ..] => return Ok(()),
        _ => "the bytes don't begin as WebAssembly does",
    };
    Err(LoadError::NotAComponent {
        plugin: source.name.to_string(),
        reason: reason.to_owned(),
    })
}

/// A component's tools, and those that were left out.
type ToolsFound = (Vec<ToolDefinition>, Vec<RejectedTool>);

pub(super) fn ask_for_tools<'a>(
    engine: &'a Engine,
    component: &'a Linked,
    source: &'a PluginBytes,
) -> BoxFuture<'a, Result<ToolsFound, LoadError>> {
    Box::pin(async move {
        let limits = engine.shared_limits();
        let tenant = Tenant::new();
        let context = InstanceContext {
            plugin: source.clone(),
            names: None,
            policy: Policy::default().with_workspace(WorkspaceGrant::None),
            bounds: None,
            limits: Arc::clone(limits),
            roots: Arc::new(Roots {
                workspace: None,
                scratch: ScratchFolder::inside(
                    engine.scratch_roots(),
                    engine.scratch_parent().to_owned(),
                ),
                spill: engine.scratch_parent().to_owned(),
                descriptors: tenant.descriptors(engine.descriptors()),
            }),
            volatile: VolatileActions::default(),
            session: None,
            conditions: None,
            command: None,
        };
        let answer = async {
            let memory = tenant.memory(engine.live().memory());
            let room = engine
                .live()
                .room_within(limits.call_time, &source.name, &memory)
                .await?;
            let instance =
                Instance::new(engine.runtime(), component.get(engine)?, context, room).await?;
            instance.definitions(limits).await
        };
        match answer.await {
            Ok(definitions) => checked(engine, definitions, source).await,
            Err(error) => Err(LoadError::Definitions {
                plugin: source.name.to_string(),
                source: Arc::new(error),
            }),
        }
    })
}

/// Returns the tools of a program that has its own.
pub(super) fn command_tools<'a>(
    engine: &'a Engine,
    tools: &'a CommandTools,
    source: &'a PluginBytes,
) -> BoxFuture<'a, Result<ToolsFound, LoadError>> {
    let definitions = tools.tools().iter().map(Definition::of_command);
    Box::pin(checked(engine, definitions.collect(), source))
}

/// Compiling schemas can take a while.
async fn checked(
    engine: &Engine,
    definitions: Vec<Definition>,
    source: &PluginBytes,
) -> Result<ToolsFound, LoadError> {
    let most = engine.shared_limits().definition_bytes;
    let checked = tokio::task::spawn_blocking(move || definition::check_all(definitions, most));
    checked.await.map_err(|panicked| LoadError::Definitions {
        plugin: source.name.to_string(),
        source: Arc::new(HostError::Definitions(panicked).into()),
    })
}
