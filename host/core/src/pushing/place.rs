//! A place on the stack that pending actions make room in, for what takes theirs.

use std::sync::OnceLock;

use airlock_model::actor::DecidedBy;
use airlock_model::error::Error;
use airlock_model::pending::ActionId;
use airlock_model::store::{PendingStore, Push, Replacement};

/// Where pending actions lie that are to go.
pub(crate) struct PlaceOfOthers {
    /// Without it nothing is done.
    pub action: ActionId,
    /// They go with it, as far as they are pending.
    pub others: Vec<ActionId>,
    pub decided_by: DecidedBy,
    gone: OnceLock<Gone>,
}

/// What went, and why.
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

    /// Puts there what was pushed, which may be nothing.
    ///
    /// # Errors
    /// [`Error::Store`]; [`Error::ResolutionInProgress`] where the action is not pending any more.
    pub async fn take(&self, store: &dyn PendingStore, push: Push) -> Result<(), Error> {
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
        let actions = store.replace(push, replacement).await?;
        if actions.is_empty() {
            return Err(Error::ResolutionInProgress(self.action.clone()));
        }
        // Taken once only.
        let _ = self.gone.set(Gone { actions, reason });
        Ok(())
    }

    /// What went, once the place was taken.
    pub fn gone(&self) -> Option<&Gone> {
        self.gone.get()
    }
}
