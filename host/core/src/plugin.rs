//! A component that implements the world, compiled and checked.

mod definition;
mod fit;
mod linked;
mod load;
mod schema;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use airlock_model::digest::Digest;
use airlock_model::error::Error;
use airlock_model::store::PluginBytes;
use airlock_model::tool::{RejectedTool, ToolDefinition};
use bytes::Bytes;

use crate::engine::Engine;
use crate::instance::State;
use crate::load_error::LoadError;
use crate::reserved::{ToolNames, leave_out_reserved};
use crate::world::GuestPre;

pub(crate) use definition::checked_native;
use linked::Linked;
pub(crate) use schema::{Checks, ParamsSchema};
pub use schema::{Misfit, Schema};

/// A loaded plugin. Cheap to clone; clones share the compiled code.
///
/// Loading compiles the component, or takes it from the
/// [`CompileCache`](crate::compile::CompileCache), checks it against the world and asks it for its
/// tools. Nothing of the guest's has run when loading returns, but for that one question. Where the
/// engine has loaded the same bytes shortly before, or somebody has them still, they are hashed and
/// no more.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<PluginInner>,
}

pub(crate) struct PluginInner {
    /// All that were loaded from the same bytes share them.
    source: PluginBytes,
    engine: Engine,
    loaded: Arc<Loaded>,
}

/// What loading has found out about a component, whatever the plugin is called. It holds no
/// [`Engine`], which remembers it.
pub(crate) struct Loaded {
    digest: Digest,
    bytes: Bytes,
    world_version: String,
    imports: Vec<String>,
    tools: Vec<LoadedTool>,
    rejected: Vec<RejectedTool>,
    names: Arc<ToolNames>,
    component: Linked,
}

pub(crate) struct LoadedTool {
    pub definition: ToolDefinition,
    pub params: ParamsSchema,
}

impl Plugin {
    /// Loads a component from a file. The plugin is named after the file, without its ending.
    ///
    /// # Errors
    /// [`LoadError`], which names the file and what is wrong with it. Where only some of its tools
    /// are bad, the others load, and [`Plugin::rejected`] has the bad ones.
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

    /// As the store kept it, to resolve what it pushed: its tools may all have names that are
    /// another's by now.
    pub(crate) async fn from_store(engine: &Engine, kept: PluginBytes) -> Result<Self, LoadError> {
        load::from_bytes(engine, kept.name, kept.bytes).await
    }

    /// # Errors
    /// [`LoadError::NoTools`] where the names of all of them are reserved.
    fn with_tools(self) -> Result<Self, LoadError> {
        match self.inner.loaded.tools.is_empty() {
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
        &self.inner.loaded.world_version
    }

    /// The interfaces that the component imports, sorted: what it asks for.
    pub fn imports(&self) -> &[String] {
        &self.inner.loaded.imports
    }

    /// The plugin's tools, hidden ones among them, in the order in which it lists them.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolDefinition> {
        self.inner.loaded.tools.iter().map(|tool| &tool.definition)
    }

    /// The tools that the plugin defines and the host left out, with the reason.
    pub fn rejected(&self) -> &[RejectedTool] {
        &self.inner.loaded.rejected
    }

    /// The plugin as it was loaded: its digest, name and bytes. They stay in memory, for a store to
    /// keep beside what the plugin pushes.
    pub fn source(&self) -> &PluginBytes {
        &self.inner.source
    }

    /// Asks a new instance of the plugin for its tools, as loading did when it was not answered
    /// from the compile cache. The answer should be the same, and nothing is done where it is not.
    ///
    /// # Errors
    /// [`LoadError::Definitions`] where the guest can't be asked.
    pub async fn ask_again(&self) -> Result<(Vec<ToolDefinition>, Vec<RejectedTool>), LoadError> {
        let inner = &self.inner;
        let (tools, mut rejected) =
            load::ask_for_tools(&inner.engine, &inner.loaded.component, &inner.source).await?;
        let tools = leave_out_reserved(tools, &mut rejected);
        Ok((tools, rejected))
    }

    pub(crate) fn loaded_tools(&self) -> &[LoadedTool] {
        &self.inner.loaded.tools
    }

    pub(crate) fn tool_names(&self) -> &Arc<ToolNames> {
        &self.inner.loaded.names
    }

    /// The engine that the plugin was loaded with.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// The component, ready to be instantiated.
    ///
    /// # Errors
    /// [`Error::Host`] where it came from the cache and this host, other than the one that put it
    /// there, can't link it.
    pub(crate) fn component(&self) -> Result<&GuestPre<State>, Error> {
        self.inner.loaded.component.get(&self.inner.engine)
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("source", &self.inner.source)
            .finish_non_exhaustive()
    }
}
