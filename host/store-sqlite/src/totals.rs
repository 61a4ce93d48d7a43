//! Totals of all actions, maintained so that they need not be counted each time.

use airlock_model::store::StoreStats;
use rusqlite::Connection;

use super::problem::Problem;

/// Triggers that maintain the totals, whichever statement changes an action. They belong to the
/// connection: triggers in the file are disabled, and it should have none.
const TRIGGERS: &str = "
CREATE TEMP TRIGGER pushed AFTER INSERT ON main.actions WHEN new.resolved IS NULL BEGIN
    UPDATE totals SET open = open + 1, bytes = bytes + new.bytes, sessions = sessions + NOT EXISTS (
        SELECT 1 FROM actions WHERE session = new.session AND resolved IS NULL AND number <> new.number);
END;
CREATE TEMP TRIGGER taken_back AFTER DELETE ON main.actions WHEN old.resolved IS NULL BEGIN
    UPDATE totals SET open = open - 1, bytes = bytes - old.bytes, sessions = sessions - NOT EXISTS (
        SELECT 1 FROM actions WHERE session = old.session AND resolved IS NULL);
END;
CREATE TEMP TRIGGER grown AFTER UPDATE OF bytes ON main.actions
    WHEN old.resolved IS NULL AND new.resolved IS NULL AND new.bytes <> old.bytes BEGIN
    UPDATE totals SET bytes = bytes + new.bytes - old.bytes;
END;
CREATE TEMP TRIGGER ended AFTER UPDATE OF resolved ON main.actions
    WHEN old.resolved IS NULL AND new.resolved IS NOT NULL BEGIN
    UPDATE totals SET open = open - 1, bytes = bytes - old.bytes,
        applied = applied + (new.state = 'applied'), discarded = discarded + (new.state <> 'applied'),
        sessions = sessions - NOT EXISTS (
            SELECT 1 FROM actions WHERE session = new.session AND resolved IS NULL);
END;
CREATE TEMP TRIGGER forgotten AFTER DELETE ON main.actions WHEN old.resolved IS NOT NULL BEGIN
    UPDATE totals SET applied = applied - (old.state = 'applied'), discarded = discarded - (old.state <> 'applied');
END;
";

/// Open actions that are not simply pending, of which there are few: those that are being
/// resolved, were interrupted, or live in a host's memory.
const UNUSUAL: &str = "
SELECT count(*) FILTER (WHERE NOT waits),
    count(*) FILTER (WHERE waits AND NOT lost AND interrupted),
    count(*) FILTER (WHERE waits AND lost)
FROM (
    SELECT a.state <> 'resolving' OR lease_over(a.holder, a.lease_until) AS waits,
        a.interrupted OR (a.state = 'resolving' AND coalesce(a.decision, 'apply') = 'apply') AS interrupted,
        NOT a.durable AND host_gone(a.owner) AS lost
    FROM actions a INDEXED BY unusual_actions
    WHERE a.resolved IS NULL AND (a.state = 'resolving' OR a.interrupted <> 0 OR a.durable = 0)
)";

/// Enables the totals for everything that this connection writes.
pub(super) fn keep(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TRIGGERS)
}

/// Reads the totals, and counts the rest.
pub(super) fn read(connection: &Connection, stats: &mut StoreStats) -> Result<(), Problem> {
    let totals = "SELECT sessions, open, bytes, applied, discarded FROM totals";
    let open = connection.query_row(totals, [], |row| {
        stats.sessions = row.get(0)?;
        stats.pending_bytes = row.get(2)?;
        stats.applied = row.get(3)?;
        stats.discarded = row.get(4)?;
        row.get::<_, u64>(1)
    })?;
    connection.query_row(UNUSUAL, [], |row| {
        stats.resolving = row.get(0)?;
        stats.interrupted = row.get(1)?;
        stats.lost = row.get(2)?;
        Ok(())
    })?;
    stats.pending = open.saturating_sub(stats.resolving);
    Ok(())
}

/// Compares the totals with the actions.
pub(super) fn check(connection: &Connection, problems: &mut Vec<String>) -> Result<(), Problem> {
    let wrong = "SELECT EXISTS (SELECT 1 FROM totals) AND NOT EXISTS (
        SELECT sessions, open, bytes, applied, discarded FROM totals
        EXCEPT SELECT count(DISTINCT session) FILTER (WHERE resolved IS NULL),
            count(*) FILTER (WHERE resolved IS NULL),
            coalesce(sum(bytes) FILTER (WHERE resolved IS NULL), 0),
            count(*) FILTER (WHERE resolved IS NOT NULL AND state = 'applied'),
            count(*) FILTER (WHERE resolved IS NOT NULL AND state <> 'applied')
        FROM actions)";
    if !connection.query_row(wrong, [], |row| row.get::<_, bool>(0))? {
        let problem = "the numbers of its actions are not what is told by `store stats`";
        problems.push(problem.to_owned());
    }
    Ok(())
}
