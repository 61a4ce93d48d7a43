//! The world that components are built for, in each of its versions.
//!
//! Plain values cross the boundary: [`Host`] has the functions that a guest imports, and [`Guest`]
//! has its exports. Each version is a file that translates, and only it knows its bindings.
//! `plugin/fit.rs` determines the version of a component before compiling it.

mod v0_1;

use std::future::Future;

use airlock_model::content::Content;
use airlock_model::error::Error;
use airlock_model::event::LogLevel;
use airlock_model::pending::{ActionId, PendingAction};
use airlock_model::tool::ToolTraits;
use wasmtime::component::{InstancePre, Linker};
use wasmtime::{AsContextMut, Store};

use crate::pushing::{PushError, PushRequest};

/// The newest version of the package `airlock:tool` that this host implements.
pub const WORLD_VERSION: &str = "0.1.0";

/// The supported versions of components, without patch numbers. Before 1.0, a minor version may
/// change anything, and a patch nothing.
pub(crate) const TAKEN: &[&str] = &["0.1"];

/// Returns whether this host accepts components that were built for this version.
pub(crate) fn takes(version: &str) -> bool {
    let Some((minor, patch)) = version.rsplit_once('.') else {
        return false;
    };
    TAKEN.contains(&minor) && patch.parse::<u32>().is_ok()
}

/// The host functions of the world, except for WASI.
pub(crate) trait Host: Send {
    /// Puts an action on top of the session's stack.
    fn push(
        &mut self,
        action: PushRequest,
    ) -> impl Future<Output = Result<ActionId, PushError>> + Send;

    /// Writes a line to the log.
    fn log(&mut self, level: LogLevel, message: String);

    /// Reports the call's progress.
    fn report_progress(&mut self, message: String, progress: Option<f64>, total: Option<f64>);

    /// Returns whether the call was cancelled.
    fn is_cancelled(&mut self) -> bool;

    /// Returns the conversation; `None` while a plugin is being loaded.
    fn session(&mut self) -> Option<SessionInfo>;
}

/// The conversation, as a guest sees it.
pub(crate) struct SessionInfo {
    pub id: String,
    /// The workspace's path for the guest.
    pub workspace: Option<String>,
    pub has_pending_store: bool,
}

/// A guest's definition of one of its tools, unchecked.
pub(crate) struct Definition {
    pub name: String,
    pub label: String,
    pub description: String,
    pub parameters: String,
    pub output: Option<String>,
    pub traits: ToolTraits,
}

/// A decision about one action, for the guest that pushed it.
pub(crate) struct DecidedAction<'a> {
    pub action_id: &'a str,
    pub label: &'a str,
    pub source_tool_name: &'a str,
    /// `None` for a volatile action.
    pub state: Option<&'a [u8]>,
    pub reason: &'a str,
    /// A JSON object.
    pub extra: Option<&'a str>,
    pub attempt: u32,
}

impl<'a> DecidedAction<'a> {
    /// Returns the action without its state, and a decision without extra values.
    pub fn of(action: &'a PendingAction, reason: &'a str, attempt: u32) -> Self {
        Self {
            action_id: action.id.as_str(),
            label: &action.label,
            source_tool_name: &action.source_tool_name,
            state: None,
            reason,
            extra: None,
            attempt,
        }
    }
}

/// The result of a guest's function, unchecked.
pub(crate) struct Returned {
    pub content: Vec<Content>,
    /// Should be JSON.
    pub details: Option<String>,
}

/// The error of a guest's function: [`Error::Tool`], [`Error::Failed`] or [`Error::Cancelled`].
type Complaint = Error;

/// Adds the imports of components of any supported version.
pub(crate) fn add_to_linker<T: Host + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    v0_1::add_to_linker(linker)
}

/// A linked component, ready to be instantiated.
pub(crate) enum GuestPre<T: 'static> {
    /// Built for `airlock:tool@0.1`.
    V0_1(v0_1::CustomToolPre<T>),
}

impl<T: Send + 'static> GuestPre<T> {
    /// # Errors
    /// If the types of its exports don't match the world.
    pub fn new(linked: InstancePre<T>) -> wasmtime::Result<Self> {
        v0_1::CustomToolPre::new(linked).map(GuestPre::V0_1)
    }

    /// Makes an instance. No guest code runs except a `start` function.
    pub async fn instantiate(&self, store: impl AsContextMut<Data = T>) -> wasmtime::Result<Guest> {
        match self {
            GuestPre::V0_1(linked) => linked.instantiate_async(store).await.map(Guest::V0_1),
        }
    }
}

/// The exports of a live instance.
pub(crate) enum Guest {
    /// Built for `airlock:tool@0.1`.
    V0_1(v0_1::CustomTool),
}

impl Guest {
    pub async fn definitions<T: Send>(
        &self,
        store: &mut Store<T>,
    ) -> wasmtime::Result<Vec<Definition>> {
        match self {
            Guest::V0_1(guest) => v0_1::definitions(guest, store).await,
        }
    }

    pub async fn execute<T: Send>(
        &self,
        store: &mut Store<T>,
        call_id: &str,
        tool: &str,
        params: &str,
    ) -> wasmtime::Result<Result<Returned, Complaint>> {
        match self {
            Guest::V0_1(guest) => v0_1::execute(guest, store, call_id, tool, params).await,
        }
    }

    pub async fn apply<T: Send>(
        &self,
        store: &mut Store<T>,
        decided: &DecidedAction<'_>,
    ) -> wasmtime::Result<Result<Returned, Complaint>> {
        match self {
            Guest::V0_1(guest) => v0_1::apply(guest, store, decided).await,
        }
    }

    pub async fn reject<T: Send>(
        &self,
        store: &mut Store<T>,
        decided: &DecidedAction<'_>,
    ) -> wasmtime::Result<Result<Option<Returned>, Complaint>> {
        match self {
            Guest::V0_1(guest) => v0_1::reject(guest, store, decided).await,
        }
    }
}
