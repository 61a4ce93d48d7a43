//! Denials of actions.

use airlock_model::denial::{Denial, DenialRecord};
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::rows::bytes_of_path;
use airlock_model::store::{DENIALS_KEPT, Denials, DeniedAction, ResolvedQuery, StoreError};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use super::connections::Statement;
use super::problem::Failure;
use super::record::{action_columns, get, record_columns, state_columns, text, time_of_micros};
use super::schema::same_schema;
use super::{PostgresStore, PostgresStoreInner, session_key};

/// The counter in the action's row serializes hosts that record at the same time. This statement
/// does not see a denial that was committed while it waited; the next one deletes it.
const RECORD: &str = concat!(
    "WITH counted AS (
        UPDATE airlock.actions AS a SET denials = a.denials + 1
            WHERE a.id = $1 AND a.session = $2 AND a.open
                AND NOT EXISTS (SELECT FROM airlock.denials AS d WHERE d.action = $1 AND d.nonce = $4) AND ",
    same_schema!(),
    " RETURNING a.denials
    ), gone AS (
        DELETE FROM airlock.denials AS d USING counted WHERE d.action = $1 AND d.number <= counted.denials - $5
    )
    INSERT INTO airlock.denials (action, number, denied_at, nonce, denial)
        SELECT $1, counted.denials, clock_timestamp(), $4, $3 FROM counted"
);

macro_rules! denial_columns {
    () => {
        "d.number, (extract(epoch FROM d.denied_at) * 1000000)::bigint AS denied_at, d.denial"
    };
}

const OF_ACTION: &str = concat!(
    "SELECT a.id, ",
    denial_columns!(),
    " FROM airlock.denials AS d JOIN airlock.actions AS a ON a.id = d.action
    WHERE a.id = $1 AND a.session = $2 AND ",
    same_schema!(),
    " ORDER BY d.number"
);

const LATEST: &str = concat!(
    "SELECT ",
    action_columns!(),
    ", ",
    state_columns!(),
    ", ",
    record_columns!(),
    ", ",
    denial_columns!(),
    " FROM airlock.denials AS d JOIN airlock.actions AS a ON a.id = d.action
    WHERE ($2::bytea IS NULL OR a.workspace = $2) AND ($3::bytea IS NULL OR a.session = $3) AND ",
    same_schema!(),
    " ORDER BY d.denied_at DESC, d.action DESC, d.number DESC LIMIT $1"
);

#[async_trait]
impl Denials for PostgresStore {
    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError> {
        let record = Statement::of_action(RECORD, session, action)
            .bind(denial.to_row())
            .bind(self.inner.nonce())
            .bind(DENIALS_KEPT.cast_signed());
        self.inner.read(&record).await.map(drop)
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        let of_action = Statement::of_action(OF_ACTION, session, action);
        let rows = self.inner.read(&of_action).await?;
        self.inner.readable(&rows, rows.iter().map(denied))
    }
}

impl PostgresStoreInner {
    pub async fn denied_actions(
        &self,
        query: &ResolvedQuery,
    ) -> Result<Vec<DeniedAction>, StoreError> {
        let workspace = query.workspace.as_deref().map(bytes_of_path);
        let latest = Statement::new(LATEST)
            .bind(i64::try_from(query.limit).unwrap_or(i64::MAX))
            .bind(workspace.map(<[u8]>::to_vec))
            .bind(query.session.as_ref().map(session_key));
        let rows = self.read(&latest).await?;
        let read = |row| Ok(DeniedAction::new(self.record(row)?, denied(row)?));
        self.readable(&rows, rows.iter().map(read))
    }
}

/// Reads a stored denial.
pub fn denied(row: &PgRow) -> Result<DenialRecord, Failure> {
    let number: i64 = get(row, "number")?;
    let Some(denial) = Denial::from_row(&text(row, "denial")?) else {
        let problem = format!(
            "has a denial that can't be read, number {number}; it was changed by hand, or by a newer version"
        );
        return Err(Failure::Unreadable(problem));
    };
    let at = time_of_micros(get(row, "denied_at")?);
    Ok(DenialRecord::new(number.unsigned_abs(), at, denial))
}
