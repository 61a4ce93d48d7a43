//! Pushes actions onto a stack, and computes its free room.

use std::collections::HashSet;

use airlock_model::digest::Digest;
use airlock_model::json::Json;
use airlock_model::pending::{CallId, SessionId};
use airlock_model::store::rows::bytes_of_path;
use airlock_model::store::{NewAction, PluginBytes, Push, Room, SessionRoom};
use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::hosts::HostRegistry;
use super::problem::Problem;
use super::rows::millis;
use super::stack::{OPEN, json};
use super::{calls, capacity, maintenance};

/// Maximum size of details and states that are stored in their action's row, in bytes.
const SMALL: usize = 1024;

pub(super) fn put_on_top(
    connection: &Connection,
    hosts: &HostRegistry,
    push: &Push,
    pushing: &HashSet<Digest>,
) -> Result<(), Problem> {
    let (_, top) = room_and_top(connection, &push.session)?;
    put(connection, hosts, push, top + 1, pushing)
}

/// Stores actions at places that are free, for a host that pushes for these plugins.
pub(super) fn put(
    connection: &Connection,
    hosts: &HostRegistry,
    push: &Push,
    lowest: i64,
    pushing: &HashSet<Digest>,
) -> Result<(), Problem> {
    if push.actions.is_empty() {
        return Ok(());
    }
    let (held, _) = room_and_top(connection, &push.session)?;
    let more = push.room();
    held.check(more, push.capacity, push.capacity_bytes)?;
    let is_kept = is_kept(connection, &push.plugin)?;
    if !is_kept {
        // Removing plugins that no open action needs makes room for it.
        maintenance::forget_plugins(connection, pushing)?;
    }
    let plugin_bytes = if is_kept {
        0
    } else {
        push.plugin.bytes.len() as u64
    };
    capacity::check(connection, more.bytes.saturating_add(plugin_bytes))?;
    if !is_kept {
        keep_plugin(connection, &push.plugin)?;
    }
    if push.actions.iter().any(|pushed| !pushed.action.durable) {
        hosts.register()?;
    }
    if let Some(call) = &push.call {
        calls::insert(connection, call)?;
    }
    let places = push.bytes().zip(lowest..);
    for (pushed, (bytes, position)) in push.actions.iter().zip(places) {
        insert(connection, hosts, &push.session, pushed, bytes, position)?;
    }
    Ok(())
}

/// Returns the room that the session's open and claimed actions take, and the position of the
/// topmost one.
pub(super) fn room_and_top(
    connection: &Connection,
    session: &SessionId,
) -> Result<(Room, i64), Problem> {
    let open = format!(
        "SELECT count(*), coalesce(sum(a.bytes), 0), coalesce(max(a.position), 0)
        FROM actions a WHERE a.session = +? AND {OPEN}"
    );
    let row = connection
        .prepare_cached(&open)?
        .query_row([session.as_str()], |row| {
            let room = Room {
                actions: row.get(0)?,
                bytes: row.get(1)?,
            };
            Ok((room, row.get(2)?))
        })?;
    Ok(row)
}

/// Returns the used and the free room, if the file may grow by this many bytes.
pub(super) fn room(
    connection: &Connection,
    session: &SessionId,
    more: u64,
) -> Result<SessionRoom, Problem> {
    Ok(SessionRoom {
        store_bytes_left: capacity::check(connection, more)?,
        held: room_and_top(connection, session)?.0,
    })
}

