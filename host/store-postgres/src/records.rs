//! Records of actions.

use airlock_model::call_record::CallRecord;
use airlock_model::digest::Digest;
use airlock_model::effects::{EffectsRecord, PackedEffects};
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::{ActionBasis, PluginBytes, Records, StoreError};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use super::PostgresStore;
use super::calls::{call, call_columns};
use super::connections::Statement;
use super::effects::{effects, effects_columns};
use super::record::{get, text};
use super::schema::same_schema;

const PLUGIN: &str = concat!(
    "SELECT name, bytes FROM airlock.plugins WHERE digest = $1 AND ",
    same_schema!()
);

const CALL_RECORD: &str = concat!(
    "SELECT ",
    call_columns!(),
    " FROM airlock.calls AS c
    JOIN airlock.actions AS a ON a.call = c.id WHERE a.id = $1 AND a.session = $2 AND ",
    same_schema!()
);

const EFFECTS: &str = concat!(
    "SELECT ",
    effects_columns!(),
    " FROM airlock.actions AS a WHERE a.id = $1 AND a.session = $2 AND ",
    same_schema!()
);

const GUEST_STATE: &str = concat!(
    "SELECT guest_state FROM airlock.actions WHERE id = $1 AND session = $2 AND open AND ",
    same_schema!()
);

#[async_trait]
impl Records for PostgresStore {
    async fn plugin(&self, digest: Digest) -> Result<Option<PluginBytes>, StoreError> {
        let find = Statement::new(PLUGIN).bind(digest.to_string());
        let plugin = |row: &PgRow| {
            Ok(PluginBytes {
                digest,
                name: text(row, "name")?.into(),
                bytes: get::<Vec<u8>>(row, "bytes")?.into(),
            })
        };
        self.inner.first(&find, plugin).await
    }

    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        let find = Statement::of_action(CALL_RECORD, session, action);
        self.inner.first(&find, call).await
    }

    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        let kept = self
            .inner
            .keep_effects(session, action, effects, capacity_bytes);
        kept.await?;
        self.inner.notifier.tell(session);
        Ok(())
    }

    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError> {
        let find = Statement::of_action(EFFECTS, session, action);
        Ok(self.inner.first(&find, effects).await?.flatten())
    }

    async fn bases(
        &self,
        session: &SessionId,
        actions: &[ActionId],
    ) -> Result<Vec<ActionBasis>, StoreError> {
        self.inner.bases(session, actions).await
    }

    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let find = Statement::of_action(GUEST_STATE, session, action);
        let state = self.inner.first(&find, |row| get(row, "guest_state"));
        Ok(state.await?.flatten())
    }
}
