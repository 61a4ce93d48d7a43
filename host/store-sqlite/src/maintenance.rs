//! Statistics, checks and pruning.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use airlock_model::digest::Digest;
use airlock_model::pending::ActionId;
use airlock_model::store::{PluginBytes, StoreStats, UnreadableAction};
use rusqlite::{Connection, OptionalExtension, params};

use super::problem::Problem;
use super::rows::{millis, select_all};
use super::schema;
use super::stack::{OPEN, forget_plugin};
use super::{calls, denials, effects, spending, totals};

/// Number of resolved actions to delete in one commit, to keep each commit short.
pub(super) const PRUNED_AT_ONCE: usize = 500;

const RETENTION: &str = "retention_seconds";

/// The key of the last resolved action, in order of resolution, whose details were deleted.
const DETAILS_FORGOTTEN: &str = "details_forgotten";

pub(super) fn stats(connection: &Connection) -> Result<StoreStats, Problem> {
    let mut stats = StoreStats::default();
    stats.schema = schema::VERSION;
    totals::read(connection, &mut stats)?;
    let plugins = "SELECT count(*), coalesce(sum(length(bytes)), 0) FROM plugins";
    (stats.plugins, stats.plugin_bytes) =
        connection.query_row(plugins, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
    stats.bytes = connection.query_row(pages, [], |row| row.get(0))?;
    Ok(stats)
}

/// Returns one sentence for each problem.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, Problem> {
    let mut problems = Vec::new();
    let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    for line in lines {
        let line = line?;
        if line != "ok" {
            problems.push(format!("the file is damaged: {line}"));
        }
    }
    if !problems.is_empty() {
        // Data from damaged pages gives no further information.
        return Ok(problems);
    }
    check_plugins(connection, &mut problems)?;
    check_actions(connection, &mut problems)?;
    spending::check(connection, &mut problems)?;
    denials::check(connection, &mut problems)?;
    totals::check(connection, &mut problems)?;
    Ok(problems)
}

fn check_plugins(connection: &Connection, problems: &mut Vec<String>) -> Result<(), Problem> {
    let mut statement = connection.prepare("SELECT digest, name, bytes FROM plugins")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let digest = Digest::from_bytes(row.get(0)?);
        let name: String = row.get(1)?;
        if Digest::of(row.get_ref(2)?.as_blob().unwrap_or_default()) != digest {
            problems.push(format!(
                "the bytes of the plugin {name} don't match the digest {digest}"
            ));
        }
    }
    Ok(())
}

fn check_actions(connection: &Connection, problems: &mut Vec<String>) -> Result<(), Problem> {
    let mut find = |condition: String, what: &str| -> Result<(), Problem> {
        let select = format!("SELECT a.id FROM actions a WHERE {condition} LIMIT 100");
        let mut statement = connection.prepare(&select)?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
        for id in ids {
            problems.push(format!("action {} {what}", id?));
        }
        Ok(())
    };
    find(
        format!(
            "{OPEN} AND a.durable AND a.guest_state IS NULL
                AND NOT EXISTS (SELECT 1 FROM large_guest_states WHERE action = a.number)"
        ),
        "has lost the state that its plugin needs",
    )?;
    find(
        format!(
            "{OPEN} AND a.durable AND NOT EXISTS (SELECT 1 FROM plugins WHERE digest = a.plugin)"
        ),
        "has lost the plugin that pushed it",
    )?;
    find(
        "a.call IS NOT NULL AND NOT EXISTS (SELECT 1 FROM calls WHERE id = a.call)".to_owned(),
        "has lost the record of its call",
    )?;
    find(
        "a.state = 'resolving' AND (a.holder IS NULL OR a.lease_until IS NULL OR a.decision IS NULL)".to_owned(),
        "is being resolved without a host",
    )?;
    find(
        "(a.state IN ('applied', 'discarded')) <> (a.resolved IS NOT NULL AND a.resolved_at IS NOT NULL)".to_owned(),
        "is both open and resolved",
    )?;
    // Reads every row.
    select_all(connection, "ORDER BY a.number", [], |row| {
        if let Err(UnreadableAction { id, problem, .. }) = row {
            problems.push(format!("action {id} can't be read: {problem}"));
        }
        true
    })
}

pub(super) fn retention(connection: &Connection) -> Result<Option<Duration>, Problem> {
    let value: Option<String> = connection
        .prepare_cached("SELECT value FROM meta WHERE name = ?")?
        .query_row([RETENTION], |row| row.get(0))
        .optional()?;
    match value.map(|value| value.parse()) {
        None => Ok(None),
        Some(Ok(seconds)) => Ok(Some(Duration::from_secs(seconds))),
        Some(Err(_)) => Err(Problem::BadRow("the retention is not a number".to_owned())),
    }
}

pub(super) fn set_retention(
    connection: &Connection,
    retention: Option<Duration>,
) -> Result<(), Problem> {
    match retention {
        Some(retention) => connection.execute(
            "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2",
            params![RETENTION, retention.as_secs().to_string()],
        )?,
        None => connection.execute("DELETE FROM meta WHERE name = ?", [RETENTION])?,
    };
    Ok(())
}

