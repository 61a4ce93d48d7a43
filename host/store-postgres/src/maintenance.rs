//! Deletes data that is no longer needed.

use std::collections::HashSet;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use airlock_model::digest::Digest;
use airlock_model::pending::ActionId;
use airlock_model::store::{DETAILS_KEPT, Pruned, StoreError};
use sqlx::raw_sql;
use tokio::time::Instant;

use super::PostgresStoreInner;
use super::connections::Statement;
use super::problem::Failure;
use super::record::{get, micros};
use super::schema::same_schema;
use super::text::escaped;

/// Maximum number of rows that one statement deletes, to keep it short.
const BATCH: i64 = 1000;

/// Maximum number of rows that a host deletes in one run.
const BATCH_ROWS: u64 = 5000;

/// Interval between the runs of a host.
const INTERVAL: Duration = Duration::from_secs(3600);

/// Pause before the next run if there is more to delete.
const GOES_ON: Duration = Duration::from_secs(60);

/// Deletes the oldest rows first, so a batch that deletes nothing is the last one. Rows that
/// others are deleting are skipped.
const PRUNE: &str = concat!(
    "WITH oldest AS (
        SELECT id, resolved_order, resolved_at FROM airlock.actions
        WHERE NOT open AND resolved_order > $1 AND ",
    same_schema!(),
    " ORDER BY resolved_order LIMIT $2 FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM airlock.actions AS a USING oldest AS o
        WHERE a.id = o.id AND o.resolved_at <= clock_timestamp() - $3 * interval '1 microsecond'
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM gone) AS gone, (SELECT max(resolved_order) FROM oldest) AS last"
);

/// A session with a push since the first look has another top, and stays. Sessions with a push in
/// progress are skipped.
const FORGET_SESSIONS: &str = concat!(
    "WITH idle AS MATERIALIZED (
        SELECT s.key, s.top FROM airlock.sessions AS s
        WHERE NOT EXISTS (SELECT FROM airlock.actions AS a WHERE a.open AND a.session = s.key) AND ",
    same_schema!(),
    " LIMIT $1
    ), locked AS (
        SELECT s.key FROM airlock.sessions AS s JOIN idle USING (key) WHERE s.top = idle.top FOR UPDATE OF s SKIP LOCKED
    ), gone AS (
        DELETE FROM airlock.sessions AS s USING locked WHERE s.key = locked.key RETURNING 1
    )
    SELECT count(*) AS gone FROM gone"
);

const FORGET_HOSTS: &str = concat!(
    "DELETE FROM airlock.hosts WHERE alive_until < clock_timestamp() - interval '1 day' AND ",
    same_schema!()
);

macro_rules! unneeded_plugins {
    () => {
        concat!(
            "airlock.plugins AS p WHERE NOT EXISTS (SELECT FROM airlock.actions AS a WHERE a.open AND a.plugin = p.digest) AND ",
            same_schema!()
        )
    };
}

const UNNEEDED_PLUGINS: &str = concat!(
    "SELECT 1 FROM ",
    unneeded_plugins!(),
    " AND p.digest <> ALL($1) LIMIT 1"
);
const FORGET_PLUGINS: &str = concat!(
    "DELETE FROM ",
    unneeded_plugins!(),
    " AND p.digest <> ALL($1) RETURNING 1"
);

const UNNEEDED_PLUGIN: &str = concat!("SELECT 1 FROM ", unneeded_plugins!(), " AND p.digest = $1");

/// Stores its progress, in order of resolution.
const FORGET_DETAILS: &str = concat!(
    "WITH old AS (
        SELECT id, resolved_order FROM airlock.actions
        WHERE NOT open AND resolved_at <= clock_timestamp() - $1 * interval '1 microsecond' AND resolved_order > coalesce(
            (SELECT value::bigint FROM airlock.meta WHERE name = 'details_forgotten'), 0) AND ",
    same_schema!(),
    " ORDER BY resolved_order LIMIT $2
    ), forgotten AS (
        UPDATE airlock.actions AS a SET details = NULL, call = NULL, effects = NULL FROM old
            WHERE a.id = old.id AND (a.details IS NOT NULL OR a.call IS NOT NULL OR a.effects IS NOT NULL)
    ), unseen AS (
        DELETE FROM airlock.effect_pieces AS p USING old WHERE p.action = old.id
    ), noted AS (
        INSERT INTO airlock.meta (name, value) SELECT 'details_forgotten', max(resolved_order)::text FROM old HAVING count(*) > 0
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
    )
    SELECT count(*) AS seen FROM old"
);

