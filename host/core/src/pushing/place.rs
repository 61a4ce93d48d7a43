//! Replacement of pending actions at their position on the stack.

use std::sync::OnceLock;

use airlock_model::actor::DecidedBy;
use airlock_model::error::Error;
use airlock_model::pending::ActionId;
use airlock_model::store::{Push, Replacement, Stacks};

/// Pending actions to replace.
pub(crate) struct PlaceOfOthers {
    /// The main action to replace. If it is not pending, nothing is replaced.
    pub action: ActionId,
    /// Other actions to replace together with it, if they are pending.
    pub others: Vec<ActionId>,
    pub decided_by: DecidedBy,
    gone: OnceLock<Gone>,
}

/// The replaced actions, and the reason.
#[derive(Clone)]
pub(crate) struct Gone {
    pub actions: Vec<ActionId>,
    pub reason: String,
}

impl PlaceOfOthers {
    pub fn new(action: ActionId, others: Vec<ActionId>, decided_by: DecidedBy) -> Self {
        Self {
            action,
            others,
            decided_by,
            gone: OnceLock::new(),
        }
    }

    /// Puts the pushed actions there; there may be none.
    ///
    /// # Errors
    /// [`Error::Store`]; [`Error::ResolutionInProgress`] if the action is no longer pending.
    pub async fn take(&self, stacks: &dyn Stacks, push: Push) -> Result<(), Error> {
        let ids = push.actions.iter().map(|it| it.action.id.as_str());
        let ids: Vec<_> = ids.collect();
        let reason = match &ids[..] {
            [] => "refreshed, and nothing is proposed any more".to_owned(),
            ids => format!("refreshed as {}", ids.join(", ")),
        };
        let replacement = Replacement {
            action: self.action.clone(),
            others: self.others.clone(),
            reason: reason.clone(),
            decided_by: self.decided_by.clone(),
        };
        let actions = stacks.replace(push, replacement).await?;
        if actions.is_empty() {
            return Err(Error::ResolutionInProgress(self.action.clone()));
        }
        // Taken only once.
        let _ = self.gone.set(Gone { actions, reason });
        Ok(())
    }

    /// Returns the replaced actions after the replacement.
    pub fn gone(&self) -> Option<&Gone> {
        self.gone.get()
    }
}
