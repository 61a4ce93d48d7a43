//! Operations for operators.

use std::time::Duration;

use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::rows::bytes_of_path;
use airlock_model::store::{
    ActionOutline, ActionRecord, DeniedAction, DurableStore, Pruned, ResolvedQuery, Scope,
    StoreError, StoreStats, UnreadableAction,
};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use super::connections::Statement;
use super::problem::Failure;
use super::record::{
    self, action_columns, get, outline_columns, record_columns, state_columns, text,
};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStore, PostgresStoreInner, schema, session_key};

macro_rules! records {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            action_columns!(),
            ", ",
            state_columns!(),
            ", ",
            record_columns!(),
            " FROM airlock.actions AS a WHERE ",
            same_schema!(),
            " AND ",
            $rest
        )
    };
}

const FIND: &str = records!("a.id = $1");
const OPEN: &str = records!("a.open ORDER BY a.session, a.position DESC");
const OPEN_OF_SESSION: &str = records!("a.open AND a.session = $1 ORDER BY a.position DESC");
/// Sorts by bytes, regardless of the database's collation.
const OPEN_SESSIONS: &str =
    "SELECT DISTINCT a.session_id COLLATE \"C\" AS session_id FROM airlock.actions AS a
    WHERE a.open AND ($1::text IS NULL OR a.session_id COLLATE \"C\" > $1::text)
    ORDER BY 1 LIMIT $2";
/// The index contains the digest.
const OPEN_OF_WORKSPACE: &str = records!(
    "a.open AND sha256(a.workspace) = sha256($1) AND a.workspace = $1 ORDER BY a.session, a.position DESC"
);
const RESOLVED: &str = records!(
    "NOT a.open AND ($2::bytea IS NULL OR a.workspace = $2) ORDER BY a.resolved_order DESC LIMIT $1"
);
const RESOLVED_OF_SESSION: &str = records!(
    "NOT a.open AND ($2::bytea IS NULL OR a.workspace = $2) AND a.session = $3
    ORDER BY a.resolved_order DESC LIMIT $1"
);
/// Selects a page of all actions.
pub(super) const AFTER: &str = records!("a.id > $1 ORDER BY a.id LIMIT $2");

/// Selects a page of all actions, without their details.
const OUTLINES: &str = concat!(
    "SELECT NULL::text AS details, a.denials, ",
    outline_columns!(),
    ", ",
    state_columns!(),
    ", ",
    record_columns!(),
    " FROM airlock.actions AS a WHERE ",
    same_schema!(),
    " AND a.id > $1 ORDER BY a.id LIMIT $2"
);

const LIKE: &str = concat!(
    "SELECT id FROM airlock.actions
    WHERE (starts_with(id, $1) OR right(id, length($1)) = $1) AND ",
    same_schema!(),
    " ORDER BY id DESC LIMIT $2"
);

const STATS: &str = concat!(
    "SELECT o.*, r.*, p.*, (
        SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'airlock' AND c.relkind IN ('r', 'S')
    ) AS bytes
    FROM (
        SELECT count(DISTINCT session) AS sessions,
            count(*) FILTER (WHERE waits) AS pending,
            coalesce(sum(bytes), 0)::bigint AS pending_bytes,
            count(*) FILTER (WHERE waits AND lost) AS lost,
            count(*) FILTER (WHERE waits AND NOT lost AND interrupted) AS interrupted,
            count(*) FILTER (WHERE NOT waits) AS resolving
        FROM (
            SELECT a.session, a.bytes, a.state = 'pending' OR a.lease_until <= clock_timestamp() AS waits,
                a.interrupted <> 0 OR (a.state = 'resolving' AND a.decision = 'apply') AS interrupted,
                coalesce(a.owner <> $1, false) AND NOT EXISTS (
                    SELECT FROM airlock.hosts AS h WHERE h.id = a.owner AND h.alive_until > clock_timestamp()
                ) AS lost
            FROM airlock.actions AS a WHERE a.open
        ) AS open
    ) AS o, (
        SELECT count(*) FILTER (WHERE state = 'applied') AS applied,
            count(*) FILTER (WHERE state = 'discarded') AS discarded
        FROM airlock.actions WHERE NOT open
    ) AS r, (
        SELECT count(*) AS plugins, coalesce(sum(octet_length(bytes)), 0)::bigint AS plugin_bytes FROM airlock.plugins
    ) AS p
    WHERE ",
    same_schema!()
);

impl PostgresStoreInner {
    async fn records(&self, statement: Statement) -> Result<Vec<ActionRecord>, StoreError> {
        let rows = self.read(&statement).await?;
        self.readable(&rows, rows.iter().map(|row| self.record(row)))
    }

    pub(super) fn record(&self, row: &PgRow) -> Result<ActionRecord, Failure> {
        record::record(row, &self.host)
    }

    fn outline(&self, row: &PgRow) -> Result<ActionOutline, Failure> {
        let denials: i64 = get(row, "denials")?;
        Ok(ActionOutline::new(
            self.record(row)?,
            denials.unsigned_abs(),
        ))
    }
}

#[async_trait]
impl DurableStore for PostgresStore {
    async fn find(&self, id: &ActionId) -> Result<Option<ActionRecord>, StoreError> {
        let statement = Statement::new(FIND).bind(escaped(id.as_str()));
        let rows = self.inner.read(&statement).await?;
        let record = rows.first().map(|row| self.inner.record(row)).transpose();
        record.map_err(|error| self.inner.error(error.of(id)))
    }

