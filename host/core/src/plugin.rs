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
use airlock_model::policy::Policy;
use airlock_model::store::PluginBytes;
use airlock_model::tool::command::{CommandTool, CommandTools};
use airlock_model::tool::{RejectedTool, ToolDefinition};
use airlock_model::wants::{About, Wants};
use bytes::Bytes;

use crate::engine::Engine;
use crate::instance::State;
use crate::load_error::LoadError;
use crate::reserved::{ToolNames, leave_out_reserved};
use crate::world::{GuestPre, World};

pub(crate) use definition::checked_native;
use linked::Linked;
pub(crate) use schema::{Checks, ParamsSchema};
pub use schema::{Misfit, Schema};

/// A loaded plugin. Cloning is cheap; clones share the compiled code.
///
/// Loading compiles the component, or takes it from the
/// [`CompileCache`](crate::compile::CompileCache), checks it against the world and asks it for its
/// tools. That question is the only guest code that runs during loading. If the same bytes were
/// loaded shortly before, or are still in use, loading only hashes them.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<PluginInner>,
}

pub(crate) struct PluginInner {
    /// Shared by all plugins that were loaded from the same bytes.
    source: PluginBytes,
    engine: Engine,
    loaded: Arc<Loaded>,
}

/// The result of loading a component, independent of the plugin's name. It holds no [`Engine`],
/// because the engine caches it.
pub(crate) struct Loaded {
    digest: Digest,
    bytes: Bytes,
    world: World,
    imports: Vec<String>,
    /// The tools of a program that has its own.
    command_tools: Option<CommandTools>,
    about: About,
    /// `None` if the component has no section with its wants.
    wants: Option<Wants>,
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
    /// Loads a component from a file. The plugin is named after the file, without its extension.
    ///
    /// # Errors
    /// [`LoadError`], which names the file and the problem. If only some of the tools are invalid,
    /// the others load, and [`Plugin::rejected`] lists the invalid ones.
    pub async fn load(engine: &Engine, path: impl AsRef<Path>) -> Result<Self, LoadError> {
        load::from_file(engine, path.as_ref()).await?.with_tools()
    }

    /// Loads a component from its bytes, under a name of the caller's choice.
    ///
    /// # Errors
    /// See [`Plugin::load`].
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

    /// Loads a plugin from the bytes in a store, to resolve the actions that it pushed. Every tool
    /// name may have become reserved since then.
    pub(crate) async fn from_store(engine: &Engine, kept: PluginBytes) -> Result<Self, LoadError> {
        load::from_bytes(engine, kept.name, kept.bytes).await
    }

    /// # Errors
    /// [`LoadError::NoTools`] if the names of all tools are reserved.
    fn with_tools(self) -> Result<Self, LoadError> {
        if self.inner.loaded.tools.is_empty() {
            Err(LoadError::NoTools {
                plugin: self.name().to_owned(),
                rejected: self.rejected().to_vec(),
            })
        } else {
            Ok(self)
        }
    }

    /// Returns the plugin's name, as messages show it.
    pub fn name(&self) -> &str {
        &self.inner.source.name
    }

    /// Returns the SHA-256 of the component's bytes, which identifies the plugin.
    pub fn digest(&self) -> Digest {
        self.inner.source.digest
    }

    /// Returns the component's size in bytes.
    pub fn size(&self) -> usize {
        self.inner.source.bytes.len()
    }

    /// Returns the world that the component was built for.
    pub fn world(&self) -> &World {
        &self.inner.loaded.world
    }

    /// Returns the component's own metadata.
    pub fn about(&self) -> &About {
        &self.inner.loaded.about
    }

    /// Returns the authority that the component wants; `None` if it doesn't say. Then only grants
    /// limit it.
    pub fn wants(&self) -> Option<&Wants> {
        self.inner.loaded.wants.as_ref()
    }

    /// Returns the plugin's policy if the operator grants this one: everything that is both granted
    /// and wanted.
    pub fn effective_policy(&self, granted: Policy) -> Policy {
        match self.wants() {
            Some(wants) => granted.limited_to(wants),
            None => granted,
        }
    }

    /// Returns the interfaces that the component imports, sorted.
    pub fn imports(&self) -> &[String] {
        &self.inner.loaded.imports
    }

    /// Returns the plugin's tools, including hidden ones, in the plugin's own order.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolDefinition> {
        self.inner.loaded.tools.iter().map(|tool| &tool.definition)
    }

    /// Returns the tools that the plugin defines and the host left out, each with the reason.
    pub fn rejected(&self) -> &[RejectedTool] {
        &self.inner.loaded.rejected
    }

    /// Returns the digest, name and bytes of the plugin as it was loaded. The bytes stay in memory,
    /// so that a store can keep them next to the plugin's actions.
    pub fn source(&self) -> &PluginBytes {
        &self.inner.source
    }

    /// Asks a new instance of the plugin for its tools, as a load does on a miss in the compile
    /// cache. The answer should be the same; this function does nothing if it is not.
    ///
    /// # Errors
    /// [`LoadError::Definitions`] if the guest can't be asked.
    pub async fn ask_again(&self) -> Result<(Vec<ToolDefinition>, Vec<RejectedTool>), LoadError> {
        let (engine, loaded) = (&self.inner.engine, &self.inner.loaded);
        let source = self.source();
        let asking = match &loaded.command_tools {
            Some(tools) => load::command_tools(engine, tools, source),
            None => load::ask_for_tools(engine, &loaded.component, source),
        };
        let (tools, mut rejected) = asking.await?;
        let tools = leave_out_reserved(tools, &mut rejected);
        Ok((tools, rejected))
    }

    pub(crate) fn loaded_tools(&self) -> &[LoadedTool] {
        &self.inner.loaded.tools
    }

    /// Returns a tool of a program that has its own.
    pub(crate) fn command_tool(&self, name: &str) -> Option<&CommandTool> {
        let tools = self.inner.loaded.command_tools.as_ref()?;
        tools.tools().iter().find(|tool| tool.name == name)
    }

    pub(crate) fn tool_names(&self) -> &Arc<ToolNames> {
        &self.inner.loaded.names
    }

    /// Returns the engine that the plugin was loaded with.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Returns the component, ready to be instantiated.
    ///
    /// # Errors
    /// [`Error::Host`] if another host put the component in the cache and this one can't link it.
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