/// Deletes calls without actions. A push creates a call and its actions in one statement.
const FORGET_CALLS: &str = concat!(
    "WITH unneeded AS (
        SELECT id FROM airlock.calls AS c WHERE NOT EXISTS (SELECT FROM airlock.actions AS a WHERE a.call = c.id) AND ",
    same_schema!(),
    " LIMIT $1
    ), gone AS (
        DELETE FROM airlock.calls AS c USING unneeded AS u WHERE c.id = u.id RETURNING 1
    )
    SELECT count(*) AS gone FROM gone"
);

const FORGET: &str = concat!(
    "DELETE FROM airlock.actions WHERE id = $1 AND NOT open AND ",
    same_schema!(),
    " RETURNING 1"
);

const RETENTION: &str = "retention";

impl PostgresStoreInner {
    pub async fn prune(&self, age: Duration) -> Result<Pruned, StoreError> {
        let actions = self.forget_actions(age, u64::MAX).await?;
        self.forget_calls().await?;
        let plugins = self.forget_plugins(&[]).await?;
        self.forget_spendings().await?;
        self.forget_sessions_and_hosts().await?;
        Ok(Pruned::new(actions, plugins))
    }

    pub async fn retention(&self) -> Result<Option<Duration>, StoreError> {
        match self.meta(RETENTION).await? {
            None => Ok(None),
            Some(value) => {
                let seconds = self.number_of(RETENTION, &value)?;
                Ok(Some(Duration::from_secs(seconds)))
            }
        }
    }

    pub async fn set_retention(&self, retention: Option<Duration>) -> Result<(), StoreError> {
        let seconds = retention.map(|it| it.as_secs().to_string());
        self.set_meta(RETENTION, seconds).await
    }

    /// Runs maintenance if it is due. Called after each resolution; usually, it only looks at a
    /// clock.
    pub fn maintain_if_due(self: &Arc<Self>) {
        {
            let mut due = self
                .maintenance_due
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if Instant::now() < *due {
                return;
            }
            *due = Instant::now() + INTERVAL;
        }
        let inner = Arc::clone(self);
        self.runtime.spawn(async move {
            if let Err(error) = inner.maintain().await {
                tracing::warn!("could not forget old actions: {error}");
            }
        });
    }

    pub fn pushing(&self) -> MutexGuard<'_, HashSet<Digest>> {
        self.pushing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes a plugin after one of its actions ended, if no action needs it. A plugin that this
    /// host pushes for is kept, because it will probably be needed again.
    pub async fn forget_plugin_where_unneeded(&self, plugin: &str) {
        let is_pushing = plugin
            .parse()
            .is_ok_and(|digest| self.pushing().contains(&digest));
        if is_pushing {
            return;
        }
        let forgotten = async {
            let unneeded = Statement::new(UNNEEDED_PLUGIN).bind(plugin);
            if self.read(&unneeded).await?.is_empty() {
                Ok(0)
            } else {
                self.forget_plugins(&self.pushed_plugins()).await
            }
        };
        if let Err(error) = forgotten.await {
            tracing::warn!("could not forget a plugin that nothing needs: {error}");
        }
    }

    /// Deletes details page by page, continuing from the last run.
    async fn forget_details(&self) -> Result<(), StoreError> {
        loop {
            let batch = Statement::new(FORGET_DETAILS)
                .bind(micros(DETAILS_KEPT))
                .bind(BATCH);
            let seen: Option<i64> = self.first(&batch, |row| get(row, "seen")).await?;
            if seen.unwrap_or_default() < BATCH {
                return Ok(());
            }
        }
    }

