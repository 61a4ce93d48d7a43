//! Discarding all that is pending.

use airlock_model::actor::DecidedBy;
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, Resolution};
use tokio_util::sync::CancellationToken;

use super::Session;
use super::cancellable::{Cancellable, Work};

impl Session {
    /// Discards all that is pending, the topmost first, and tells which actions that were. Their
    /// tools hear of it where they asked for that, and whatever they say, the actions are gone.
    /// What somebody else is resolving meanwhile stays.
    ///
    /// # Errors
    /// Those of [`Session::resolve`] that leave an action where it was, say [`Error::Store`] and
    /// [`Error::Cancelled`]; those above it are discarded then.
    pub fn clear<'a>(
        &'a self,
        reason: &'a str,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, impl Work<'a, Output = Result<Vec<ActionId>, Error>>> {
        let decided_by = decided_by.into();
        Cancellable::new(move |cancel| self.clear_until(reason, decided_by, cancel))
    }

    async fn clear_until(
        &self,
        reason: &str,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<ActionId>, Error> {
        let mut discarded = Vec::new();
        for stacked in self.pending().await? {
            let id = stacked.action.id.clone();
            let discard = Resolution::discard(reason).with_id(id.clone());
            match self
                .resolve_until(discard, decided_by.clone(), cancel)
                .await
            {
                Ok(_) => discarded.push(id),
                Err(
                    Error::AlreadyResolved { .. }
                    | Error::ResolutionInProgress(_)
                    | Error::UnknownAction(_),
                ) => {}
                // A reject that fails is the end of its action all the same.
                Err(error) if self.is_pending(&id).await? => return Err(error),
                Err(_) => discarded.push(id),
            }
        }
        Ok(discarded)
    }

    async fn is_pending(&self, id: &ActionId) -> Result<bool, Error> {
        let pending = self.pending().await?;
        Ok(pending.iter().any(|stacked| stacked.action.id == *id))
    }
}
