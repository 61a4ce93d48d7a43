//! A component that implements the world, compiled and checked.

mod cache;
mod compile;
mod definition;
mod linked;
mod load;
mod reserved;
mod schema;
mod world;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::engine::Engine;
use crate::error::Error;
use crate::instance::State;
use crate::instance::bindings::CustomToolPre;
use crate::limits::LimitKind;
use crate::store::PluginBytes;

pub use cache::CompileCache;
pub(crate) use compile::Compiler;
#[cfg(unix)]
pub use compile::compiler_main;
pub use compile::{CompileLimits, Complexity};
pub(crate) use definition::{RESOLVE, resolve_definition};
pub use definition::{RejectedTool, ToolDefinition, ToolTraits};
use linked::Linked;
pub(crate) use reserved::ReservedNames;
pub(crate) use schema::{Checks, ParamsSchema};
pub use schema::{Misfit, Schema};
pub use world::WORLD_VERSION;

/// A loaded plugin. Cheap to clone; clones share the compiled code.
///
/// Loading compiles the component, or takes it from the [`CompileCache`], checks it against the world and asks it for its
/// tools. Nothing of the guest's has run when loading returns, but for that one question.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<PluginInner>,
}

pub(crate) struct PluginInner {
    source: PluginBytes,
    world_version: String,
    imports: Vec<String>,
    tools: Vec<LoadedTool>,
    rejected: Vec<RejectedTool>,
    engine: Engine,
    component: Linked,
}

/// What loading finds out about a component, and the compile cache keeps.
#[derive(Serialize, Deserialize)]
struct Facts {
    world_version: String,
    imports: Vec<String>,
    tools: Vec<ToolDefinition>,
    rejected: Vec<RejectedTool>,
}

pub(crate) struct LoadedTool {
    pub definition: ToolDefinition,
    pub params: ParamsSchema,
}

impl Plugin {
    /// Loads a component from a file. The plugin is named after the file, without its ending.
    ///
    /// # Errors
    /// [`LoadError`], which names the file and what is wrong with it. Where only some of its tools are bad, the others
    /// load, and [`Plugin::rejected`] has the bad ones.
    pub async fn load(engine: &Engine, path: impl AsRef<Path>) -> Result<Self, LoadError> {
        load::from_file(engine, path.as_ref()).await?.with_tools()
    }

    /// Loads a component from its bytes, under a name of the caller's choice.
    ///
    /// # Errors
    /// As [`Plugin::load`].
    pub async fn from_bytes(
        engine: &Engine,
        name: impl Into<Arc<str>>,
        bytes: impl AsRef<[u8]> + Send + 'static,
    ) -> Result<Self, LoadError> {
        let bytes = Bytes::from_owner(bytes);
        load::from_bytes(engine, name.into(), bytes)
            .await?
            .with_tools()
    }

    /// As the store kept it, to resolve what it pushed: its tools may all have names that are another's by now.
    pub(crate) async fn from_store(engine: &Engine, kept: PluginBytes) -> Result<Self, LoadError> {
        load::from_bytes(engine, kept.name, kept.bytes).await
    }

    /// # Errors
    /// [`LoadError::NoTools`] where the names of all of them are reserved.
    fn with_tools(self) -> Result<Self, LoadError> {
        match self.inner.tools.is_empty() {
            false => Ok(self),
            true => Err(LoadError::NoTools {
                plugin: self.name().to_owned(),
                rejected: self.rejected().to_vec(),
            }),
        }
    }

    /// What the plugin is called in messages.
    pub fn name(&self) -> &str {
        &self.inner.source.name
    }

    /// The SHA-256 of the component's bytes: what the plugin is known by.
    pub fn digest(&self) -> Digest {
        self.inner.source.digest
    }

    /// The component's size in bytes.
    pub fn size(&self) -> usize {
        self.inner.source.bytes.len()
    }

    /// The version of the package `airlock:tool` that the component was built for.
    pub fn world_version(&self) -> &str {
        &self.inner.world_version
    }

    /// The interfaces that the component imports, sorted: what it asks for.
    pub fn imports(&self) -> &[String] {
        &self.inner.imports
    }

