//! Claims: the right to resolve one action, and its outcome.

use std::sync::Arc;

use crate::actor::DecidedBy;
use crate::content::ResolutionOutcome;
use crate::digest::Digest;
use crate::effects::AppliedPart;
use crate::pending::{ActionId, Decision, PendingAction, SessionId};

/// The answer to a claim.
#[derive(Debug)]
pub enum Claim {
    /// The caller may resolve the action.
    Claimed(Claimed),
    /// The claim named no action, and nothing is pending.
    NothingPending,
    /// The named action was never in this session, or is long forgotten.
    Unknown(ActionId),
    /// Another caller is resolving the named action.
    InProgress(ActionId),
    /// The named action has been resolved.
    Resolved(ActionId, Decision),
}

impl Claim {
    /// Returns the answer to a claim of a named action that can't be claimed. An action that is
    /// pending again by now was in progress when it was to be claimed.
    pub fn refused(id: ActionId, standing: Standing) -> Self {
        match standing {
            Standing::Pending | Standing::InProgress => Claim::InProgress(id),
            Standing::Resolved(decision) => Claim::Resolved(id, decision),
            Standing::Unknown => Claim::Unknown(id),
        }
    }
}

/// The state of an action for a caller that wants to claim it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// An action that is pending or interrupted. A caller could claim it.
    Pending,
    /// An action that a caller is resolving.
    InProgress,
    /// An action that has been resolved.
    Resolved(Decision),
    /// An action that was never in this session, or is long forgotten.
    Unknown,
}

/// A claimed action. Only its holder may resolve it.
#[derive(Debug)]
pub struct Claimed {
    /// The action as pushed.
    pub action: Arc<PendingAction>,
    /// The state that it was pushed with; `None` for a volatile action.
    pub guest_state: Option<Vec<u8>>,
    /// The number of this apply attempt, counted from 1.
    pub attempt: u32,
    /// The lease to hand back to the store.
    pub lease: Lease,
}

/// The right to resolve one action. Used up by handing it back to the store that gave it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an action that is claimed stays so until its lease is handed back, or runs out"]
pub struct Lease {
    /// The session whose stack the action came from.
    pub session: SessionId,
    /// The action.
    pub action: ActionId,
    /// A fencing token. It distinguishes this claim from other claims of the same action.
    pub token: u64,
}

/// The outcome of a decision.
#[derive(Debug, Clone, Copy)]
pub enum Completion<'a> {
    /// The decision was carried out, with this result.
    Succeeded(&'a ResolutionOutcome),
    /// The plugin failed to handle the discard. The action is discarded anyway.
    RejectFailed(&'a str),
    /// An earlier apply had taken effect, under a claim whose outcome was lost. The action is
    /// applied, whatever the current decision is, with the reason and `extra` of this outcome.
    AppliedBefore {
        /// The outcome of that apply.
        outcome: &'a ResolutionOutcome,
        /// The author of that decision, if known. Otherwise the latest claimant stays recorded.
        decided_by: Option<&'a DecidedBy>,
    },
}

impl Completion<'_> {
    /// Returns the SHA-256 of the result as JSON, for the audit trail.
    pub fn result_digest(&self) -> Option<Digest> {
        match self {
            Completion::Succeeded(outcome) | Completion::AppliedBefore { outcome, .. } => {
                serde_json::to_vec(outcome)
                    .ok()
                    .map(|json| Digest::of(&json))
            }
            Completion::RejectFailed(_) => None,
        }
    }

    /// Returns the part of the changes that was applied, unless it was all of them.
    pub fn part(&self) -> Option<&AppliedPart> {
        match self {
            Completion::Succeeded(outcome) | Completion::AppliedBefore { outcome, .. } => {
                outcome.details.part.as_ref()
            }
            Completion::RejectFailed(_) => None,
        }
    }

    /// Returns the error, if any.
    pub fn error(&self) -> Option<&str> {
        match self {
            Completion::Succeeded(_) | Completion::AppliedBefore { .. } => None,
            Completion::RejectFailed(error) => Some(error),
        }
    }
}
