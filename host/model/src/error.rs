//! Everything that can go wrong while a tool is called or a pending action resolved.

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
use known::Asked;
pub use known::KnownTools;
pub use parts::Violation;
use parts::{Here, Listed, WorkspaceName};

/// Why a call or a resolution did not succeed.
///
/// What a guest said, what it did, and what the host could not do are variants of their own. Each
/// displays as one sentence for the caller; contracted texts, such as [`Error::NothingPending`]'s,
/// word for word.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool reported an error on purpose.
    #[error("{message}")]
    Tool {
        /// The tool's own words.
        message: String,
    },
    /// The tool reported an unexpected failure.
    #[error("{message}")]
    Failed {
        /// The tool's own words.
        message: String,
    },
    /// The caller cancelled the call, or the tool acknowledged a cancellation.
    #[error("cancelled")]
    Cancelled,
    /// The guest trapped: a panic, an `unreachable`, a bad memory access. Its instance has been
    /// dropped.
    #[error("tool `{tool}` crashed: {message}")]
    Trap {
        /// The tool that was called or resolved.
        tool: String,
        /// The trap, and the last that the guest wrote to its standard error.
        message: String,
    },
    /// The guest exceeded a limit. Its instance has been dropped.
    #[error("tool `{tool}` {message}")]
    Limit {
        /// The tool that was called or resolved.
        tool: String,
        /// The limit.
        kind: LimitKind,
        /// What it did, behind the tool's name.
        message: String,
    },
    /// The tool still works on an earlier call that was stopped. Nothing was tried, and an action
    /// that was to be resolved is pending as before.
    #[error(
        "an earlier call of `{tool}` was stopped and its work has not ended yet; try again later"
    )]
    Busy {
        /// The tool that was called or resolved.
        tool: String,
    },
    /// The parameters don't fit the tool's schema. The guest was not called.
    #[error("the params of `{tool}` don't fit its schema: {}", Listed(.violations))]
    InvalidParams {
        /// The tool that was called.
        tool: String,
        /// Each place that doesn't fit; not empty.
        violations: Vec<Violation>,
    },
    /// A session can't be opened without a decider.
    #[error(
        "the session has no decider: call `approver(…)` on its builder to be asked before a model's apply, or `model_decides()` to let the model decide"
    )]
    NoDecider,
    /// There is no such tool in this session.
    #[error("there is no tool `{}` here; {known}", Asked(.name))]
    UnknownTool {
        /// The name that was asked for.
        name: String,
        /// What there is.
        known: KnownTools,
    },
    /// The stack is empty.
    #[error("No pending action to resolve. Nothing to apply or discard.")]
    NothingPending,
    /// Nobody decided in time, and the action was discarded.
    #[error("Pending action {0} has expired, and was discarded. Nothing was applied.")]
    Expired(ActionId),
    /// The action has already been resolved.
    #[error("Pending action {id} was already {}.", .decision.past())]
    AlreadyResolved {
        /// The action.
        id: ActionId,
        /// How.
        decision: Decision,
    },
    /// The action is being resolved elsewhere right now.
    #[error("Pending action {0} is being resolved elsewhere.")]
    ResolutionInProgress(ActionId),
    /// The session has no such action.
    #[error("There is no pending action {0} in this session.")]
    UnknownAction(ActionId),
    /// The session's approver refused what the model asked for. Nothing was tried, and the action
    /// is pending as before.
    #[error("not applied: {action}: {reason}")]
    Refused {
        /// The action.
        action: Box<NamedAction>,
        /// Why, as the approver has it.
        reason: String,
    },
    /// The session's approver leaves the decision to a person. Nothing was tried, and the action is
    /// pending as before.
    #[error("not applied, since a person must decide about it: {action}. {how}")]
    NeedsPerson {
        /// The action.
        action: Box<NamedAction>,
        /// Who must decide, and how, as sentences for the model.
        how: String,
    },
    /// An apply did not succeed, for another reason than the tool's own word. The action is pending
    /// again.
    #[error("Apply failed: {0}")]
    ApplyFailed(#[source] Box<Error>),
    /// What an apply changed could not be put into the workspace, where nothing was changed.
    #[error("nothing was changed in the workspace: {reason}")]
    NotCommitted {
        /// Why, say which files were changed by another program meanwhile.
        reason: String,
    },
    /// Files that the action is about have changed since it was previewed. Nothing was run, and it
    /// is pending as before: it can be discarded, or its tool called again.
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
    /// What an apply does is not what was reviewed. Nothing was changed, and what it does now is
    /// the new review: a decision that [names it](crate::pending::Resolution::review) accepts it.
    #[error("{difference}; look at it again before you decide again")]
    Different {
        /// The action, which is pending again.
        action: Box<NamedAction>,
        /// What differs.
        difference: Box<Difference>,
    },
    /// The decision is about another review than the action's: an apply would do something else by
    /// now. Nothing was tried.
    #[error(
        "nothing was applied: its effects differ from the review ({}); review it again, then decide",
        .now.counts()
    )]
    NotReviewed {
        /// The action, which is pending as before.
        action: Box<NamedAction>,
        /// What it does now.
        now: Box<Effects>,
    },
    /// What applying it would do was not [seen by the host](crate::policy::Rehearse::Always).
    /// Nothing was tried.
    #[error(
        "the host did not see what applying it would do, and this session demands that: {problem}"
    )]
    Unverified {
        /// The action, which is pending as before.
        action: Box<NamedAction>,
        /// Why, as a clause.
        problem: String,
    },
    /// An apply of the action was cut off, and its workspace, which knows whether that took effect,
    /// is not here. Nothing was tried. It can be discarded
    /// [all the same](crate::pending::Resolution::abandon).
    #[error(
        "can't determine the outcome of an interrupted apply: workspace {} is missing or was replaced", .workspace.display()
    )]
    Unrecovered {
        /// The action, which is interrupted as before.
        action: Box<NamedAction>,
        /// Where it was previewed.
        workspace: Arc<Path>,
    },
    /// The instance that held a volatile action's preview in memory no longer exists.
    #[error(
        "the tool kept this preview only in memory, and it is lost; discard the action and preview again"
    )]
    InstanceGone,
    /// The action was previewed on another workspace than the session's.
    #[error(
        "this action was previewed on {}, and the session is open on {}; open one on the former to apply it",
        WorkspaceName(.previewed), WorkspaceName(.session)
    )]
    OtherWorkspace {
        /// The workspace that was previewed.
        previewed: Option<Arc<Path>>,
        /// The session's.
        session: Option<Arc<Path>>,
    },
    /// The workspace at the action's path is not the one that was previewed, as far as can be
    /// known.
    #[error("this action was previewed in {} {difference}", .path.display())]
    WorkspaceReplaced {
        /// The workspace's path.
        path: Arc<Path>,
        /// How it differs.
        difference: WorkspaceDifference,
    },
    /// The decision was carried out, and the store could not take note of it. The action is listed
    /// as interrupted later.
    #[error("the action was {}, but that could not be recorded: {source}", .decision.past())]
    NotRecorded {
        /// What was carried out.
        decision: Decision,
        /// Why the store could not.
        #[source]
        source: StoreError,
    },
    /// The session doesn't have the plugin that pushed the action.
    #[error(
        "the plugin that pushed this action ({0}) is not loaded in this session, and its store doesn't keep it"
    )]
    PluginGone(Digest),
    /// A native producer pushed the action, and this session doesn't have it, or has another
    /// version of it.
    #[error("this action was made by the host's own `{name}`, with a state in format {state_version}, {}", Here(.name, .here))]
    ProducerGone {
        /// The producer, which is also what its tool is called.
        name: String,
        /// The version of the format of the action's state.
        state_version: u32,
        /// The version that the session's producer of that name reads; none where the session has
        /// no such producer.
        here: Option<u32>,
    },
    /// The workspace doesn't exist, or is not a directory.
    #[error("can't use {} as a workspace: {reason}", .path.display())]
    Workspace {
        /// The path as it was given.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An operation of the pending store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session was opened without a pending store.
    #[error("this session has no pending store")]
    NoStore,
    /// The host itself failed.
    #[error("{doing}: {source}")]
    Host {
        /// What it was doing.
        doing: &'static str,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// The error under an `Apply failed:`, or this one.
    pub fn root(&self) -> &Error {
        match self {
            Error::ApplyFailed(source) => source.root(),
            other => other,
        }
    }

    /// A call took longer than it may.
    pub fn timed_out(tool: &str, limits: &Limits) -> Self {
        let seconds = limits.call_time.as_secs_f64();
        Error::Limit {
            tool: tool.to_owned(),
            kind: LimitKind::CallTime,
            message: format!("was stopped after {seconds} s, the limit for a call"),
        }
    }

    /// A call took longer than it may, and was stopped only when so much time had passed.
    pub fn timed_out_after(tool: &str, most: Duration, elapsed: Duration) -> Self {
        let seconds = most.as_secs_f64();
        // What a person would not notice is not told.
        let message = match elapsed.saturating_sub(most) < Duration::from_millis(100) {
            true => format!("was stopped after {seconds} s, the limit for a call"),
            false => {
                let elapsed = elapsed.as_secs_f64();
                format!("was stopped after {elapsed:.1} s; the limit for a call is {seconds} s")
            }
        };
        Error::Limit {
            tool: tool.to_owned(),
            kind: LimitKind::CallTime,
            message,
        }
    }

    /// Nobody knows whether a call's params fit, and finding out would take too long. The guest was
    /// not called.
    pub fn params_too_costly(tool: &str, limits: &Limits) -> Self {
        let most = limits.params_steps;
        Error::Limit {
            tool: tool.to_owned(),
            kind: LimitKind::ParamsSteps,
            message: format!("was not called: checking the params takes more than {most} steps"),
        }
    }

    /// A tool returned more than it may.
    pub fn result_too_large(tool: &str, bytes: usize, limits: &Limits) -> Self {
        let most = limits.result_bytes;
        Error::Limit {
            tool: tool.to_owned(),
            kind: LimitKind::ResultBytes,
            message: format!("returned {bytes} bytes; the limit is {most}"),
        }
    }

    /// This path can't be used as a workspace, for this reason.
    pub fn workspace(path: &Path, reason: &io::Error) -> Self {
        Error::Workspace {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// The host itself could not do `doing`, for this reason.
    pub fn host(
        doing: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let source = source.into();
        Error::Host { doing, source }
    }
}

/// As its [kind](Error::kind) and its message, for programs.
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut error = serializer.serialize_struct("Error", 2)?;
        error.serialize_field("kind", self.kind())?;
        error.serialize_field("message", &self.to_string())?;
        error.end()
    }
}
