//! Claims: the right to resolve one action, and how it ends.

use std::sync::Arc;

use crate::actor::DecidedBy;
use crate::content::ResolutionOutcome;
use crate::digest::Digest;
use crate::pending::{ActionId, Decision, PendingAction, SessionId};

/// The answer to a claim.
#[derive(Debug)]
pub enum Claim {
    /// The action is the caller's to resolve.
    Claimed(Claimed),
    /// No action was named, and there is none.
    NothingPending,
    /// The named action was never in this session, or is long forgotten.
    Unknown(ActionId),
    /// Somebody else is resolving the named action right now.
    InProgress(ActionId),
    /// The named action has been resolved.
    Resolved(ActionId, Decision),
}

/// An action that its holder alone may resolve.
#[derive(Debug)]
pub struct Claimed {
    /// The action as pushed.
    pub action: Arc<PendingAction>,
    /// The state that it was pushed with; none for a volatile action.
    pub guest_state: Option<Vec<u8>>,
    /// Which try to apply it this is, or would be: 1 for the first.
    pub attempt: u32,
    /// To be handed back to the store.
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
    /// Tells this claim from earlier and later ones of the same action (a fencing token).
    pub token: u64,
}

/// How a decision was carried out.
#[derive(Debug, Clone, Copy)]
pub enum Completion<'a> {
    /// As decided, with this result.
    Succeeded(&'a ResolutionOutcome),
    /// The plugin failed to take note of a discard; the action is discarded all the same.
    RejectFailed(&'a str),
    /// Whatever was decided now: an earlier apply had taken effect, under a claim that ended
    /// without a word. The action is applied, with the reason and `extra` of this outcome.
    AppliedBefore {
        /// What came of that apply.
        outcome: &'a ResolutionOutcome,
        /// Who decided then, where that is known; else it stays whoever claimed the action last.
        decided_by: Option<&'a DecidedBy>,
    },
}

impl Completion<'_> {
    /// The SHA-256 of the result, written as JSON: what the audit trail keeps of it.
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

    /// What went wrong.
    pub fn error(&self) -> Option<&str> {
        match self {
            Completion::Succeeded(_) | Completion::AppliedBefore { .. } => None,
            Completion::RejectFailed(error) => Some(error),
        }
    }
}
