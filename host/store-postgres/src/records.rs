//! Records of actions.

use airlock_model::call_record::CallRecord;
use airlock_model::digest::Digest;
use airlock_model::effects::{EffectsRecord, PackedEffects};
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::{ActionBasis, PluginBytes, Records, StoreError};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use super::calls::{call, call_columns};
use super::connections::Statement;
use super::effects::{effects, effects_columns};
use super::problem::Failure;
use super::record::{get, text};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStore, session_key};

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
        let rows = self.inner.read(&find).await?;
        let plugin = |row: &PgRow| {
            Ok(PluginBytes {
                digest,
                name: text(row, "name")?.into(),
                bytes: get::<Vec<u8>>(row, "bytes")?.into(),
            })
        };
        let plugin: Result<_, Failure> = rows.first().map(plugin).transpose();
        plugin.map_err(|failure| self.inner.error(failure))
    }

    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        let find = Statement::new(CALL_RECORD)
            .bind(escaped(action.as_str()))
            .bind(session_key(session));
        let rows = self.inner.read(&find).await?;
        let found = rows.first().map(call).transpose();
        found.map_err(|error| self.inner.error(error))
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
        let find = Statement::new(EFFECTS)
            .bind(escaped(action.as_str()))
            .bind(session_key(session));
        let rows = self.inner.read(&find).await?;
        let found = rows.first().map(effects).transpose();
        Ok(found.map_err(|error| self.inner.error(error))?.flatten())
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
        let find = Statement::new(GUEST_STATE)
            .bind(escaped(action.as_str()))
            .bind(session_key(session));
        let rows = self.inner.read(&find).await?;
        let state = rows
            .first()
            .map(|row| get::<Option<Vec<u8>>>(row, "guest_state"));
        let state = state.transpose().map_err(|error| self.inner.error(error))?;
        Ok(state.flatten())
    }
}
