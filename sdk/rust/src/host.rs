//! The host's functions for a running call.

use std::path::PathBuf;

use crate::Error;
use crate::wire::{PendingAction, PushError};

/// The conversation that the current call belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The session's ID. Every call of one conversation has the same one.
    pub id: String,
    /// The path of the workspace (`/workspace`), or `None` if this session has none.
    pub workspace: Option<PathBuf>,
    /// True if actions can be staged in this session. If not, a preview that stages one fails with
    /// `Pending action store unavailable for custom tools in this runtime.`
    pub can_stage: bool,
}

/// Returns the current session, or `None` while the tools are being defined and in native tests.
pub fn session() -> Option<Session> {
    imports::session()
}

/// Checks if the current call was cancelled: the caller no longer waits for its answer.
///
/// A tool that runs for a long time should check this regularly, most simply with
/// [`check_cancelled`]. The host stops a tool that doesn't.
pub fn is_cancelled() -> bool {
    imports::is_cancelled()
}

/// Returns an error if the current call was cancelled, to end it with `?`.
///
/// # Errors
/// Returns [`Error::Cancelled`] if [`is_cancelled`].
pub fn check_cancelled() -> Result<(), Error> {
    if is_cancelled() {
        Err(Error::Cancelled)
    } else {
        Ok(())
    }
}

/// Reports to the caller what the current call is doing.
pub fn report_progress(message: &str) {
    imports::report_progress(message, None, None);
}

/// Reports to the caller how far the current call is: `done` of `total`, in a unit of your choice.
/// `done` must not decrease within a call.
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

/// Stand-ins for a tool's own native tests, which have no host.
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