    async fn maintain(&self) -> Result<(), StoreError> {
        if let Some(age) = self.retention().await? {
            let gone = self.forget_actions(age, BATCH_ROWS).await?;
            if gone >= BATCH_ROWS {
                let mut due = self
                    .maintenance_due
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                *due = Instant::now() + GOES_ON;
            }
        }
        self.forget_details().await?;
        self.forget_calls().await?;
        self.forget_plugins(&self.pushed_plugins()).await?;
        self.forget_spendings().await?;
        self.forget_sessions_and_hosts().await
    }

    async fn forget_actions(&self, age: Duration, most: u64) -> Result<u64, StoreError> {
        let (mut total, mut after) = (0, i64::MIN);
        while total < most {
            let batch = Statement::new(PRUNE)
                .bind(after)
                .bind(BATCH)
                .bind(micros(age));
            let read = |row: &_| Ok((get::<i64>(row, "gone")?, get::<Option<i64>>(row, "last")?));
            let (gone, last) = self.first(&batch, read).await?.unwrap_or_default();
            total += gone.unsigned_abs();
            match last {
                Some(last) if gone > 0 => after = last,
                _ => break,
            }
        }
        Ok(total)
    }

    /// Deletes a resolved action completely. Returns whether it existed.
    pub async fn forget(&self, id: &ActionId) -> Result<bool, StoreError> {
        let forget = Statement::new(FORGET).bind(escaped(id.as_str()));
        let was_there = !self.read(&forget).await?.is_empty();
        self.forget_calls().await?;
        Ok(was_there)
    }

    async fn forget_calls(&self) -> Result<(), StoreError> {
        self.in_batches(FORGET_CALLS).await
    }

    async fn forget_sessions_and_hosts(&self) -> Result<(), StoreError> {
        self.read(&Statement::new(FORGET_HOSTS)).await?;
        self.in_batches(FORGET_SESSIONS).await
    }

    /// Repeats a statement until it deletes fewer rows than one batch.
    pub async fn in_batches(&self, sql: &'static str) -> Result<(), StoreError> {
        loop {
            let batch = Statement::new(sql).bind(BATCH);
            let gone: Option<i64> = self.first(&batch, |row| get(row, "gone")).await?;
            if gone.unwrap_or_default() < BATCH {
                return Ok(());
            }
        }
    }

    fn pushed_plugins(&self) -> Vec<String> {
        self.pushing().iter().map(Digest::to_string).collect()
    }

    /// Deletes plugins that no open action needs, except for these.
    async fn forget_plugins(&self, but: &[String]) -> Result<u64, StoreError> {
        let unneeded = Statement::new(UNNEEDED_PLUGINS).bind(but);
        if self.read(&unneeded).await?.is_empty() {
            return Ok(0);
        }
        let mut borrowed = self
            .connections
            .borrow_patiently()
            .await
            .map_err(|error| self.error(error))?;
        let connection = borrowed.connection();
        // A push that has seen its plugin must not lose it before it commits. While the table is
        // locked, no push is in progress. The lock is held for milliseconds and has a short
        // timeout, because pushes queue behind it.
        let locked = raw_sql(
            "BEGIN; SET LOCAL lock_timeout = '500ms'; LOCK TABLE airlock.actions IN SHARE ROW EXCLUSIVE MODE",
        );
        let gone = async {
            locked.execute(&mut *connection).await?;
            let gone = Statement::new(FORGET_PLUGINS).bind(but);
            let gone = gone.rows(connection).await?;
            raw_sql("COMMIT").execute(&mut *connection).await?;
            Ok::<_, sqlx::Error>(gone.len() as u64)
        };
        match gone.await {
            Ok(gone) => {
                borrowed.give_back();
                Ok(gone)
            }
            // Another transaction uses the table for long: try again next time. The connection is
            // closed, which ends the transaction.
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("55P03") => Ok(0),
            Err(error) => Err(self.error(Failure::from(error))),
        }
    }
}
