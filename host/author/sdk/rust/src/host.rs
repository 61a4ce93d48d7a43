//! What the host offers while it calls a tool.

use std::path::PathBuf;

use crate::Error;
use crate::wire::{PendingAction, PushError};

/// The conversation that the current call belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The same for every call of one conversation.
    pub id: String,
    /// Where the workspace is found (`/workspace`); none where this session has none.
    pub workspace: Option<PathBuf>,
    /// Whether actions can be staged here. Where they can't, a preview that stages one fails with
    /// `Pending action store unavailable for custom tools in this runtime.`
    pub can_stage: bool,
}

/// The current session; none while the tools are being defined, and in native tests.
pub fn session() -> Option<Session> {
    imports::session()
}

/// Whether the caller no longer wants the current call's answer.
///
/// A tool that runs for long asks now and then, most simply with [`check_cancelled`]. One that
/// doesn't is stopped from outside.
pub fn is_cancelled() -> bool {
    imports::is_cancelled()
}

/// Ends a cancelled call through `?`.
///
/// # Errors
/// [`Error::Cancelled`] if [`is_cancelled`].
pub fn check_cancelled() -> Result<(), Error> {
    if is_cancelled() {
        Err(Error::Cancelled)
    } else {
        Ok(())
    }
}

/// Tells whoever waits what the current call is doing.
pub fn report_progress(message: &str) {
    imports::report_progress(message, None, None);
}

/// Tells whoever waits how far the current call is: `done` of `total`, in a unit of the tool's own.
/// `done` never goes down within a call.
pub fn report_progress_of(message: &str, done: f64, total: f64) {
    imports::report_progress(message, Some(done), Some(total));
}

pub(crate) fn push(action: PendingAction) -> Result<String, PushError> {
    imports::push(&action)
}

#[cfg(target_family = "wasm")]
mod imports {
    pub(super) use crate::wire::bindings::airlock::tool::host::{is_cancelled, report_progress};
    pub(super) use crate::wire::bindings::airlock::tool::pending_actions::push_pending_action as push;

    pub(super) fn session() -> Option<crate::Session> {
        crate::wire::bindings::airlock::tool::host::session().map(Into::into)
    }
}

/// What a tool finds in its own native tests, where there is no host.
#[cfg(not(target_family = "wasm"))]
mod imports {
    use crate::Session;
    use crate::wire::{PendingAction, PushError};

    pub(super) fn session() -> Option<Session> {
        None
    }

    pub(super) fn is_cancelled() -> bool {
        false
    }

    pub(super) fn report_progress(_message: &str, _progress: Option<f64>, _total: Option<f64>) {}

    pub(super) fn push(_action: &PendingAction) -> Result<String, PushError> {
        Err(PushError::StoreUnavailable(
            "Pending action store unavailable for custom tools in this runtime.".to_owned(),
        ))
    }
}