    /// The plugin's tools, hidden ones among them, in the order in which it lists them.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolDefinition> {
        self.inner.tools.iter().map(|tool| &tool.definition)
    }

    /// The tools that the plugin defines and the host left out, with the reason.
    pub fn rejected(&self) -> &[RejectedTool] {
        &self.inner.rejected
    }

    /// The plugin as it was loaded: its digest, name and bytes. They stay in memory, for a store to keep beside what the plugin pushes.
    pub fn source(&self) -> &PluginBytes {
        &self.inner.source
    }

    /// Asks a new instance of the plugin for its tools, as loading did when it was not answered from the compile cache. The answer should
    /// be the same, and nothing is done where it is not.
    ///
    /// # Errors
    /// [`LoadError::Definitions`] where the guest can't be asked.
    pub async fn ask_again(&self) -> Result<(Vec<ToolDefinition>, Vec<RejectedTool>), LoadError> {
        let inner = &self.inner;
        let (tools, mut rejected) =
            load::ask_for_tools(&inner.engine, &inner.component, &inner.source).await?;
        let reserved = inner.engine.reserved_names();
        let tools = reserved.leave_out(self.digest(), tools, &mut rejected);
        Ok((tools, rejected))
    }

    pub(crate) fn loaded_tools(&self) -> &[LoadedTool] {
        &self.inner.tools
    }

    /// The engine that the plugin was loaded with.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// The component, ready to be instantiated.
    ///
    /// # Errors
    /// [`Error::Host`] where it came from the cache and this host, other than the one that put it there, can't link it.
    pub(crate) fn component(&self) -> Result<&CustomToolPre<State>, Error> {
        self.inner.component.get(&self.inner.engine)
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("source", &self.inner.source)
            .finish_non_exhaustive()
    }
}

/// Why a plugin could not be loaded. Each displays as one sentence that begins with the plugin.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file can't be read.
    #[error("can't read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The component is larger than [`EngineBuilder::plugin_bytes`](crate::EngineBuilder::plugin_bytes).
    #[error("{plugin} has {size} bytes, {limit} is the most")]
    TooLarge {
        /// The plugin's name.
        plugin: String,
        /// Its size in bytes.
        size: u64,
        /// The largest size that is allowed.
        limit: usize,
    },
    /// The bytes are not a component: other data, a core module, or damaged.
    #[error("{plugin} is not a WebAssembly component: {reason}")]
    NotAComponent {
        /// The plugin's name.
        plugin: String,
        /// What they are instead, or where they are damaged.
        reason: String,
    },
    /// The component is more complex than [`CompileLimits`] allow. Nothing of it was compiled.
    #[error("{plugin} is too complex to be compiled: {reason}")]
    TooComplex {
        /// The plugin's name.
        plugin: String,
        /// What has too much of what, and the limit.
        reason: String,
    },
    /// Compiling took longer than [`CompileLimits::time`].
    #[error("{plugin} was not compiled within {} s, the most that it may take", .limit.as_secs_f64())]
    CompileTime {
        /// The plugin's name.
        plugin: String,
        /// The most that it may take.
        limit: Duration,
    },
    /// Compiling needed more than [`CompileLimits::memory`].
    #[error("{plugin} can't be compiled in {limit} bytes of memory, the most that it may take")]
    CompileMemory {
        /// The plugin's name.
        plugin: String,
        /// The most that it may take, in bytes.
        limit: u64,
    },
    /// The process that compiles, or the thread, could not be started.
    #[error("{plugin} could not be compiled: can't start {compiler}: {source}")]
    NoCompiler {
        /// The plugin's name.
        plugin: String,
        /// The program that [`EngineBuilder::compiler`](crate::EngineBuilder::compiler) names.
        compiler: String,
        /// What the system said.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The process that compiles ended without an answer.
    #[error("{plugin} could not be compiled: the compiler failed: {reason}")]
    CompilerFailed {
        /// The plugin's name.
        plugin: String,
        /// How it ended, as far as that is known.
        reason: String,
    },
    /// As many threads compile as may, and none ended within [`CompileLimits::time`]. Doesn't happen where a process compiles.
    #[error(
        "{plugin} could not be compiled: {at_once} others are being compiled, the most at one time, and none came to an end"
    )]
    CompilerBusy {
        /// The plugin's name.
        plugin: String,
        /// How many are compiled at one time.
        at_once: usize,
    },
    /// The component doesn't implement the world, or was built for another version of it.
    #[error("{plugin} doesn't fit the world `airlock:tool/custom-tool@{WORLD_VERSION}`: {reason}")]
    World {
        /// The plugin's name.
        plugin: String,
        /// The item that doesn't fit, with the version on either side.
        reason: String,
    },
    /// It could not be asked for its tools.
    #[error("{plugin} could not be asked for its tools: {source}")]
    Definitions {
        /// The plugin's name.
        plugin: String,
        /// How the call ended.
        #[source]
        source: Arc<Error>,
    },
    /// It has no tool that can be used.
    #[error("{plugin} has no tool that can be used{}", Reasons(.rejected))]
    NoTools {
        /// The plugin's name.
        plugin: String,
        /// The tools that it defines.
        rejected: Vec<RejectedTool>,
    },
}