fn insert(
    connection: &Connection,
    hosts: &HostRegistry,
    session: &SessionId,
    pushed: &NewAction,
    bytes: u64,
    position: i64,
) -> Result<(), Problem> {
    let action = &pushed.action;
    let (small_details, large_details) = by_size(action.details.as_ref().map(Json::as_str));
    let (small_state, large_state) = by_size(pushed.guest_state.as_deref());
    let insert = "INSERT INTO actions (id, session, position, state, label, source_tool_name,
            source_is_own_tool, has_reject, durable, plugin, plugin_name, grants, workspace, workspace_identity, details,
            guest_state, bytes, pushed_at, owner, call, expires_at)
        VALUES (:id, :session, :position, 'pending', :label, :source_tool_name,
            :source_is_own_tool, :has_reject, :durable, :plugin, :plugin_name, :grants, :workspace, :workspace_identity, :details,
            :guest_state, :bytes, :pushed_at, :owner, :call, :expires_at)";
    connection.prepare_cached(insert)?.execute(named_params! {
        ":id": action.id.as_str(),
        ":session": session.as_str(),
        ":position": position,
        ":label": action.label,
        ":source_tool_name": action.source_tool_name,
        ":source_is_own_tool": action.source_is_own_tool,
        ":has_reject": action.has_reject,
        ":durable": action.durable,
        ":plugin": action.plugin.as_bytes(),
        ":plugin_name": &*action.plugin_name,
        ":grants": json(&action.grants)?,
        ":workspace": action.workspace.as_deref().map(bytes_of_path),
        ":workspace_identity": action.workspace_identity.as_deref().map(json).transpose()?,
        ":details": small_details,
        ":guest_state": small_state,
        ":bytes": bytes,
        ":pushed_at": millis(action.pushed_at),
        ":owner": (!action.durable).then(|| hosts.own()),
        ":call": action.call.as_ref().map(CallId::as_str),
        ":expires_at": action.expires_at.map(millis),
    })?;
    let number = connection.last_insert_rowid();
    if let Some(details) = large_details {
        let insert = "INSERT INTO large_details (action, json) VALUES (?, ?)";
        connection
            .prepare_cached(insert)?
            .execute(params![number, details])?;
    }
    if let Some(state) = large_state {
        let insert = "INSERT INTO large_guest_states (action, bytes) VALUES (?, ?)";
        connection
            .prepare_cached(insert)?
            .execute(params![number, state])?;
    }
    Ok(())
}

/// Removes a push whose caller is gone, except for actions that were claimed in the meantime.
pub(super) fn unpush(connection: &Connection, push: &Push) -> Result<(), Problem> {
    // A released claim leaves its token.
    let delete = "DELETE FROM actions WHERE id = ? AND token = 0 RETURNING number";
    for pushed in &push.actions {
        let number: Option<i64> = connection
            .prepare_cached(delete)?
            .query_row([pushed.action.id.as_str()], |row| row.get(0))
            .optional()?;
        if let Some(number) = number {
            for apart in [
                "large_details",
                "large_guest_states",
                "effect_pieces",
                "denials",
            ] {
                let delete = format!("DELETE FROM {apart} WHERE action = ?");
                connection.prepare_cached(&delete)?.execute([number])?;
            }
        }
    }
    match &push.call {
        Some(call) => calls::forget(connection, call.id.as_str()),
        None => Ok(()),
    }
}

/// Splits a value into the part that is stored in the row and the part that is stored separately.
fn by_size<T: AsRef<[u8]> + ?Sized>(value: Option<&T>) -> (Option<&T>, Option<&T>) {
    match value {
        Some(value) if value.as_ref().len() > SMALL => (None, Some(value)),
        small => (small, None),
    }
}

fn is_kept(connection: &Connection, plugin: &PluginBytes) -> Result<bool, Problem> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM plugins WHERE digest = ?")?
        .exists([plugin.digest.as_bytes()])?)
}

fn keep_plugin(connection: &Connection, plugin: &PluginBytes) -> Result<(), Problem> {
    let insert = "INSERT INTO plugins (digest, name, bytes) VALUES (?, ?, ?)";
    let (name, bytes) = (&*plugin.name, &*plugin.bytes);
    connection
        .prepare_cached(insert)?
        .execute(params![plugin.digest.as_bytes(), name, bytes])?;
    Ok(())
}
