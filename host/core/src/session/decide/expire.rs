//! Discards actions that were not decided in time.

use std::time::SystemTime;

use airlock_model::actor::Actor;
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, ActionState, EXPIRED, Resolution};
use futures_util::future::BoxFuture;

use super::Decisions;

/// Name of the decider in the audit trail.
const DECIDED_BY: &str = "airlock";

impl Decisions {
    /// Discards the actions that have expired, and returns their ids.
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

    /// Discards one expired action. Returns whether this session did it.
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
                // A failed reject still ends its action.
                Err(_) => Ok(true),
            }
        })
    }
}
