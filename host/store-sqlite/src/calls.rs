//! Records of the calls that pushed actions.

use std::sync::Arc;

use airlock_model::call_record::{CallRecord, PackedBody, PackedCall};
use airlock_model::pending::{ActionId, CallId, SessionId};
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::problem::Problem;
use super::rows::{millis, time};

pub(super) fn insert(connection: &Connection, call: &PackedCall) -> Result<(), Problem> {
    let id = call.id.as_str();
    let body = match &call.body {
        PackedBody::Plain(plain) => Some(&**plain),
        PackedBody::Pieces(_) => None,
    };
    let insert = "INSERT INTO calls (id, tool, called_at, body) VALUES (?, ?, ?, ?)";
    let called_at = millis(call.called_at);
    connection
        .prepare_cached(insert)?
        .execute(params![id, call.tool, called_at, body])?;
    if let PackedBody::Pieces(pieces) = &call.body {
        let insert = "INSERT INTO call_pieces (call, place, bytes) VALUES (?, ?, ?)";
        let mut insert = connection.prepare_cached(insert)?;
        for (place, piece) in pieces.iter().enumerate() {
            insert.execute(params![id, place, &**piece])?;
        }
    }
    Ok(())
}

/// Returns the record of the call that pushed the action.
pub(super) fn find(
    connection: &Connection,
    session: &SessionId,
    action: &ActionId,
) -> Result<Option<PackedCall>, Problem> {
    let of_action = "(SELECT call FROM actions WHERE id = ? AND session = ?)";
    by_id(connection, of_action, [action.as_str(), session.as_str()])
}

/// Returns the record of the call with this id, which is an SQL expression.
pub(super) fn by_id(
    connection: &Connection,
    id: &str,
    params: impl Params,
) -> Result<Option<PackedCall>, Problem> {
    let select = format!("SELECT id, tool, called_at, body FROM calls WHERE id = {id}");
    let found = connection
        .prepare_cached(&select)?
        .query_row(params, |row| {
            let (id, body): (String, Option<Vec<u8>>) = (row.get(0)?, row.get(3)?);
            Ok((id, row.get(1)?, row.get(2)?, body))
        })
        .optional()?;
    let Some((id, tool, called_at, body)) = found else {
        return Ok(None);
    };
    let body = match body {
        Some(plain) => PackedBody::Plain(plain.into()),
        None => PackedBody::Pieces(pieces(connection, &id)?),
    };
    let id = CallId::from(id);
    Ok(Some(PackedCall::new(id, tool, time(called_at), body)))
}

pub(super) fn unpacked(packed: Option<PackedCall>) -> Result<Option<CallRecord>, Problem> {
    let record = packed.map(|packed| packed.unpack()).transpose();
    record.map_err(|error| Problem::BadRow(format!("the record of a call can't be read: {error}")))
}

fn pieces(connection: &Connection, call: &str) -> Result<Vec<Arc<[u8]>>, Problem> {
    let select = "SELECT bytes FROM call_pieces WHERE call = ? ORDER BY place";
    let mut statement = connection.prepare_cached(select)?;
    let pieces = statement.query_map([call], |row| row.get::<_, Vec<u8>>(0))?;
    let pieces = pieces.map(|piece| Ok(piece?.into()));
    pieces.collect()
}

/// Deletes the record if no action refers to it any more.
pub(super) fn forget(connection: &Connection, call: &str) -> Result<(), Problem> {
    let delete =
        "DELETE FROM calls WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM actions WHERE call = ?1)";
    if connection.prepare_cached(delete)?.execute([call])? == 1 {
        let delete = "DELETE FROM call_pieces WHERE call = ?";
        connection.prepare_cached(delete)?.execute([call])?;
    }
    Ok(())
}
