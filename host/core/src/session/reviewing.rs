//! The review of a pending action before a decision.

use airlock_model::call_record::CallRecord;
use airlock_model::effects::Effects;
use airlock_model::pending::{Decision, Resolution, StackedAction};
use airlock_model::reads::StaleFile;

/// A pending action and everything that is known about it, for the person or program that decides.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Review {
    /// The action on the stack.
    pub action: StackedAction,
    /// The call that previewed it, with the preview. `None` for an action of an older version.
    pub call: Option<CallRecord>,
    /// The effects that the host saw in the [rehearsal](crate::policy::Rehearse). `None` without a
    /// rehearsal: then only the tool's own preview is known.
    pub effects: Option<Effects>,
    /// The files that have changed since the preview. If there are any, an apply fails, unless the
    /// action makes the same edits on other lines.
    pub stale: Vec<StaleFile>,
}

impl Review {
    /// Creates a review without a call record and without stale files, for a front end that lists
    /// several actions.
    pub fn new(action: StackedAction, effects: Option<Effects>) -> Self {
        Self {
            action,
            call: None,
            effects,
            stale: Vec::new(),
        }
    }

    /// Returns a decision about exactly this state of the action. An apply fails with
    /// [`Error::NotReviewed`](crate::Error::NotReviewed) if the effects have changed since the
    /// review, and with [`Error::Refused`](crate::Error::Refused) if another apply was tried since.
    pub fn decided(&self, decision: Decision, reason: impl Into<String>) -> Resolution {
        let resolution = Resolution::new(decision, reason)
            .with_id(self.action.action.id.clone())
            .after_attempts(self.action.attempts);
        match &self.effects {
            Some(effects) => resolution.with_review(effects.digest()),
            None => resolution,
        }
    }
}
