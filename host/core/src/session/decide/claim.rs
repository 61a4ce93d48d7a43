//! Claims an action for a decision.

use std::sync::Arc;
use std::time::SystemTime;

use airlock_model::error::Error;
use airlock_model::pending::{ActionId, Decision, NamedAction, PendingAction, StackedAction};
use airlock_model::store::{BackendErrorKind, Claim, Claimed, Standing, StoreError};

use super::Decisions;
use super::approve::Asked;
use super::lease::{HeldLease, LeaseStart};

/// The number of times another session may interfere before the store counts as inconsistent.
const ROUNDS: usize = 16;

/// An action that this decision holds.
pub(super) struct HeldAction<'a> {
    pub action: Arc<PendingAction>,
    pub guest_state: Option<Vec<u8>>,
    /// Counts the claims to apply the action, from 1.
    pub attempt: u32,
    pub lease: HeldLease<'a>,
}

impl Decisions {
    /// Claims the action that the resolution names, or the topmost one.
    ///
    /// # Errors
    /// The reason why nothing was claimed; [`Error::Store`].
    pub(super) async fn claim(&self, asked: &Asked) -> Result<HeldAction<'_>, Error> {
        let claims = self.base.claims()?;
        let start = LeaseStart::now(claims);
        let claim = claims.claim(self.base.id(), &asked.resolution, &asked.decided_by);
        let claimed = claimed(claim.await?)?;
        Ok(HeldAction {
            action: claimed.action,
            guest_state: claimed.guest_state,
            attempt: claimed.attempt,
            lease: HeldLease::new(claims, claimed.lease, start),
        })
    }

    /// Returns the action with this id from the stack.
    ///
    /// # Errors
    /// The reason why it is not there, as a claim would give it.
    pub(super) async fn find(&self, id: &ActionId) -> Result<StackedAction, Error> {
        for _ in 0..ROUNDS {
            if let Some(found) = self.base.stack.find(Some(id)).await? {
                return Ok(found);
            }
            match self.base.stacks()?.standing(self.base.id(), id).await? {
                // It has come back since.
                Standing::Pending => {}
                standing => drop(claimed(Claim::refused(id.clone(), standing))?),
            }
        }
        let problem =
            format!("contradicts itself: the action {id} is pending, and is not on the stack");
        Err(StoreError::backend(BackendErrorKind::Other, "of this session", problem).into())
    }

    /// Checks that a claimed action may be resolved now and here.
    pub(super) fn check_claimed(
        &self,
        claimed: &HeldAction<'_>,
        asked: &Asked,
    ) -> Result<(), Error> {
        let (action, attempt) = (&claimed.action, claimed.attempt);
        let is_apply = asked.resolution.decision == Decision::Apply;
        let known = asked.resolution.attempts.filter(|_| is_apply);
        if known.is_some_and(|known| attempt != known + 1) {
            return Err(Error::Refused {
                action: Box::new(NamedAction::from(&**action)),
                reason: "another apply was tried since the decision; decide again".to_owned(),
            });
        }
        let is_first = is_apply && attempt == 1;
        if is_first && action.has_expired(SystemTime::now()) {
            return Err(Error::Expired(action.id.clone()));
        }
        let place = &self.base.place;
        let refused = place.refused_here(action, &asked.resolution, attempt);
        refused.map_or(Ok(()), Err)
    }
}

/// # Errors
/// The reason why nothing was claimed.
fn claimed(claim: Claim) -> Result<Claimed, Error> {
    match claim {
        Claim::Claimed(claimed) => Ok(claimed),
        Claim::NothingPending => Err(Error::NothingPending),
        Claim::Unknown(id) => Err(Error::UnknownAction(id)),
        Claim::InProgress(id) => Err(Error::ResolutionInProgress(id)),
        Claim::Resolved(id, decision) => Err(Error::AlreadyResolved { id, decision }),
    }
}
