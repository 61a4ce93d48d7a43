//! Failures of the host itself.

use std::io;

use tokio::sync::oneshot::error::RecvError;
use tokio::task::JoinError;

use super::{Cause, Error};

/// A failure of the host itself. Displays as a clause that ends with the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The machine can't provide what the engine reserves, or a setting is out of range.
    #[error("could not start the WebAssembly engine: {0}")]
    Engine(#[source] Cause),
    /// The thread that limits the time of guests did not start.
    #[error("could not start the epoch thread: {0}")]
    EpochThread(#[source] io::Error),
    /// A plugin from the compile cache doesn't link.
    #[error("could not link a plugin that was compiled before: {0}")]
    Link(#[source] Cause),
    /// The check of a plugin's tools did not end.
    #[error("could not check the definitions: {0}")]
    Definitions(#[source] JoinError),
    /// The store has a plugin that doesn't load.
    #[error("could not load the plugin that the store kept: {0}")]
    KeptPlugin(#[source] Cause),
    /// The thread that checks params did not start.
    #[error("could not start a thread to check params: {0}")]
    ParamsThread(#[source] io::Error),
    /// The check of params did not end.
    #[error("the params could not be checked: {0}")]
    Params(#[source] RecvError),
    /// The store has params that are not JSON.
    #[error("could not read the params that were kept: {0}")]
    KeptParams(#[source] serde_json::Error),
    /// A call's record was not packed for the store.
    #[error("could not pack the record of a call: {0}")]
    CallRecord(#[source] JoinError),
    /// The store doesn't have the call that is to be previewed again.
    #[error("could not preview it again: the call that previewed it is not kept")]
    NoCallRecord,
    /// The call that is to be previewed again has an interrupted action.
    #[error(
        "could not preview it again: an apply of {label:?} was interrupted, with an unknown outcome: apply or discard it"
    )]
    Interrupted {
        /// The action's label.
        label: String,
    },
    /// A rehearsal did not end.
    #[error("could not rehearse an action: {0}")]
    Rehearsal(#[source] JoinError),
    /// The system has no random bytes.
    #[error("found no randomness: {0}")]
    Randomness(#[source] getrandom::Error),
    /// An apply's result can't be written as JSON.
    #[error("could not write down the result: {0}")]
    Result(#[source] serde_json::Error),
    /// Work on the workspace did not begin, because the host is ending.
    #[error("could not commit: {0}")]
    Commit(#[source] JoinError),
    /// The thread of a native tool did not start.
    #[error("could not start a thread: {0}")]
    NativeThread(#[source] io::Error),
    /// A native tool panicked.
    #[error("a native producer did not end its work: {0}")]
    NativePanic(#[source] RecvError),
    /// A native tool [reports](Error::native) a failure of its own.
    #[error("{doing}: {source}")]
    Native {
        /// The operation that failed, as a clause.
        doing: &'static str,
        /// The cause.
        source: Cause,
    },
}

impl Error {
    /// Returns the error with which a native tool reports a failure of its own, rather than one of
    /// its params or of the files. `doing` is a clause such as `could not write the plan`.
    pub fn native(doing: &'static str, source: impl Into<Cause>) -> Self {
        let source = source.into();
        HostError::Native { doing, source }.into()
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_failure_of_the_host_says_its_cause_and_keeps_it() {
        let check = |error: Error, expected: &str, has_cause: bool| {
            assert_eq!(error.kind(), "host");
            assert_eq!(error.to_string(), expected);
            assert_eq!(error.source().is_some(), has_cause, "{expected}");
        };
        check(
            HostError::NativeThread(io::Error::other("there are too many")).into(),
            "could not start a thread: there are too many",
            true,
        );
        check(
            Error::native("could not write the plan", "a path is not UTF-8"),
            "could not write the plan: a path is not UTF-8",
            true,
        );
        check(
            HostError::NoCallRecord.into(),
            "could not preview it again: the call that previewed it is not kept",
            false,
        );
    }
}
