//! The world that components are built for, in each of its versions.
//!
//! What crosses the border is plain values here: what a guest asks of its host is [`Host`], and
//! what it exports is [`Guest`]. Each version is a file that translates, and alone knows its
//! bindings. Which version a component was built for, `plugin/fit.rs` tells before anything of it
//! is compiled.

mod v0_1;

use std::future::Future;

use airlock_model::content::Content;
use airlock_model::error::Error;
use airlock_model::event::LogLevel;
use airlock_model::pending::ActionId;
use airlock_model::tool::ToolTraits;
use wasmtime::component::{InstancePre, Linker};
use wasmtime::{AsContextMut, Store};

use crate::pushing::{PushError, PushRequest};

/// The newest version of the package `airlock:tool` that this host implements.
pub const WORLD_VERSION: &str = "0.1.0";

/// The versions that this host takes components of, without their patches: before 1.0 a minor
/// version may change anything, and a patch nothing.
pub(crate) const TAKEN: &[&str] = &["0.1"];

/// Whether this host takes components that were built for this version.
pub(crate) fn takes(version: &str) -> bool {
    let Some((minor, patch)) = version.rsplit_once('.') else {
        return false;
    };
    TAKEN.contains(&minor) && patch.parse::<u32>().is_ok()
}

/// The host functions of the world, beside WASI.
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

    /// Whether the call was cancelled.
    fn is_cancelled(&mut self) -> bool;

    /// The conversation; none while a plugin is being loaded.
    fn session(&mut self) -> Option<SessionInfo>;
}

/// The conversation, as a guest is told of it.
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
    /// None for a volatile action.
    pub state: Option<&'a [u8]>,
    pub reason: &'a str,
    /// A JSON object.
    pub extra: Option<&'a str>,
    pub attempt: u32,
}

/// The result of a guest's function, unchecked.
pub(crate) struct Returned {
    pub content: Vec<Content>,
    /// Meant to be JSON.
    pub details: Option<String>,
}

/// Why a guest's function returned nothing: [`Error::Tool`], [`Error::Failed`] or
/// [`Error::Cancelled`].
type Complaint = Error;

/// Offers what components of any known version import.
pub(crate) fn add_to_linker<T: Host + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    v0_1::add_to_linker(linker)
}

/// A linked component, of which instances can be made.
pub(crate) enum GuestPre<T: 'static> {
    /// Built for `airlock:tool@0.1`.
    V0_1(v0_1::CustomToolPre<T>),
}

impl<T: Send + 'static> GuestPre<T> {
    /// # Errors
    /// Where the types of what it exports are not the world's.
    pub fn new(linked: InstancePre<T>) -> wasmtime::Result<Self> {
        v0_1::CustomToolPre::new(linked).map(GuestPre::V0_1)
    }

    /// Makes an instance. Nothing of the guest's runs but a `start` function.
    pub async fn instantiate(&self, store: impl AsContextMut<Data = T>) -> wasmtime::Result<Guest> {
        match self {
            GuestPre::V0_1(linked) => linked.instantiate_async(store).await.map(Guest::V0_1),
        }
    }
}

/// What a live instance exports.
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
