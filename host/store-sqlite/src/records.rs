//! Records of actions.

use airlock_model::call_record::CallRecord;
use airlock_model::digest::Digest;
use airlock_model::effects::{EffectsRecord, PackedEffects};
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::{ActionBasis, PluginBytes, Records, StoreError};
use async_trait::async_trait;

use super::bases::PackedBases;
use super::{SqliteStore, bases, calls, effects, maintenance};

#[async_trait]
impl Records for SqliteStore {
    async fn plugin(&self, digest: Digest) -> Result<Option<PluginBytes>, StoreError> {
        self.read(move |connection| maintenance::plugin(connection, digest))
            .await
    }

    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        let find = move |connection: &_| calls::find(connection, &session, &action);
        self.read_then(find, calls::unpacked).await
    }

    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        let (of, action, effects) = (session.clone(), action.clone(), effects.clone());
        let work =
            move |connection: &_| effects::keep(connection, &of, &action, &effects, capacity_bytes);
        self.inner.writer.write_late(work).await?;
        self.inner.watchers.notify(session);
        Ok(())
    }

    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        let find = move |connection: &_| effects::find(connection, &session, &action);
        self.read_then(find, effects::unpacked).await
    }

    async fn bases(
        &self,
        session: &SessionId,
        actions: &[ActionId],
    ) -> Result<Vec<ActionBasis>, StoreError> {
        let (session, actions) = (session.clone(), actions.to_vec());
        let find = move |connection: &_| bases::find(connection, &session, &actions);
        self.read_then(find, PackedBases::unpacked).await
    }

    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        self.read(move |connection| effects::guest_state(connection, &session, &action))
            .await
    }
}
