//! A store with a fault, in front of a good one.

use std::sync::Arc;
use std::time::Duration;

use airlock_host::Resolution;
use airlock_host::pending::{ActionId, DecidedBy, Denial, DenialRecord, SessionId, StackedAction};
use airlock_host::store::{
    BackendErrorKind, Claim, Claims, Completion, Denials, Lease, PendingStore, Push, Replacement,
    SessionRoom, Stacks, Standing, StoreError, Watch,
};
use airlock_tests::Host;
use async_trait::async_trait;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It breaks after the claim: nothing more is recorded.
    BrokenOnceClaimed,
    /// It breaks after an apply: that the claim was still held is confirmed, and nothing more is
    /// recorded.
    BrokenOnceApplied,
    /// It can't be read before a push.
    UnreadableForPushes,
    /// It has no room for what would take the place of something else.
    FullForReplacements,
    /// It keeps no denials.
    ClosedToDenials,
    /// It doesn't answer when a lease is to be renewed, as one that a network has cut off.
    DeafToRenewals,
}

/// What a session gets instead of the host's own store.
pub fn with_fault(host: &Host, fault: Fault) -> Host {
    let inner = host.store.clone();
    let faulty = Arc::new(Faulty { inner, fault });
    Host {
        store: PendingStore {
            stacks: faulty.clone(),
            claims: faulty.clone(),
            denials: faulty,
            ..host.store.clone()
        },
        durable: None,
        ..host.clone()
    }
}

#[derive(Debug)]
struct Faulty {
    inner: PendingStore,
    fault: Fault,
}

impl Faulty {
    fn check(&self) -> Result<(), StoreError> {
        match self.fault {
            Fault::BrokenOnceClaimed | Fault::BrokenOnceApplied => Err(full()),
            Fault::UnreadableForPushes
            | Fault::FullForReplacements
            | Fault::ClosedToDenials
            | Fault::DeafToRenewals => Ok(()),
        }
    }
}

fn full() -> StoreError {
    StoreError::backend(BackendErrorKind::NoSpace, "of a test", "is full")
}

#[async_trait]
impl Stacks for Faulty {
    async fn push(&self, push: Push) -> Result<(), StoreError> {
        self.inner.stacks.push(push).await
    }

    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        match self.fault {
            Fault::FullForReplacements => Err(full()),
            _ => self.inner.stacks.replace(push, replacement).await,
        }
    }

    async fn room(&self, session: &SessionId, more: u64) -> Result<SessionRoom, StoreError> {
        match self.fault {
            Fault::UnreadableForPushes => Err(full()),
            _ => self.inner.stacks.room(session, more).await,
        }
    }

    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError> {
        self.inner.stacks.peek(session).await
    }

    async fn standing(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Standing, StoreError> {
        self.inner.stacks.standing(session, action).await
    }

    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError> {
        self.inner.stacks.list(session).await
    }

    fn lose(&self, session: &SessionId, actions: &[ActionId]) {
        if self.check().is_ok() {
            self.inner.stacks.lose(session, actions);
        }
    }

    fn watch(&self, session: &SessionId) -> Watch {
        self.inner.stacks.watch(session)
    }
}

#[async_trait]
impl Claims for Faulty {
    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        self.inner
            .claims
            .claim(session, resolution, decided_by)
            .await
    }

    fn lease_time(&self) -> Option<Duration> {
        self.inner.claims.lease_time()
    }

    async fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        if self.fault == Fault::DeafToRenewals {
            return std::future::pending().await;
        }
        if self.fault != Fault::BrokenOnceApplied {
            self.check()?;
        }
        self.inner.claims.renew(lease).await
    }

    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError> {
        self.check()?;
        self.inner.claims.complete(lease, completion).await
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        self.check()?;
        self.inner.claims.requeue(lease, failure).await
    }

    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError> {
        self.check()?;
        self.inner.claims.recovered(lease, what).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.check()?;
        self.inner.claims.release(lease).await
    }

    fn abandon(&self, lease: Lease) {
        if self.check().is_ok() {
            self.inner.claims.abandon(lease);
        }
    }
}

#[async_trait]
impl Denials for Faulty {
    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError> {
        match self.fault {
            Fault::ClosedToDenials => Err(full()),
            _ => {
                self.inner
                    .denials
                    .record_denial(session, action, denial)
                    .await
            }
        }
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        self.inner.denials.denials(session, action).await
    }
}
