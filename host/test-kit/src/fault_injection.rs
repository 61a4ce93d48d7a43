//! Fault injection: a store that never learns how an apply ended, as if its host had been killed
//! at that moment.

use std::time::Duration;

use airlock_host::Resolution;
use airlock_host::effects::{EffectsRecord, PackedEffects};
use airlock_host::pending::{
    ActionId, CallRecord, DecidedBy, Denial, DenialRecord, SessionId, StackedAction,
};
use airlock_host::store::{
    Budget, Claim, Completion, Lease, MemoryStore, PendingStore, Push, Replacement, SessionRoom,
    Spending, Spent, Standing, StoreError, Watch,
};
use async_trait::async_trait;

/// Keeps applied actions on the stack as interrupted. Otherwise works like the memory store.
#[derive(Debug, Clone, Default)]
pub struct UnacknowledgedStore(MemoryStore);

#[async_trait]
impl PendingStore for UnacknowledgedStore {
    async fn push(&self, push: Push) -> Result<(), StoreError> {
        self.0.push(push).await
    }

    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        self.0.replace(push, replacement).await
    }

    async fn room(&self, session: &SessionId, more: u64) -> Result<SessionRoom, StoreError> {
        self.0.room(session, more).await
    }

    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError> {
        self.0.peek(session).await
    }

    async fn standing(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Standing, StoreError> {
        self.0.standing(session, action).await
    }

    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError> {
        self.0.list(session).await
    }

    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        self.0.claim(session, resolution, decided_by).await
    }

    fn lease_time(&self) -> Option<Duration> {
        self.0.lease_time()
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

    fn lose(&self, session: &SessionId, actions: &[ActionId]) {
        self.0.lose(session, actions);
    }

    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        self.0.call_record(session, action).await
    }

    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        self.0
            .keep_effects(session, action, effects, capacity_bytes)
            .await
    }

    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError> {
        self.0.effects(session, action).await
    }

    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.guest_state(session, action).await
    }

    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError> {
        self.0.record_denial(session, action, denial).await
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        self.0.denials(session, action).await
    }

    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError> {
        self.0.spend(account, action, spending, budget).await
    }

    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError> {
        self.0.spent(account, within).await
    }

    fn watch(&self, session: &SessionId) -> Watch {
        self.0.watch(session)
    }
}
