//! Denials of actions.

use std::time::SystemTime;

use airlock_model::denial::{Denial, DenialRecord};
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::rows::bytes_of_path;
use airlock_model::store::{DENIALS_KEPT, Denials, DeniedAction, ResolvedQuery, StoreError};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::SqliteStore;
use super::problem::Problem;
use super::rows::{millis, select, time};

#[async_trait]
impl Denials for SqliteStore {
    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError> {
        let (session, action, denial) = (session.clone(), action.clone(), denial.to_row());
        let work = move |connection: &_| record(connection, &session, &action, &denial);
        self.inner.writer.write(work).await
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        self.read(move |connection| of_action(connection, &session, &action))
            .await
    }
}

/// Stores a denial of an open action and deletes all but its latest ones. Does nothing if the
/// action is not open.
pub(super) fn record(
    connection: &Connection,
    session: &SessionId,
    action: &ActionId,
    denial: &str,
) -> Result<(), Problem> {
    let select = "SELECT number FROM actions WHERE id = ? AND session = ? AND resolved IS NULL";
    let action: Option<i64> = connection
        .prepare_cached(select)?
        .query_row([action.as_str(), session.as_str()], |row| row.get(0))
        .optional()?;
    let Some(action) = action else {
        return Ok(());
    };
    let insert = "INSERT INTO denials (action, number, denied_at, denial)
        SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3 FROM denials WHERE action = ?1 RETURNING number";
    let now = millis(SystemTime::now());
    let number: i64 = connection
        .prepare_cached(insert)?
        .query_row(params![action, now, denial], |row| row.get(0))?;
    let delete = "DELETE FROM denials WHERE action = ? AND number <= ?";
    let too_many = number.saturating_sub_unsigned(DENIALS_KEPT);
    connection
        .prepare_cached(delete)?
        .execute([action, too_many])?;
    Ok(())
}

/// Returns the readable denials of one action, oldest first.
pub(super) fn of_action(
    connection: &Connection,
    session: &SessionId,
    action: &ActionId,
) -> Result<Vec<DenialRecord>, Problem> {
    let select = "SELECT d.action, d.number, d.denied_at, d.denial
        FROM denials d JOIN actions a ON a.number = d.action
        WHERE a.id = ? AND a.session = ? ORDER BY d.number";
    let mut statement = connection.prepare_cached(select)?;
    let mut rows = statement.query([action.as_str(), session.as_str()])?;
    let mut denials = Vec::new();
    while let Some(row) = rows.next()? {
        denials.extend(read(row)?);
    }
    Ok(denials)
}

/// Returns the denials of all actions, latest first.
pub(super) fn latest(
    connection: &Connection,
    query: &ResolvedQuery,
) -> Result<Vec<DeniedAction>, Problem> {
    let sql = "SELECT d.action, d.number, d.denied_at, d.denial
        FROM denials d JOIN actions a ON a.number = d.action
        WHERE (?1 IS NULL OR a.session = ?1) AND (?2 IS NULL OR a.workspace = ?2)
        ORDER BY d.denied_at DESC, d.action DESC, d.number DESC LIMIT ?3";
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let session = query.session.as_ref().map(SessionId::as_str);
    let workspace = query.workspace.as_deref().map(bytes_of_path);
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![session, workspace, limit])?;
    let mut latest = Vec::new();
    while let Some(row) = rows.next()? {
        let action: i64 = row.get(0)?;
        let Some(denied) = read(row)? else {
            continue;
        };
        select(connection, "WHERE a.number = ?", [action], |found| {
            latest.push(DeniedAction::new(found.record(), denied.clone()));
            false
        })?;
    }
    Ok(latest)
}

/// Reads a denial. Returns `None` if it is unreadable, so that it does not hide the others.
fn read(row: &Row<'_>) -> Result<Option<DenialRecord>, Problem> {
    let (number, at): (i64, i64) = (row.get(1)?, row.get(2)?);
    let Some(denial) = row.get_ref(3)?.as_str().ok().and_then(Denial::from_row) else {
        let action: i64 = row.get(0)?;
        tracing::warn!("denial {number} of the action in row {action} is left out");
        return Ok(None);
    };
    let number = number.unsigned_abs();
    Ok(Some(DenialRecord::new(number, time(at), denial)))
}

/// Deletes the denials of a deleted action.
pub(super) fn forget(connection: &Connection, action: i64) -> Result<(), Problem> {
    let delete = "DELETE FROM denials WHERE action = ?";
    connection.prepare_cached(delete)?.execute([action])?;
    Ok(())
}

/// Adds one sentence for each denial that is unreadable or has no action.
pub(super) fn check(connection: &Connection, problems: &mut Vec<String>) -> Result<(), Problem> {
    let sql = "SELECT d.number, d.denial, a.id
        FROM denials d LEFT JOIN actions a ON a.number = d.action";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let denial = row.get_ref(1)?.as_str().ok().and_then(Denial::from_row);
        let action: Option<String> = row.get(2)?;
        match action {
            None => problems.push(format!("denial {number} of an action outlived it")),
            Some(id) if denial.is_none() => {
                problems.push(format!("denial {number} of the action {id} can't be read"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}
