//! The effects of actions that the host observed in rehearsals.

use std::sync::Arc;

use airlock_model::effects::{EffectsRecord, PackedEffects};
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::Room;
use rusqlite::{Connection, OptionalExtension, params};

use super::capacity;
use super::problem::Problem;
use super::push::room_and_top;

/// Stores the effects of an open action, replacing earlier ones. Does nothing if the action is not
/// open.
pub(super) fn keep(
    connection: &Connection,
    session: &SessionId,
    action: &ActionId,
    effects: &PackedEffects,
    capacity_bytes: u64,
) -> Result<(), Problem> {
    let select = "SELECT number, effects_bytes FROM actions
        WHERE id = ? AND session = ? AND resolved IS NULL";
    let found: Option<(i64, u64)> = connection
        .prepare_cached(select)?
        .query_row([action.as_str(), session.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((number, before)) = found else {
        return Ok(());
    };
    let bytes = effects.bytes();
    let (held, _) = room_and_top(connection, session)?;
    let without = Room {
        actions: held.actions,
        bytes: held.bytes.saturating_sub(before),
    };
    let more = Room { actions: 0, bytes };
    without.check(more, usize::MAX, capacity_bytes)?;
    capacity::check(connection, bytes.saturating_sub(before))?;
    forget(connection, number)?;
    let insert = "INSERT INTO effect_pieces (action, place, bytes) VALUES (?, ?, ?)";
    let mut insert = connection.prepare_cached(insert)?;
    for (place, piece) in effects.pieces.iter().enumerate() {
        insert.execute(params![number, place, &**piece])?;
    }
    let update =
        "UPDATE actions SET effects = ?2, bytes = bytes - effects_bytes + ?3, effects_bytes = ?3
        WHERE number = ?1";
    connection
        .prepare_cached(update)?
        .execute(params![number, effects.summary, bytes])?;
    Ok(())
}

pub(super) fn find(
    connection: &Connection,
    session: &SessionId,
    action: &ActionId,
) -> Result<Option<PackedEffects>, Problem> {
    let select =
        "SELECT number, effects FROM actions WHERE id = ? AND session = ? AND effects IS NOT NULL";
    let found: Option<(i64, String)> = connection
        .prepare_cached(select)?
        .query_row([action.as_str(), session.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((number, summary)) = found else {
        return Ok(None);
    };
    of_number(connection, number, summary).map(Some)
}

/// Returns the effects of the action with this number, whose row has the summary.
pub(super) fn of_number(
    connection: &Connection,
    number: i64,
    summary: String,
) -> Result<PackedEffects, Problem> {
    let select = "SELECT bytes FROM effect_pieces WHERE action = ? ORDER BY place";
    let mut statement = connection.prepare_cached(select)?;
    let pieces = statement.query_map([number], |row| row.get::<_, Vec<u8>>(0))?;
    let pieces: Vec<Arc<[u8]>> = pieces
        .map(|piece| Ok(piece?.into()))
        .collect::<rusqlite::Result<_>>()?;
    Ok(PackedEffects::new(summary, pieces))
}

pub(super) fn unpacked(packed: Option<PackedEffects>) -> Result<Option<EffectsRecord>, Problem> {
    let record = packed.map(|packed| packed.unpack()).transpose();
    record.map_err(|error| Problem::BadRow(format!("what an action does can't be read: {error}")))
}

/// Returns the state with which an open action was pushed.
pub(super) fn guest_state(
    connection: &Connection,
    session: &SessionId,
    action: &ActionId,
) -> Result<Option<Vec<u8>>, Problem> {
    let select =
        "SELECT coalesce(guest_state, (SELECT bytes FROM large_guest_states WHERE action = number))
        FROM actions WHERE id = ? AND session = ? AND resolved IS NULL";
    let found: Option<Option<Vec<u8>>> = connection
        .prepare_cached(select)?
        .query_row([action.as_str(), session.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found.flatten())
}

/// Deletes the pieces of an action's effects.
pub(super) fn forget(connection: &Connection, number: i64) -> Result<(), Problem> {
    let delete = "DELETE FROM effect_pieces WHERE action = ?";
    connection.prepare_cached(delete)?.execute([number])?;
    Ok(())
}
