//! Discarding what nobody decided about in time.

use std::time::SystemTime;

use airlock_model::actor::Actor;
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, ActionState, EXPIRED, Resolution};
use futures_util::future::BoxFuture;

use super::Session;

/// Whose decision it is in the audit trail.
const DECIDED_BY: &str = "airlock";

impl Session {
    /// Discards what has [expired](super::SessionBuilder::pending_expires_after), and tells which
    /// actions that were. Their tools hear of it where they asked for that. What somebody has tried
    /// to apply, or is resolving, stays.
    ///
    /// [`Session::next_turn`] does so by itself, so that no model is made to decide about it.
    ///
    /// # Errors
    /// [`Error::Store`] where the store can't be used. Without a store nothing is pending.
    pub async fn discard_expired(&self) -> Result<Vec<ActionId>, Error> {
        let now = SystemTime::now();
        let mut discarded = Vec::new();
        for stacked in self.pending().await? {
            let is_untried = stacked.attempts == 0 && stacked.state != ActionState::Interrupted;
            if is_untried && stacked.action.has_expired(now) {
                let id = &stacked.action.id;
                if self.discard_one_expired(id).await? {
                    discarded.push(id.clone());
                }
            }
        }
        Ok(discarded)
    }

    /// Whether it was this session that did it.
    pub(super) fn discard_one_expired<'a>(
        &'a self,
        id: &'a ActionId,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            let discard = Resolution::discard(EXPIRED).with_id(id.clone());
            let by = Actor::program(DECIDED_BY).into();
            match self.resolve_once(discard, by, None).await {
                Ok(_) => Ok(true),
                Err(error @ (Error::Store(_) | Error::Busy { .. })) => Err(error),
                Err(
                    Error::AlreadyResolved { .. }
                    | Error::ResolutionInProgress(_)
                    | Error::UnknownAction(_),
                ) => Ok(false),
                // A reject that fails is the end of its action all the same.
                Err(_) => Ok(true),
            }
        })
    }
}
