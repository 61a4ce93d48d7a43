//! Errors of calling a tool or resolving a pending action.

mod host;
mod kind;
mod known;
mod parts;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::digest::Digest;
use crate::effects::{Difference, Effects};
use crate::identity::WorkspaceDifference;
use crate::limits::{LimitKind, Limits};
use crate::pending::{ActionId, Decision, NamedAction};
use crate::reads::{StaleFile, StaleFiles};
use crate::store::StoreError;
pub use host::HostError;
use known::Asked;
pub use known::KnownTools;
pub use parts::Violation;
use parts::{Here, Listed, WorkspaceName};

/// An error of a crate that this one doesn't know, or a text.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// An error of a call or a resolution.
///
/// Errors that a guest reports, failures of a guest and failures of the host are separate variants.
/// Each displays as one sentence for the caller. Texts that are part of the contract, such as that
/// of [`Error::NothingPending`], are exact.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool reported an error on purpose.
    #[error("{message}")]
    Tool {
        /// The tool's message.
        message: String,
    },
    /// The tool reported an unexpected failure.
    #[error("{message}")]
    Failed {
        /// The tool's message.
        message: String,
    },
    /// The caller cancelled the call, or the tool acknowledged a cancellation.
    #[error("cancelled")]
    Cancelled,
    /// The guest trapped: a panic, an `unreachable`, a bad memory access. Its instance was dropped.
    #[error("tool `{tool}` crashed: {message}")]
    Trap {
        /// The tool that was called or resolved.
        tool: String,
        /// The trap, and the end of the guest's standard error.
        message: String,
    },
    /// The guest exceeded a limit. Its instance was dropped.
    #[error("tool `{tool}` {message}")]
    Limit {
        /// The tool that was called or resolved.
        tool: String,
        /// The limit that was exceeded.
        kind: LimitKind,
        /// A predicate that follows the tool's name.
        message: String,
    },
    /// The tool is still working on an earlier call that was stopped. Nothing was tried, and an
    /// action to be resolved is still pending.
    #[error(
        "an earlier call of `{tool}` was stopped and its work has not ended yet; try again later"
    )]
    Busy {
        /// The tool that was called or resolved.
        tool: String,
    },
    /// The parameters don't match the tool's schema. The guest was not called.
    #[error("the params of `{tool}` don't fit its schema: {}", Listed(.violations))]
    InvalidParams {
        /// The tool that was called.
        tool: String,
        /// The places that don't match; not empty.
        violations: Vec<Violation>,
    },
    /// A session can't be opened without a decider.
    #[error(
        "the session has no decider: call `approver(…)` on its builder to be asked before a model's apply, or `model_decides()` to let the model decide"
    )]
    NoDecider,
    /// The session has no such tool.
    #[error("there is no tool `{}` here; {known}", Asked(.name))]
    UnknownTool {
        /// The name that was asked for.
        name: String,
        /// The tools that exist.
        known: KnownTools,
    },
    /// The stack is empty.
    #[error("No pending action to resolve. Nothing to apply or discard.")]
    NothingPending,
    /// The action expired without a decision and was discarded.
    #[error("Pending action {0} has expired, and was discarded. Nothing was applied.")]
    Expired(ActionId),
    /// The action has already been resolved.
    #[error("Pending action {id} was already {}.", .decision.past())]
    AlreadyResolved {
        /// The action.
        id: ActionId,
        /// The decision that was carried out.
        decision: Decision,
    },
    /// The action is being resolved by another caller.
    #[error("Pending action {0} is being resolved elsewhere.")]
    ResolutionInProgress(ActionId),
    /// The session has no such action.
    #[error("There is no pending action {0} in this session.")]
    UnknownAction(ActionId),
    /// The session's approver refused the model's request. Nothing was tried, and the action is
    /// still pending.
    #[error("not applied: {action}: {reason}")]
    Refused {
        /// The action.
        action: Box<NamedAction>,
        /// The approver's reason.
        reason: String,
    },
    /// The session's approver leaves the decision to a person. Nothing was tried, and the action is
    /// still pending.
    #[error("not applied, since a person must decide about it: {action}. {how}")]
    NeedsPerson {
        /// The action.
        action: Box<NamedAction>,
        /// Instructions for the model: who must decide, and how.
        how: String,
    },
    /// An apply failed for another reason than an error that the tool reported. The action is
    /// pending again.
    #[error("Apply failed: {0}")]
    ApplyFailed(#[source] Box<Error>),
    /// The changes of an apply could not be committed to the workspace, which is unchanged.
    #[error("nothing was changed in the workspace: {0}")]
    NotCommitted(
        /// The cause, such as files that another program changed in the meantime.
        #[source]
        Cause,
    ),
    /// Files that the action is about have changed since its preview. Nothing was run, and the
    /// action is pending as before: discard it, or call its tool again.
    #[error(
        "nothing was applied: the preview is stale, since {}; discard it and preview again",
        StaleFiles(.files)
    )]
    Stale {
        /// The action.
        action: Box<NamedAction>,
        /// The files; not empty.
        files: Vec<StaleFile>,
    },
    /// The effects of an apply differ from the reviewed ones. Nothing was changed, and the current
    /// effects are the new review: a decision that [names it](crate::pending::Resolution::review)
    /// accepts them.
    #[error("{difference}; look at it again before you decide again")]
    Different {
        /// The action, which is pending again.
        action: Box<NamedAction>,
        /// The difference.
        difference: Box<Difference>,
    },
    /// The decision refers to another review than the action's, because an apply would now have
    /// other effects. Nothing was tried.
    #[error(
        "nothing was applied: its effects differ from the review ({}); review it again, then decide",
        .now.counts()
    )]
    NotReviewed {
        /// The action, which is still pending.
        action: Box<NamedAction>,
        /// The current effects.
        now: Box<Effects>,
    },
    /// The host did not [see](crate::policy::Rehearse::Always) the effects of applying the action,
    /// and the session requires that. Nothing was tried.
    #[error(
        "the host did not see what applying it would do, and this session demands that: {problem}"
    )]
    Unverified {
        /// The action, which is still pending.
        action: Box<NamedAction>,
        /// The reason, as a clause.
        problem: String,
    },
    /// An apply of the action was interrupted, and the workspace, which records whether it took
    /// effect, is missing or was replaced. Nothing was tried. The action can be discarded
    /// [anyway](crate::pending::Resolution::abandon).
    #[error(
        "can't determine the outcome of an interrupted apply: workspace {} is missing or was replaced", .workspace.display()
    )]
    Unrecovered {
        /// The action, which is still interrupted.
        action: Box<NamedAction>,
        /// The workspace in which it was previewed.
        workspace: Arc<Path>,
    },
    /// The instance that held a volatile action's preview in memory no longer exists.
    #[error(
        "the tool kept this preview only in memory, and it is lost; discard the action and preview again"
    )]
    InstanceGone,
    /// The action was previewed in another workspace than the session's.
    #[error(
        "this action was previewed on {}, and the session is open on {}; open one on the former to apply it",
        WorkspaceName(.previewed), WorkspaceName(.session)
    )]
    OtherWorkspace {
        /// The workspace that was previewed.
        previewed: Option<Arc<Path>>,
        /// The session's workspace.
        session: Option<Arc<Path>>,
    },
    /// The workspace at the action's path is not the one that was previewed, as far as can be
    /// determined.
    #[error("this action was previewed in {} {difference}", .path.display())]
    WorkspaceReplaced {
        /// The workspace's path.
        path: Arc<Path>,
        /// The difference.
        difference: WorkspaceDifference,
    },
    /// The decision was carried out, but the store could not record it. The action will be listed
    /// as interrupted.
    #[error("the action was {}, but that could not be recorded: {source}", .decision.past())]
    NotRecorded {
        /// The decision that was carried out.
        decision: Decision,
        /// The store's error.
        #[source]
        source: StoreError,
    },
    /// The session doesn't have the plugin that pushed the action.
    #[error(
        "the plugin that pushed this action ({0}) is not loaded in this session, and its store doesn't keep it"
    )]
    PluginGone(Digest),
    /// A native producer pushed the action, and this session has no such producer, or another
    /// version of it.
    #[error("this action was made by the host's own `{name}`, with a state in format {state_version}, {}", Here(.name, .here))]
    ProducerGone {
        /// The producer's name, which is also the name of its tool.
        name: String,
        /// The version of the format of the action's state.
        state_version: u32,
        /// The version that the session's producer of that name reads. `None` if the session has no
        /// such producer.
        here: Option<u32>,
    },
    /// The workspace doesn't exist, or is not a directory.
    #[error("can't use {} as a workspace: {source}", .path.display())]
    Workspace {
        /// The path as given.
        path: PathBuf,
        /// The problem with the path.
        source: io::Error,
    },
    /// An operation of the pending store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session was opened without a pending store.
    #[error("this session has no pending store")]
    NoStore,
    /// The host itself failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Error {
    /// Returns the error below an `Apply failed:`, or this error.
    pub fn root(&self) -> &Error {
        match self {
            Error::ApplyFailed(source) => source.root(),
            other => other,
        }
    }

    /// Returns the error for a call that exceeded its time limit.
    pub fn timed_out(tool: &str, limits: &Limits) -> Self {
        let seconds = limits.call_time.as_secs_f64();
        Error::Limit {
            tool: tool.to_owned(),
            kind: LimitKind::CallTime,
            message: format!("was stopped after {seconds} s, the limit for a call"),
        }
    }

    /// Returns the error for a call that exceeded its time limit and was stopped after `elapsed`.
    pub fn timed_out_after(tool: &str, most: Duration, elapsed: Duration) -> Self {
        let seconds = most.as_secs_f64();
        // An overrun below 0.1 s is too short to notice, so the message omits it.
        let message = if elapsed.saturating_sub(most) < Duration::from_millis(100) {
            format!("was stopped after {seconds} s, the limit for a call")
        } else {
            let elapsed = elapsed.as_secs_f64();
            format!("was stopped after {elapsed:.1} s; the limit for a call is {seconds} s")
        };
        Error::Limit {
            tool: tool.to_owned(),
            kind: LimitKind::CallTime,
            message,
        }
    }

    /// Returns the error for params whose check against the schema would take too many steps. The
    /// guest was not called.
    pub fn params_too_costly(tool: &str, limits: &Limits) -> Self {
        let most = limits.params_steps;
        Error::Limit {
            tool: tool.to_owned(),
            kind: LimitKind::ParamsSteps,
            message: format!("was not called: checking the params takes more than {most} steps"),
        }
    }

    /// Returns the error for a result that is larger than the limit.
    pub fn result_too_large(tool: &str, bytes: usize, limits: &Limits) -> Self {
        let most = limits.result_bytes;
        Error::Limit {
            tool: tool.to_owned(),
            kind: LimitKind::ResultBytes,
            message: format!("returned {bytes} bytes; the limit is {most}"),
        }
    }

    /// Returns the error for a path that can't be used as a workspace.
    pub fn workspace(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Error::Workspace { path, source }
    }

    /// Returns the error for changes that could not be committed.
    pub fn not_committed(source: impl Into<Cause>) -> Self {
        Error::NotCommitted(source.into())
    }
}

/// Serializes as the [kind](Error::kind) and the message, for programs.
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut error = serializer.serialize_struct("Error", 2)?;
        error.serialize_field("kind", self.kind())?;
        error.serialize_field("message", &self.to_string())?;
        error.end()
    }
}
