//! A store with a fault, in front of a good one.

use std::sync::Arc;
use std::time::Duration;

use airlock_host::Resolution;
use airlock_host::digest::Digest;
use airlock_host::effects::{EffectsRecord, PackedEffects};
use airlock_host::pending::{
    ActionId, CallRecord, DecidedBy, Denial, DenialRecord, SessionId, StackedAction,
};
use airlock_host::store::{
    BackendErrorKind, Budget, Claim, Completion, Lease, PendingStore, PluginBytes, Push,
    Replacement, SessionRoom, Spending, Spent, Standing, StoreError, Watch,
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
    let inner = Arc::clone(&host.store);
    Host {
        name: host.name.clone(),
        store: Arc::new(Faulty { inner, fault }),
        durable: None,
    }
}

#[derive(Debug)]
struct Faulty {
    inner: Arc<dyn PendingStore>,
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
impl PendingStore for Faulty {
    async fn push(&self, push: Push) -> Result<(), StoreError> {
        self.inner.push(push).await
    }

    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        match self.fault {
            Fault::FullForReplacements => Err(full()),
            _ => self.inner.replace(push, replacement).await,
        }
    }

    async fn room(&self, session: &SessionId, more: u64) -> Result<SessionRoom, StoreError> {
        match self.fault {
            Fault::UnreadableForPushes => Err(full()),
            _ => self.inner.room(session, more).await,
        }
    }

    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError> {
        self.inner.peek(session).await
    }

    async fn standing(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Standing, StoreError> {
        self.inner.standing(session, action).await
    }

    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError> {
        self.inner.list(session).await
    }

    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        self.inner.claim(session, resolution, decided_by).await
    }

    fn lease_time(&self) -> Option<Duration> {
        self.inner.lease_time()
    }

    async fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        if self.fault == Fault::DeafToRenewals {
            return std::future::pending().await;
        }
        if self.fault != Fault::BrokenOnceApplied {
            self.check()?;
        }
        self.inner.renew(lease).await
    }

    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError> {
        self.check()?;
        self.inner.complete(lease, completion).await
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        self.check()?;
        self.inner.requeue(lease, failure).await
    }

    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError> {
        self.check()?;
        self.inner.recovered(lease, what).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.check()?;
        self.inner.release(lease).await
    }

    fn abandon(&self, lease: Lease) {
        if self.check().is_ok() {
            self.inner.abandon(lease);
        }
    }

    fn lose(&self, session: &SessionId, actions: &[ActionId]) {
        if self.check().is_ok() {
            self.inner.lose(session, actions);
        }
    }

    async fn plugin(&self, digest: Digest) -> Result<Option<PluginBytes>, StoreError> {
        self.inner.plugin(digest).await
    }

    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        self.inner.call_record(session, action).await
    }

    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        self.inner
            .keep_effects(session, action, effects, capacity_bytes)
            .await
    }

    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError> {
        self.inner.effects(session, action).await
    }

    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.guest_state(session, action).await
    }

    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError> {
        match self.fault {
            Fault::ClosedToDenials => Err(full()),
            _ => self.inner.record_denial(session, action, denial).await,
        }
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        self.inner.denials(session, action).await
    }

    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError> {
        self.inner.spend(account, action, spending, budget).await
    }

    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError> {
        self.inner.spent(account, within).await
    }

    fn watch(&self, session: &SessionId) -> Watch {
        self.inner.watch(session)
    }
}
