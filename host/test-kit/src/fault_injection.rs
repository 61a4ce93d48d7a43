//! Fault injection: a store that never learns how an apply ended, as if its host had been killed
//! at that moment.

use std::sync::Arc;

use airlock_host::Resolution;
use airlock_host::pending::{DecidedBy, SessionId};
use airlock_host::store::{
    Claim, Claims, Completion, Lease, MemoryStore, PendingStore, StoreError,
};
use async_trait::async_trait;

/// Returns a store in memory that keeps applied actions on the stack as interrupted.
pub fn unacknowledged() -> PendingStore {
    let store = MemoryStore::new();
    PendingStore {
        claims: Arc::new(Unacknowledged(store.clone())),
        ..Arc::new(store).into()
    }
}

#[derive(Debug)]
struct Unacknowledged(MemoryStore);

#[async_trait]
impl Claims for Unacknowledged {
    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        self.0.claim(session, resolution, decided_by).await
    }

    async fn complete(&self, lease: Lease, _: Completion<'_>) -> Result<(), StoreError> {
        self.0.abandon(lease);
        Ok(())
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        self.0.requeue(lease, failure).await
    }

    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError> {
        self.0.recovered(lease, what).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.0.release(lease).await
    }

    fn abandon(&self, lease: Lease) {
        self.0.abandon(lease);
    }
}
