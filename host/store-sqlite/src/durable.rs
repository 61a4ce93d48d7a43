//! What operators ask, and what a host does for them by itself.

use std::collections::HashSet;
use std::time::Duration;

use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::{
    ActionRecord, DETAILS_KEPT, DurableStore, Pruned, ResolvedQuery, StoreError, StoreStats,
    UnreadableAction,
};
use async_trait::async_trait;

use super::problem::Problem;
use super::{SqliteStore, blocking, listing, room, upkeep};

#[async_trait]
impl DurableStore for SqliteStore {
    async fn find(&self, id: &ActionId) -> Result<Option<ActionRecord>, StoreError> {
        let id = id.clone();
        self.read(move |connection| upkeep::find(connection, &id))
            .await
    }

    async fn open_actions(
        &self,
        session: Option<&SessionId>,
    ) -> Result<Vec<ActionRecord>, StoreError> {
        let session = session.cloned();
        self.read(move |connection| listing::open_actions(connection, session.as_ref()))
            .await
    }

    async fn resolved_actions(
        &self,
        query: &ResolvedQuery,
    ) -> Result<Vec<ActionRecord>, StoreError> {
        let query = query.clone();
        self.read(move |connection| listing::resolved_actions(connection, &query))
            .await
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        self.read(upkeep::stats).await
    }

    async fn check(&self) -> Result<Vec<String>, StoreError> {
        self.read(upkeep::check).await
    }

    async fn prune(&self, age: Duration) -> Result<Pruned, StoreError> {
        let actions = self.forget_actions(age).await?;
        let plugins = self
            .inner
            .writer
            .write(|connection| upkeep::forget_plugins(connection, &HashSet::new()))
            .await?;
        self.give_all_back().await?;
        Ok(Pruned::new(actions, plugins))
    }

    async fn retention(&self) -> Result<Option<Duration>, StoreError> {
        self.read(upkeep::retention).await
    }

    async fn set_retention(&self, retention: Option<Duration>) -> Result<(), StoreError> {
        let work = move |connection: &_| upkeep::set_retention(connection, retention);
        self.inner.writer.write(work).await?;
        *self
            .inner
            .pruned
            .lock()
            .unwrap_or_else(|it| it.into_inner()) = None;
        Ok(())
    }

    async fn byte_limit(&self) -> Result<Option<u64>, StoreError> {
        self.read(room::limit).await
    }

    async fn set_byte_limit(&self, limit: Option<u64>) -> Result<(), StoreError> {
        let work = move |connection: &_| room::set_limit(connection, limit);
        self.inner.writer.write(work).await
    }

    async fn unreadable_actions(&self) -> Result<Vec<UnreadableAction>, StoreError> {
        self.read(listing::unreadable).await
    }

    fn location(&self) -> String {
        self.inner.path.display().to_string()
    }
}

impl SqliteStore {
    /// What a host does now and then: a part of it at a time, so that nobody waits long for a
    /// commit of their own.
    pub(super) async fn keep_tidy(&self) -> Result<(), StoreError> {
        if let Some(age) = self.retention().await? {
            self.forget_actions(age).await?;
        }
        let writer = &self.inner.writer;
        while writer
            .write(|connection| upkeep::forget_details(connection, DETAILS_KEPT))
            .await?
        {}
        let pushing = self.inner.pushing().clone();
        let work = move |connection: &_| upkeep::forget_plugins(connection, &pushing);
        writer.write(work).await?;
        self.shrink().await
    }

    async fn forget_actions(&self, age: Duration) -> Result<u64, StoreError> {
        let old = self.read(move |connection| upkeep::resolved_before(connection, age));
        let mut forgotten = 0;
        for numbers in old.await?.chunks(upkeep::PRUNED_AT_ONCE) {
            let numbers = numbers.to_vec();
            let work = move |connection: &_| upkeep::forget_actions(connection, &numbers);
            forgotten += self.inner.writer.write(work).await?;
        }
        Ok(forgotten)
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        while self.inner.writer.write(room::give_back).await? {}
        Ok(())
    }

    /// Also of a file that an older version made, which takes writing it anew.
    async fn give_all_back(&self) -> Result<(), StoreError> {
        self.shrink().await?;
        let inner = std::sync::Arc::clone(&self.inner);
        blocking(move || {
            let failed = |error| Problem::Sqlite(error).at(&inner.path);
            let connection = inner.readers.connect().map_err(failed)?;
            room::rewrite_where_loose(&connection).map_err(failed)
        })
        .await
    }
}
