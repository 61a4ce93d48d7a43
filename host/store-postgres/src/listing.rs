//! Lists the actions on a session's stack.

use airlock_model::pending::{ActionId, SessionId, StackedAction};
use airlock_model::store::StoreError;
use sqlx::postgres::PgRow;

use super::connections::Statement;
use super::problem::Failure;
use super::record::{action_columns, get, state_columns, stored};
use super::schema::same_schema;
use super::{PostgresStoreInner, session_key};

const LIST: &str = concat!(
    "SELECT ",
    action_columns!(),
    ", ",
    state_columns!(),
    " FROM airlock.actions AS a
    WHERE a.session = $1 AND a.open AND (a.state = 'pending' OR a.lease_until <= clock_timestamp()) AND ",
    same_schema!(),
    " ORDER BY a.position DESC LIMIT $2"
);

const FIND: &str = concat!(
    "SELECT ",
    action_columns!(),
    ", ",
    state_columns!(),
    " FROM airlock.actions AS a
    WHERE a.id = $1 AND a.session = $2 AND a.open AND (a.state = 'pending' OR a.lease_until <= clock_timestamp()) AND ",
    same_schema!()
);

impl PostgresStoreInner {
    pub async fn list(
        &self,
        session: &SessionId,
        limit: Option<i64>,
    ) -> Result<Vec<StackedAction>, StoreError> {
        let list = Statement::new(LIST).bind(session_key(session)).bind(limit);
        self.stacked(&list).await
    }

    pub async fn peek_at(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let find = Statement::of_action(FIND, session, action);
        Ok(self.stacked(&find).await?.pop())
    }

    pub async fn stacked(&self, statement: &Statement) -> Result<Vec<StackedAction>, StoreError> {
        let rows = self.read(statement).await?;
        let stacked = rows.iter().map(|row| stored(row, &self.host));
        self.readable(&rows, stacked)
    }

    /// Returns the readable actions. The others are skipped, so that they don't hide the readable
    /// ones.
    pub fn readable<T>(
        &self,
        rows: &[PgRow],
        read: impl Iterator<Item = Result<T, Failure>>,
    ) -> Result<Vec<T>, StoreError> {
        let mut readable = Vec::new();
        for (row, read) in rows.iter().zip(read) {
            match read {
                Ok(read) => readable.push(read),
                Err(Failure::Unreadable(problem)) => {
                    let id: String = get(row, "id").unwrap_or_default();
                    tracing::warn!("the action {id} is left out: it {problem}");
                }
                Err(error) => return Err(self.error(error)),
            }
        }
        Ok(readable)
    }
}
