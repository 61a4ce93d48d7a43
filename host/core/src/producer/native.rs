//! A producer that is part of the host.
//!
//! It gets less than its code could take: to preview, a [`ReadableFolder`], which has no way to change a file, and it returns what it wants
//! pushed instead of pushing; to apply, a [`WritableFolder`], where the policy grants that.

mod running;
mod slot;

use std::fmt;
use std::sync::Arc;

use airlock_model::content::ToolResult;
use airlock_model::digest::Digest;
use airlock_model::error::Error;
use airlock_model::store::PluginBytes;
use airlock_model::tool::ToolDefinition;
use serde_json::Value;

use super::NativeIdentity;
use crate::plugin::{Checks, LoadedTool};
use crate::pushing::Pushed;
use crate::workspace::{ReadableFolder, WritableFolder};

pub(crate) use running::{Running, Stop};
pub(crate) use slot::STACK_BYTES;
pub(super) use slot::Slot;

/// What a native producer does. Its functions block, and run on threads that may be blocked.
pub(super) trait Native: Send + Sync + 'static {
    /// Finds out what would happen.
    ///
    /// # Errors
    /// [`Error::InvalidParams`] for what a schema can't say, [`Error::Tool`] for what is to be told to the caller.
    fn preview(
        &self,
        params: &Value,
        folder: &ReadableFolder,
        running: &Running,
    ) -> Result<Preview, Error>;

    /// Lets it happen. Before the first change that others see, [`Running::begin_changes`] is to be asked.
    ///
    /// # Errors
    /// [`Error::Tool`] for what is to be told to the caller.
    fn apply(
        &self,
        decided: &Decided,
        folder: &WritableFolder,
        running: &Running,
    ) -> Result<ToolResult, Error>;
}

/// A decision to apply, as a producer is told of it.
pub(super) struct Decided {
    /// What the producer had kept with the action.
    pub state: Vec<u8>,
    pub reason: String,
    /// 1 for the first try.
    pub attempt: u32,
}

/// What a preview found out.
pub(super) struct Preview {
    pub result: ToolResult,
    /// What is to be decided, if anything.
    pub action: Option<Pushed>,
}

/// A producer that is part of the host, and stages actions as plugins do: see [`SessionBuilder::producer`](crate::SessionBuilder::producer).
/// Cheap to clone.
///
/// Its tools obey the rules of plugins' tools: params are checked against their schemas, names are unique in a session, calls end with their
/// time or when cancelled, actions count toward the limits and go to the same store. It runs outside of any sandbox, but a preview has no way
/// to change the workspace, and an apply is granted what the policy grants.
#[derive(Clone)]
pub struct NativeProducer {
    inner: Arc<Inner>,
}

struct Inner {
    identity: NativeIdentity,
    source: PluginBytes,
    tools: Vec<LoadedTool>,
    native: Box<dyn Native>,
}

impl NativeProducer {
    pub(super) fn new(state_version: u32, definition: ToolDefinition, native: impl Native) -> Self {
        let identity = NativeIdentity::new(&definition.name, state_version);
        Self {
            inner: Arc::new(Inner {
                source: identity.source(),
                identity,
                tools: vec![LoadedTool::new(definition, &Checks::new())],
                native: Box::new(native),
            }),
        }
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.inner.identity.name
    }

    /// What it is known by in a store: the SHA-256 of a text with its name and [`state_version`](NativeProducer::state_version).
    pub fn digest(&self) -> Digest {
        self.inner.source.digest
    }

    /// The version of the format of its actions' state. Another version can't apply them.
    pub fn state_version(&self) -> u32 {
        self.inner.identity.state_version
    }

    /// Its tools.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolDefinition> {
        self.inner.tools.iter().map(|tool| &tool.definition)
    }

    pub(super) fn identity(&self) -> &NativeIdentity {
        &self.inner.identity
    }

    pub(super) fn loaded_tools(&self) -> &[LoadedTool] {
        &self.inner.tools
    }
}

impl fmt::Debug for NativeProducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeProducer")
            .field("name", &self.name())
            .field("state_version", &self.state_version())
            .finish_non_exhaustive()
    }
}
