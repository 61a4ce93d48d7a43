//! What there is to know of a pending action before a decision.

use airlock_model::call_record::CallRecord;
use airlock_model::effects::Effects;
use airlock_model::pending::{Decision, Resolution, StackedAction};
use airlock_model::reads::StaleFile;

/// A pending action and what is known of it, for the person or program that decides about it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Review {
    /// The action, as it is on the stack.
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
    /// Returns a review for a front door that lists several actions and knows this much of each.
    pub fn new(action: StackedAction, effects: Option<Effects>) -> Self {
        Self {
            action,
            call: None,
            effects,
            stale: Vec::new(),
        }
    }

    /// Returns a decision about exactly this. An apply fails with
    /// [`Error::NotReviewed`](crate::Error::NotReviewed) if the action would do something else by
    /// then, and with [`Error::Refused`](crate::Error::Refused) if another apply was tried since.
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
