//! Approval of applies, and whose decision they are: the trait that embedders implement.

use std::path::Path;

use airlock_model::actor::DecidedBy;
use airlock_model::call_record::CallRecord;
use airlock_model::effects::Effects;
use airlock_model::pending::{PendingAction, Resolution, SessionId, StackedAction};
use async_trait::async_trait;

/// Approves applies, in particular those that a model wants. The embedder implements it to control
/// who decides.
///
/// It is not asked about a model's discard, which has no effect, or about decisions of a
/// [`StandingHandler`](crate::standing::StandingHandler), which is the embedder's own code.
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Decides whether the action may be applied. Meanwhile the action stays on its stack,
    /// unclaimed, so that others can resolve it; in that case the model is informed. Cancelling the
    /// call drops the future.
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval;

    /// Decides whether to carry out an apply that was not decided by a model, based on this
    /// evidence. Embedders can ask for more evidence for some effects. Meanwhile the action stays
    /// on its stack, unclaimed.
    ///
    /// Default: allow.
    async fn admit(&self, _request: &ApprovalRequest<'_>, _decided_by: &DecidedBy) -> Approval {
        Approval::Allow
    }

    /// Decides whether to commit the changes of an apply. Called only if the host has not seen
    /// these effects before: the action is volatile or [not
    /// rehearsed](crate::policy::Rehearse::Never), or its rehearsal failed. It applies to every
    /// decision, including a person's. The tool has already run. Its changes to the workspace are
    /// not visible yet; effects elsewhere have happened.
    ///
    /// Default: commit.
    async fn confirm(&self, _request: &ConfirmRequest<'_>) -> Confirmation {
        Confirmation::Commit
    }

    /// Decides whether the changes may still be committed. Called before every commit, unless
    /// [`confirm`](Self::confirm) has just allowed it. The workspace is locked during the call.
    /// Other files may have changed since the decision. For example, a changed file may have a new
    /// link. Don't ask a person here, and return quickly.
    ///
    /// Default: commit.
    async fn recheck(&self, _request: &ConfirmRequest<'_>) -> Confirmation {
        Confirmation::Commit
    }
}

/// The changes of an apply that are about to be committed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ConfirmRequest<'a> {
    /// The session that has the action on its stack.
    pub session: &'a SessionId,
    /// The workspace in which it is applied, as an absolute path without links.
    pub workspace: Option<&'a Path>,
    /// The action.
    pub action: &'a PendingAction,
    /// The decision.
    pub resolution: &'a Resolution,
    /// The decider, with evidence.
    pub decided_by: &'a DecidedBy,
    /// The changes, including file contents; not empty.
    pub effects: &'a Effects,
}

/// An [`Approver`]'s answer about the changes of an apply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirmation {
    /// Commits the changes to the workspace.
    Commit,
    /// Drops the changes: the workspace stays as it was, and the action is still pending. This is
    /// not a denial and is not recorded. Use it if the decision has to be made again, for example.
    Drop {
        /// The reason, as a clause for the decider.
        reason: String,
    },
    /// Drops the changes because a rule refuses them. The denial is
    /// [recorded](crate::store::Denials::record_denial).
    Refuse {
        /// The rule, as a clause for the decider.
        reason: String,
    },
    /// Drops the changes because a person was asked and said no. The denial is
    /// [recorded](crate::store::Denials::record_denial).
    Decline {
        /// The person.
        decided_by: DecidedBy,
        /// The reason, as a clause for the decider.
        reason: String,
    },
}

/// A request to apply an action.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// The session that has the action on its stack.
    pub session: &'a SessionId,
    /// The workspace in which it would be applied, as an absolute path without links.
    pub workspace: Option<&'a Path>,
    /// The action.
    pub action: &'a StackedAction,
    /// The decision, with its reason and any extra data.
    pub resolution: &'a Resolution,
    /// The call that previewed the action, with the full preview. Show it to the person who is
    /// asked. `None` for an action of an older version.
    pub call: Option<&'a CallRecord>,
    /// The effects that the host saw in the [rehearsal](crate::policy::Rehearse), including file
    /// contents. `None` without a rehearsal: then only the tool's own preview is known.
    pub effects: Option<&'a Effects>,
}

/// An [`Approver`]'s answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// Lets the decider's own decision stand.
    Allow,
    /// Another actor made the decision, and it is recorded as theirs.
    AllowedBy(DecidedBy),
    /// Another actor made the decision and gave a reason. The tool and the record get this reason
    /// instead of the model's.
    AllowedWithReason {
        /// The decider.
        decided_by: DecidedBy,
        /// The reason.
        reason: String,
    },
    /// A rule of the embedder or the operator refuses it. The action stays as it was, the model
    /// gets the reason, and the denial is [recorded](crate::store::Denials::record_denial).
    Refuse {
        /// The rule, as a clause for the model.
        reason: String,
    },
    /// A person was asked and said no. The action stays as it was, the model gets the reason, and
    /// the denial is [recorded](crate::store::Denials::record_denial).
    Decline {
        /// The person.
        decided_by: DecidedBy,
        /// The reason, as a clause for the model.
        reason: String,
        /// More sentences for the model, which are not recorded. May be empty.
        advice: String,
    },
    /// Leaves the action as it was. This is not a denial and is not recorded. Use it if a decision
    /// about another action was made instead, for example.
    Drop {
        /// The reason, as a clause for the model.
        reason: String,
    },
    /// Returns from the call immediately, without a claim.
    NeedsPerson {
        /// Sentences for the model that name the person who must decide, and the way to do it.
        how: String,
    },
}
