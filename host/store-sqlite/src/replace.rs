//! Replaces pending actions with new ones.

use std::collections::{BTreeSet, HashSet};
use std::time::SystemTime;

use airlock_model::digest::Digest;
use airlock_model::pending::ActionId;
use airlock_model::store::{Push, Replacement};
use rusqlite::{Connection, named_params};

use super::hosts::HostRegistry;
use super::problem::Problem;
use super::push;
use super::rows::{ActionRow, millis};
use super::stack::{OPEN, by_id};

/// The discarded actions, lowest first, and their plugins.
#[derive(Default)]
pub(super) struct Replaced {
    pub actions: Vec<ActionId>,
    pub plugins: Vec<Digest>,
}

pub(super) fn replace(
    connection: &Connection,
    hosts: &HostRegistry,
    push: &Push,
    replacement: &Replacement,
    pushing: &HashSet<Digest>,
) -> Result<Replaced, Problem> {
    let mut old = Vec::new();
    // Each id once.
    for id in replacement.ids().collect::<BTreeSet<_>>() {
        let found = by_id(connection, id)?;
        let goes = |found: &ActionRow| {
            found.session == push.session
                && found.is_pending()
                && !found.stored.interruption.is_some()
        };
        if let Some(found) = found.filter(goes) {
            old.push((position(connection, &found)?, found));
        }
    }
    let mut ids = old.iter().map(|(_, found)| &found.stored.action.id);
    if !ids.any(|id| *id == replacement.action) {
        return Ok(Replaced::default());
    }
    old.sort_by_key(|(position, _)| *position);
    for (_, found) in &old {
        discard(connection, found, replacement)?;
    }
    let place = old.last().map_or(0, |(position, _)| *position);
    make_room(connection, push, place)?;
    push::put(connection, hosts, push, place, pushing)?;
    let mut replaced = Replaced::default();
    for (_, ActionRow { stored, .. }) in old {
        replaced.plugins.push(stored.action.plugin);
        replaced.actions.push(stored.action.id.clone());
    }
    Ok(replaced)
}

fn position(connection: &Connection, found: &ActionRow) -> Result<i64, Problem> {
    Ok(connection
        .prepare_cached("SELECT position FROM actions WHERE number = ?")?
        .query_row([found.number], |row| row.get(0))?)
}

fn discard(
    connection: &Connection,
    found: &ActionRow,
    replacement: &Replacement,
) -> Result<(), Problem> {
    let by = &replacement.decided_by;
    let update = "UPDATE actions SET state = 'discarded', decision = 'discard', reason = :reason, extra = NULL,
            actor = :actor, decided_by = :decided_by, evidence = :evidence, interrupted = 0, guest_state = NULL,
            resolved = 1 + coalesce((SELECT max(resolved) FROM actions WHERE resolved IS NOT NULL), 0),
            resolved_at = :now, result = NULL, error = NULL
        WHERE number = :number";
    connection.prepare_cached(update)?.execute(named_params! {
        ":reason": replacement.reason,
        ":actor": by.actor.kind(),
        ":decided_by": by.actor.name(),
        ":evidence": by.evidence.as_str(),
        ":now": millis(SystemTime::now()),
        ":number": found.number,
    })?;
    connection
        .prepare_cached("DELETE FROM large_guest_states WHERE action = ?")?
        .execute([found.number])?;
    Ok(())
}

/// Moves the actions above a single action's place up, so that all new ones fit there.
fn make_room(connection: &Connection, push: &Push, place: i64) -> Result<(), Problem> {
    let more = i64::try_from(push.actions.len()).unwrap_or(i64::MAX) - 1;
    if more < 1 {
        return Ok(());
    }
    let lift = format!(
        "UPDATE actions AS a SET position = position + :more
        WHERE a.session = +:session AND {OPEN} AND a.position > +:place"
    );
    connection.prepare_cached(&lift)?.execute(named_params! {
        ":more": more,
        ":session": push.session.as_str(),
        ":place": place,
    })?;
    Ok(())
}
