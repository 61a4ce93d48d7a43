//! Operations for operators, and periodic maintenance.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::{
    ActionOutline, ActionRecord, DETAILS_KEPT, DeniedAction, DurableStore, Pruned, ResolvedQuery,
    Scope, StoreError, StoreStats, UnreadableAction,
};
use async_trait::async_trait;

use super::{
    SqliteStore, SqliteStoreInner, capacity, denials, listing, maintenance, spending, stack,
};

/// Interval at which a host looks for expired data.
const PRUNE_EVERY: Duration = Duration::from_secs(3600);

#[async_trait]
impl DurableStore for SqliteStore {
    async fn find(&self, id: &ActionId) -> Result<Option<ActionRecord>, StoreError> {
        let id = id.clone();
        self.read(move |connection| maintenance::find(connection, &id))
            .await
    }

    async fn ids_like(&self, part: &str, most: usize) -> Result<Vec<ActionId>, StoreError> {
        let part = part.to_owned();
        self.read(move |connection| listing::ids_like(connection, &part, most))
            .await
    }

    async fn open_actions(&self, scope: Scope<'_>) -> Result<Vec<ActionRecord>, StoreError> {
        let open = listing::Open::of(scope);
        self.read(move |connection| open.list(connection)).await
    }

    async fn open_sessions(
        &self,
        after: Option<&SessionId>,
        most: usize,
    ) -> Result<Vec<SessionId>, StoreError> {
        let after = after.cloned();
        self.read(move |connection| listing::open_sessions(connection, after.as_ref(), most))
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

    async fn denied_actions(&self, query: &ResolvedQuery) -> Result<Vec<DeniedAction>, StoreError> {
        let query = query.clone();
        self.read(move |connection| denials::latest(connection, &query))
            .await
    }

    async fn outlines(
        &self,
        after: Option<&ActionId>,
        most: usize,
    ) -> Result<Vec<ActionOutline>, StoreError> {
        let after = after.cloned();
        self.read(move |connection| listing::outlines(connection, after.as_ref(), most))
            .await
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        self.read(maintenance::stats).await
    }

    async fn check(&self) -> Result<Vec<String>, StoreError> {
        self.read_apart(maintenance::check).await
    }

    async fn prune(&self, age: Duration) -> Result<Pruned, StoreError> {
        let actions = self.forget_actions(age).await?;
        self.forget_spendings().await?;
        let plugins = self
            .inner
            .writer
            .write(|connection| maintenance::forget_plugins(connection, &HashSet::new()))
            .await?;
        self.give_all_back().await?;
        Ok(Pruned::new(actions, plugins))
    }

    async fn forget(&self, id: &ActionId) -> Result<bool, StoreError> {
        let id = id.clone();
        let work = move |connection: &_| maintenance::forget(connection, &id);
        self.inner.writer.write(work).await
    }

    async fn retention(&self) -> Result<Option<Duration>, StoreError> {
        self.read(maintenance::retention).await
    }

    async fn set_retention(&self, retention: Option<Duration>) -> Result<(), StoreError> {
        let work = move |connection: &_| maintenance::set_retention(connection, retention);
        self.inner.writer.write(work).await?;
        *self
            .inner
            .pruned
            .lock()
            .unwrap_or_else(|it| it.into_inner()) = None;
        Ok(())
    }

    async fn byte_limit(&self) -> Result<Option<u64>, StoreError> {
        self.read(capacity::limit).await
    }

    async fn set_byte_limit(&self, limit: Option<u64>) -> Result<(), StoreError> {
        let work = move |connection: &_| capacity::set_limit(connection, limit);
        self.inner.writer.write(work).await
    }

    async fn unreadable_actions(&self) -> Result<Vec<UnreadableAction>, StoreError> {
        self.read_apart(listing::unreadable).await
    }

    fn location(&self) -> String {
        self.inner.path.display().to_string()
    }
}

impl SqliteStore {
    /// Returns pages in the background, so that a caller who waits for a decision does not wait
    /// for it.
    pub(super) fn give_pages_back(&self) {
        self.inner
            .writer
            .write_later(|connection| capacity::give_back(connection).map(drop));
    }

    /// Prunes expired data from time to time.
    pub(super) fn prune_sometimes(&self) {
        let mut pruned = self
            .inner
            .pruned
            .lock()
            .unwrap_or_else(|it| it.into_inner());
        if pruned.is_some_and(|last| last.elapsed() < PRUNE_EVERY) {
            return;
        }
        *pruned = Some(Instant::now());
        let store = self.clone();
        tokio::spawn(async move {
            if let Err(error) = store.keep_tidy().await {
                tracing::warn!("could not forget old actions: {error}");
            }
        });
    }

    /// Runs periodic maintenance in small steps, so that other commits don't wait long.
    async fn keep_tidy(&self) -> Result<(), StoreError> {
        if let Some(age) = self.retention().await? {
            self.forget_actions(age).await?;
        }
        self.forget_spendings().await?;
        let writer = &self.inner.writer;
        while writer
            .write(|connection| maintenance::forget_details(connection, DETAILS_KEPT))
            .await?
        {}
        let pushing = self.inner.pushing().clone();
        let work = move |connection: &_| maintenance::forget_plugins(connection, &pushing);
        writer.write(work).await?;
        self.shrink().await
    }

    async fn forget_actions(&self, age: Duration) -> Result<u64, StoreError> {
        let old = move |connection: &_| maintenance::resolved_before(connection, age);
        let old = self.read_apart(old);
        let mut forgotten = 0;
        for numbers in old.await?.chunks(maintenance::PRUNED_AT_ONCE) {
            let numbers = numbers.to_vec();
            let work = move |connection: &_| maintenance::forget_actions(connection, &numbers);
            forgotten += self.inner.writer.write(work).await?;
        }
        Ok(forgotten)
    }

    async fn forget_spendings(&self) -> Result<(), StoreError> {
        let work = |connection: &_| spending::forget_all_old(connection, spending::now());
        self.inner.writer.write(work).await
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        while self.inner.writer.write(capacity::give_back).await? {}
        Ok(())
    }

    /// Returns all free pages, even of a file from an older version, which must be rewritten for
    /// that.
    async fn give_all_back(&self) -> Result<(), StoreError> {
        self.shrink().await?;
        self.with_inner(|inner| {
            let connection = inner.readers.connect()?;
            Ok(capacity::rewrite_where_loose(&connection)?)
        })
        .await
    }
}

impl Drop for SqliteStoreInner {
    fn drop(&mut self) {
        // This host will not push again, but the next host may need the same plugins.
        let plugins = std::mem::take(&mut *self.pushing());
        if !plugins.is_empty() {
            self.writer.write_later(move |connection| {
                if !capacity::is_tight(connection)? {
                    return Ok(());
                }
                for plugin in &plugins {
                    stack::forget_plugin(connection, plugin)?;
                }
                Ok(())
            });
        }
    }
}