impl LoadError {
    /// A short name for programs, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            LoadError::Read { .. } => "plugin-unreadable",
            LoadError::TooLarge { .. } => "plugin-too-large",
            LoadError::NotAComponent { .. } => "not-a-component",
            LoadError::TooComplex { .. } => "too-complex",
            LoadError::CompileTime { .. } => "compile-time",
            LoadError::CompileMemory { .. } => "compile-memory",
            LoadError::NoCompiler { .. } => "no-compiler",
            LoadError::CompilerFailed { .. } => "compiler-failed",
            LoadError::CompilerBusy { .. } => "compiler-busy",
            LoadError::World { .. } => "world-mismatch",
            LoadError::Definitions { .. } => "no-definitions",
            LoadError::NoTools { .. } => "no-tools",
        }
    }

    /// Whether it would fail the same way once more, by this engine and about now, for all that is known: so that it need not be tried. Not so
    /// where the machine, or what else runs on it, had a part in it.
    fn is_the_components(&self) -> bool {
        match self {
            LoadError::NotAComponent { .. }
            | LoadError::TooComplex { .. }
            | LoadError::CompileTime { .. }
            | LoadError::CompileMemory { .. }
            | LoadError::World { .. }
            | LoadError::NoTools { .. } => true,
            LoadError::Definitions { source, .. } => match &**source {
                Error::Trap { .. } => true,
                Error::Limit { kind, .. } => {
                    !matches!(kind, LimitKind::CallTime | LimitKind::LiveInstances)
                }
                _ => false,
            },
            LoadError::CompilerFailed { .. }
            | LoadError::Read { .. }
            | LoadError::TooLarge { .. }
            | LoadError::NoCompiler { .. }
            | LoadError::CompilerBusy { .. } => false,
        }
    }

    /// The same about a plugin with the same bytes and this name.
    fn of_plugin(mut self, name: &str) -> Self {
        match &mut self {
            LoadError::Read { .. } => {}
            LoadError::TooLarge { plugin, .. }
            | LoadError::NotAComponent { plugin, .. }
            | LoadError::TooComplex { plugin, .. }
            | LoadError::CompileTime { plugin, .. }
            | LoadError::CompileMemory { plugin, .. }
            | LoadError::NoCompiler { plugin, .. }
            | LoadError::CompilerFailed { plugin, .. }
            | LoadError::CompilerBusy { plugin, .. }
            | LoadError::World { plugin, .. }
            | LoadError::Definitions { plugin, .. }
            | LoadError::NoTools { plugin, .. } => name.clone_into(plugin),
        }
        self
    }
}

struct Reasons<'a>(&'a [RejectedTool]);

impl fmt::Display for Reasons<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, tool) in self.0.iter().take(3).enumerate() {
            let separator = if index == 0 { ": " } else { "; " };
            write!(f, "{separator}{tool}")?;
        }
        match self.0.len().saturating_sub(3) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
