//! The world that components are built for, in each of its versions.
//!
//! Plain values cross the boundary: [`Host`] has the functions that a guest imports, and [`Guest`]
//! has its exports. Each version is a file that translates, and only it knows its bindings.
//! `plugin/fit.rs` determines the version of a component before compiling it.

mod command;
mod sections;
mod v0_1;

use std::fmt;
use std::future::Future;

use airlock_model::content::Content;
use airlock_model::error::Error;
use airlock_model::event::LogLevel;
use airlock_model::pending::{ActionId, PendingAction};
use airlock_model::tool::ToolTraits;
use wasmtime::component::{InstancePre, Linker};
use wasmtime::{AsContextMut, Store};
use wasmtime_wasi::p2::bindings::{Command, CommandPre};

use crate::pushing::{PushError, PushRequest};
pub use command::COMMAND_TOOL;
pub(crate) use command::{CommandLine, CommandOutput};
pub use sections::{with_command_tools, with_wants};

/// The newest version of the package `airlock:tool` that this host implements.
pub const WORLD_VERSION: &str = "0.1.0";

/// The supported versions of components, without patch numbers. Before 1.0, a minor version may
/// change anything, and a patch nothing.
pub(crate) const TAKEN: &[&str] = &["0.1"];

/// The world that a component was built for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum World {
    /// `airlock:tool/custom-tool`.
    CustomTool {
        /// The version of the package `airlock:tool`.
        version: String,
    },
    /// `wasi:cli/command@0.2`: a program that knows nothing of Airlock. Its one tool takes a
    /// command line, and is named [`COMMAND_TOOL`].
    Command,
}

impl World {
    /// Creates the world of tools from its version, or that of programs.
    pub(crate) fn of(version: Option<String>) -> Self {
        match version {
            Some(version) => World::CustomTool { version },
            None => World::Command,
        }
    }

    /// Returns the version of the package `airlock:tool`, if the component was built for it.
    pub fn version(&self) -> Option<&str> {
        match self {
            World::CustomTool { version } => Some(version),
            World::Command => None,
        }
    }
}

/// Formats the full name.
impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            World::CustomTool { version } => write!(f, "airlock:tool/custom-tool@{version}"),
            World::Command => f.write_str("wasi:cli/command@0.2"),
        }
    }
}

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

    /// Takes the output of a program.
    fn take_output(&mut self) -> CommandOutput;
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
    /// A program.
    Command(CommandPre<T>),
}

impl<T: Host + 'static> GuestPre<T> {
    /// # Errors
    /// If the types of its exports don't match the world.
    pub fn new(linked: InstancePre<T>) -> wasmtime::Result<Self> {
        let component = linked.component().component_type();
        let exports = component.exports(linked.engine());
        let is_command = is_command(exports.map(|(name, _)| name));
        if is_command {
            return CommandPre::new(linked).map(GuestPre::Command);
        }
        v0_1::CustomToolPre::new(linked).map(GuestPre::V0_1)
    }

    /// Makes an instance. No guest code runs except a `start` function.
    pub async fn instantiate(&self, store: impl AsContextMut<Data = T>) -> wasmtime::Result<Guest> {
        match self {
            GuestPre::V0_1(linked) => linked.instantiate_async(store).await.map(Guest::V0_1),
            GuestPre::Command(linked) => linked.instantiate_async(store).await.map(Guest::Command),
        }
    }
}

/// The exports of a live instance.
pub(crate) enum Guest {
    /// Built for `airlock:tool@0.1`.
    V0_1(v0_1::CustomTool),
    /// A program, which can run once.
    Command(Command),
}

/// Returns whether a component with these exports is a program, rather than built for the package
/// `airlock:tool`.
pub(crate) fn is_command<'a>(exports: impl Iterator<Item = &'a str>) -> bool {
    let mut runs = false;
    for export in exports {
        if export.starts_with("airlock:tool/") {
            return false;
        }
        runs |= export.starts_with("wasi:cli/run@0.2.");
    }
    runs
}

impl Guest {
    pub async fn definitions<T: Host>(
        &self,
        store: &mut Store<T>,
    ) -> wasmtime::Result<Vec<Definition>> {
        match self {
            Guest::V0_1(guest) => v0_1::definitions(guest, store).await,
            Guest::Command(_) => Ok(vec![command::definition()]),
        }
    }

    pub async fn execute<T: Host>(
        &self,
        store: &mut Store<T>,
        call_id: &str,
        tool: &str,
        params: &str,
    ) -> wasmtime::Result<Result<Returned, Complaint>> {
        match self {
            Guest::V0_1(guest) => v0_1::execute(guest, store, call_id, tool, params).await,
            // Its command line is that of the instance.
            Guest::Command(guest) => command::run(guest, store).await,
        }
    }

    pub async fn apply<T: Host>(
        &self,
        store: &mut Store<T>,
        decided: &DecidedAction<'_>,
    ) -> wasmtime::Result<Result<Returned, Complaint>> {
        match self {
            Guest::V0_1(guest) => v0_1::apply(guest, store, decided).await,
            Guest::Command(guest) => command::run(guest, store).await,
        }
    }

    pub async fn reject<T: Host>(
        &self,
        store: &mut Store<T>,
        decided: &DecidedAction<'_>,
    ) -> wasmtime::Result<Result<Option<Returned>, Complaint>> {
        match self {
            Guest::V0_1(guest) => v0_1::reject(guest, store, decided).await,
            Guest::Command(_) => Ok(Ok(None)),
        }
    }
}