/// Returns the actions that were resolved at least `age` ago.
pub(super) fn resolved_before(connection: &Connection, age: Duration) -> Result<Vec<i64>, Problem> {
    // No action was resolved before 1970.
    let before = SystemTime::now().checked_sub(age).map_or(i64::MIN, millis);
    let select = "SELECT number FROM actions WHERE resolved IS NOT NULL AND resolved_at <= ?";
    let mut statement = connection.prepare(select)?;
    let numbers = statement.query_map([before], |row| row.get(0))?;
    Ok(numbers.collect::<Result<_, _>>()?)
}

pub(super) fn forget_actions(connection: &Connection, numbers: &[i64]) -> Result<u64, Problem> {
    let mut forgotten = 0;
    for number in numbers {
        let delete = "DELETE FROM actions WHERE number = ? AND resolved IS NOT NULL RETURNING call";
        let deleted: Option<Option<String>> = connection
            .prepare_cached(delete)?
            .query_row([number], |row| row.get(0))
            .optional()?;
        if let Some(call) = deleted {
            forgotten += 1;
            forget_large(connection, *number, call.as_deref())?;
            denials::forget(connection, *number)?;
        }
    }
    if forgotten > 0 {
        // Later resolutions may reuse the numbers of deleted ones.
        connection
            .prepare_cached("DELETE FROM meta WHERE name = ?")?
            .execute([DETAILS_FORGOTTEN])?;
    }
    Ok(forgotten)
}

/// Deletes data that is stored outside of an action's row.
fn forget_large(connection: &Connection, number: i64, call: Option<&str>) -> Result<(), Problem> {
    let delete = "DELETE FROM large_details WHERE action = ?";
    connection.prepare_cached(delete)?.execute([number])?;
    effects::forget(connection, number)?;
    match call {
        Some(call) => calls::forget(connection, call),
        None => Ok(()),
    }
}

/// Deletes a resolved action completely. Returns whether it existed.
pub(super) fn forget(connection: &Connection, id: &ActionId) -> Result<bool, Problem> {
    let select = "SELECT number FROM actions WHERE id = ?";
    let number: Option<i64> = connection
        .prepare_cached(select)?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    match number {
        Some(number) => Ok(forget_actions(connection, &[number])? == 1),
        None => Ok(false),
    }
}

/// Deletes the details of some actions that were resolved at least `age` ago, and the records of
/// their calls if no other action needs them. Returns whether there may be more.
pub(super) fn forget_details(connection: &Connection, age: Duration) -> Result<bool, Problem> {
    let after: Option<String> = connection
        .prepare_cached("SELECT value FROM meta WHERE name = ?")?
        .query_row([DETAILS_FORGOTTEN], |row| row.get(0))
        .optional()?;
    // If the value can't be read, start from the first action again.
    let after = after.and_then(|after| after.parse().ok()).unwrap_or(0_i64);
    let before = SystemTime::now().checked_sub(age).map_or(i64::MIN, millis);
    let select = "SELECT number, resolved, call FROM actions
        WHERE resolved IS NOT NULL AND resolved > ? AND resolved_at <= ? ORDER BY resolved LIMIT ?";
    let mut statement = connection.prepare_cached(select)?;
    let rows = statement.query_map(params![after, before, PRUNED_AT_ONCE], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get(2)?))
    })?;
    let old: Vec<(i64, i64, Option<String>)> = rows.collect::<Result<_, _>>()?;
    let Some((_, last, _)) = old.last() else {
        return Ok(false);
    };
    for (number, _, call) in &old {
        let update = "UPDATE actions SET details = NULL, call = NULL, effects = NULL
            WHERE number = ? AND (details IS NOT NULL OR call IS NOT NULL OR effects IS NOT NULL)";
        connection.prepare_cached(update)?.execute([number])?;
        forget_large(connection, *number, call.as_deref())?;
    }
    let note =
        "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
    connection.execute(note, params![DETAILS_FORGOTTEN, last.to_string()])?;
    Ok(old.len() == PRUNED_AT_ONCE)
}

/// Deletes plugins that no open action needs, with some exceptions.
pub(super) fn forget_plugins(
    connection: &Connection,
    but: &HashSet<Digest>,
) -> Result<u64, Problem> {
    let mut statement = connection.prepare("SELECT digest FROM plugins")?;
    let rows = statement.query_map([], |row| row.get(0).map(Digest::from_bytes))?;
    let kept: Vec<Digest> = rows.collect::<Result<_, _>>()?;
    let mut forgotten = 0;
    for plugin in kept.iter().filter(|plugin| !but.contains(plugin)) {
        forgotten += u64::from(forget_plugin(connection, plugin)?);
    }
    Ok(forgotten)
}

pub(super) fn plugin(
    connection: &Connection,
    digest: Digest,
) -> Result<Option<PluginBytes>, Problem> {
    let select = "SELECT name, bytes FROM plugins WHERE digest = ?";
    let kept = connection
        .prepare_cached(select)?
        .query_row([digest.as_bytes()], |row| {
            Ok(PluginBytes {
                digest,
                name: row.get::<_, String>(0)?.into(),
                bytes: row.get::<_, Vec<u8>>(1)?.into(),
            })
        });
    Ok(kept.optional()?)
}

pub(super) fn find(
    connection: &Connection,
    id: &ActionId,
) -> Result<Option<airlock_model::store::ActionRecord>, Problem> {
    Ok(super::stack::by_id(connection, id)?.map(super::rows::ActionRow::record))
}