    async fn ids_like(&self, part: &str, most: usize) -> Result<Vec<ActionId>, StoreError> {
        let statement = Statement::new(LIKE)
            .bind(escaped(part))
            .bind(i64::try_from(most).unwrap_or(i64::MAX));
        let id = |row: &_| Ok(text(row, "id")?.into());
        self.inner.each(&statement, id).await
    }

    async fn open_actions(&self, scope: Scope<'_>) -> Result<Vec<ActionRecord>, StoreError> {
        let statement = match scope {
            Scope::All => Statement::new(OPEN),
            Scope::Session(session) => Statement::new(OPEN_OF_SESSION).bind(session_key(session)),
            Scope::Workspace(path) => Statement::new(OPEN_OF_WORKSPACE).bind(bytes_of_path(path)),
        };
        let mut records = self.inner.records(statement).await?;
        // Sorts by the ids themselves; the server sorts by their digests. The order within a
        // session is kept.
        records.sort_by(|one, other| one.session.cmp(&other.session));
        Ok(records)
    }

    async fn open_sessions(
        &self,
        after: Option<&SessionId>,
        most: usize,
    ) -> Result<Vec<SessionId>, StoreError> {
        let statement = Statement::new(OPEN_SESSIONS)
            .bind(after.map(|after| escaped(after.as_str())))
            .bind(i64::try_from(most).unwrap_or(i64::MAX));
        let session = |row: &_| Ok(text(row, "session_id")?.into());
        self.inner.each(&statement, session).await
    }

    async fn resolved_actions(
        &self,
        query: &ResolvedQuery,
    ) -> Result<Vec<ActionRecord>, StoreError> {
        let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
        let workspace = query.workspace.as_deref().map(bytes_of_path);
        let workspace = workspace.map(<[u8]>::to_vec);
        let statement = match &query.session {
            Some(session) => Statement::new(RESOLVED_OF_SESSION)
                .bind(limit)
                .bind(workspace)
                .bind(session_key(session)),
            None => Statement::new(RESOLVED).bind(limit).bind(workspace),
        };
        self.inner.records(statement).await
    }

    async fn denied_actions(&self, query: &ResolvedQuery) -> Result<Vec<DeniedAction>, StoreError> {
        self.inner.denied_actions(query).await
    }

    async fn outlines(
        &self,
        after: Option<&ActionId>,
        most: usize,
    ) -> Result<Vec<ActionOutline>, StoreError> {
        let mut after = escaped(after.map_or("", ActionId::as_str)).into_owned();
        loop {
            let statement = Statement::new(OUTLINES)
                .bind(after.clone())
                .bind(i64::try_from(most).unwrap_or(i64::MAX));
            let rows = self.inner.read(&statement).await?;
            let all = rows.iter().map(|row| self.inner.outline(row));
            let page = self.inner.readable(&rows, all)?;
            match rows.last() {
                // The end of the list is a page without rows, readable or not.
                Some(last) if page.is_empty() => {
                    after = get(last, "id").map_err(|error| self.inner.error(error))?;
                }
                _ => return Ok(page),
            }
        }
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        let statement = Statement::new(STATS).bind(self.inner.host);
        let stats = |row: &PgRow| {
            let count = |column| get::<i64>(row, column).map(i64::unsigned_abs);
            let mut stats = StoreStats::default();
            stats.schema = schema::VERSION;
            stats.sessions = count("sessions")?;
            stats.pending = count("pending")?;
            stats.interrupted = count("interrupted")?;
            stats.lost = count("lost")?;
            stats.resolving = count("resolving")?;
            stats.applied = count("applied")?;
            stats.discarded = count("discarded")?;
            stats.plugins = count("plugins")?;
            stats.plugin_bytes = count("plugin_bytes")?;
            stats.pending_bytes = count("pending_bytes")?;
            stats.bytes = count("bytes")?;
            Ok(stats)
        };
        Ok(self
            .inner
            .first(&statement, stats)
            .await?
            .unwrap_or_default())
    }

    async fn check(&self) -> Result<Vec<String>, StoreError> {
        self.inner.check().await
    }

    async fn prune(&self, age: Duration) -> Result<Pruned, StoreError> {
        self.inner.prune(age).await
    }

    async fn forget(&self, id: &ActionId) -> Result<bool, StoreError> {
        self.inner.forget(id).await
    }

    async fn retention(&self) -> Result<Option<Duration>, StoreError> {
        self.inner.retention().await
    }

    async fn set_retention(&self, retention: Option<Duration>) -> Result<(), StoreError> {
        self.inner.set_retention(retention).await
    }

    async fn byte_limit(&self) -> Result<Option<u64>, StoreError> {
        self.inner.byte_limit().await
    }

    async fn set_byte_limit(&self, limit: Option<u64>) -> Result<(), StoreError> {
        self.inner.set_byte_limit(limit).await
    }

    async fn unreadable_actions(&self) -> Result<Vec<UnreadableAction>, StoreError> {
        let rows = self.inner.read(&Statement::new(OPEN)).await?;
        let unreadable = |row: &PgRow| match self.inner.record(row) {
            Err(Failure::Unreadable(problem)) => {
                let text = |column| text(row, column).unwrap_or_default();
                Some(UnreadableAction::new(
                    text("id").into(),
                    text("session_id").into(),
                    problem,
                ))
            }
            _ => None,
        };
        Ok(rows.iter().filter_map(unreadable).collect())
    }

    fn location(&self) -> String {
        self.inner.location.clone()
    }
}
