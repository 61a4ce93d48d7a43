//! Claims in the in-memory store.

use async_trait::async_trait;

use super::MemoryStore;
use super::stack::{Open, Stack};
use crate::actor::DecidedBy;
use crate::pending::{Decision, Interruption, Resolution, SessionId};
use crate::store::rows::lose_claim;
use crate::store::{Claim, Claims, Completion, Lease, StoreError};

#[async_trait]
impl Claims for MemoryStore {
    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        _: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        let claim = self.with(
            |sessions| match (sessions.get_mut(session), &resolution.id) {
                (Some(stack), _) => stack.claim(session, resolution),
                (None, Some(id)) => Claim::Unknown(id.clone()),
                (None, None) => Claim::NothingPending,
            },
        );
        if matches!(claim, Claim::Claimed(_)) {
            self.watchers.notify(session);
        }
        Ok(claim)
    }

    async fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        let held = self.with(|sessions| sessions.get(&lease.session)?.claimed(lease));
        match held {
            Some(_) => Ok(()),
            None => Err(StoreError::LeaseLost(lease.action.clone())),
        }
    }

    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, position, decision| {
            let decision = match completion {
                Completion::AppliedBefore { .. } => Decision::Apply,
                Completion::Succeeded(_) | Completion::RejectFailed(_) => decision,
            };
            let open = stack.open.remove(position);
            stack.bytes -= open.bytes;
            stack.remember(open.action.id.clone(), decision);
        })
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, position, _| {
            let open = stack.open.remove(position);
            stack.open.push(Open {
                last_error: Some(failure.to_owned()),
                interruption: Interruption::None,
                claim: None,
                ..open
            });
        })
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, position, decision| {
            stack.open[position].unclaim(decision);
        })
    }

    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, position, decision| {
            let open = &mut stack.open[position];
            open.unclaim(decision);
            open.interruption = Interruption::None;
            open.last_error = Some(what.to_owned());
        })
    }

    fn abandon(&self, lease: Lease) {
        // If the claim is gone already, there is nothing to put back.
        let _ = self.end_claim(lease, |stack, position, decision| {
            let open = &mut stack.open[position];
            open.claim = None;
            lose_claim(decision, &mut open.interruption, &mut open.last_error);
        });
    }
}

impl MemoryStore {
    fn end_claim(
        &self,
        lease: Lease,
        end: impl FnOnce(&mut Stack, usize, Decision),
    ) -> Result<(), StoreError> {
        let ended = self.with(|sessions| {
            let stack = sessions.get_mut(&lease.session)?;
            let (position, decision) = stack.claimed(&lease)?;
            end(stack, position, decision);
            Some(())
        });
        match ended {
            Some(()) => {
                self.watchers.notify(&lease.session);
                Ok(())
            }
            None => Err(StoreError::LeaseLost(lease.action)),
        }
    }
}
