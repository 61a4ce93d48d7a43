//! The tables, and their migrations.

use std::collections::BTreeMap;

use airlock_model::digest::Digest;
use rusqlite::{Connection, TransactionBehavior};

use super::problem::Problem;

/// The version of the tables below, in the file's `user_version`.
pub(super) const VERSION: u32 = 11;

/// Marks a SQLite file as ours, in its `application_id`: "Alck".
pub(super) const APPLICATION_ID: u32 = 0x416c_636b;

/// The digest of the schema after all steps. Computing it takes some milliseconds each time a
/// program opens a store.
const NEWEST: &str = "sha256:b61dbbdad3dd428cb5d731273d7427d000a500125ac1d092cb372864f58f7a91";

/// The steps, one for each version, starting from an empty file. Never change a released step.
const STEPS: [&str; VERSION as usize] = [
    FIRST,
    FEWER_PAGES,
    PLACES_AND_SIZES,
    CALLS_AND_DECIDERS,
    EXPIRY,
    EFFECTS,
    SPENDINGS,
    TOTALS,
    INTERRUPTIONS,
    DENIALS,
    PARTS,
];

const FIRST: &str = "
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE plugins (
    digest BLOB PRIMARY KEY,
    name TEXT NOT NULL,
    bytes BLOB NOT NULL
) STRICT;

-- Columns that change with the state are kept apart from large ones, which SQLite would write again with them.
CREATE TABLE actions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    -- On the stack of its session, topmost highest; what is claimed keeps its place.
    position INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'resolving', 'applied', 'discarded')),
    interrupted INTEGER NOT NULL DEFAULT 0,
    label TEXT NOT NULL,
    source_tool_name TEXT NOT NULL,
    has_reject INTEGER NOT NULL,
    durable INTEGER NOT NULL,
    plugin BLOB NOT NULL,
    grants TEXT NOT NULL,
    workspace BLOB,
    -- Milliseconds since 1970, as all times but leases.
    pushed_at INTEGER NOT NULL,
    -- The host whose memory a volatile action lives in.
    owner TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    -- Counts the claims of this action, so that one that was lost can be told from a later one.
    token INTEGER NOT NULL DEFAULT 0,
    -- The claim, and what was decided.
    holder TEXT,
    holder_name TEXT,
    claimed_at INTEGER,
    -- Milliseconds since the machine started: it can't jump, and after a restart no holder is alive anyway.
    lease_until INTEGER,
    decision TEXT,
    decided_by TEXT,
    reason TEXT,
    extra TEXT,
    -- The end: its place among all ends, the time, the result's SHA-256, a failed reject's error.
    resolved INTEGER,
    resolved_at INTEGER,
    result BLOB,
    error TEXT
) STRICT;

CREATE INDEX open_actions ON actions (session, position) WHERE state IN ('pending', 'resolving');
CREATE INDEX resolved_actions ON actions (resolved, resolved_at, number) WHERE resolved IS NOT NULL;
CREATE INDEX resolved_of_session ON actions (session, resolved) WHERE resolved IS NOT NULL;

CREATE TABLE details (
    action INTEGER PRIMARY KEY,
    json TEXT NOT NULL
) STRICT;

CREATE TABLE guest_states (
    action INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
";

/// The cost of a commit is the number of pages that it writes. So small details and states are in
/// the action's own row. Only large ones are stored separately, where a change of state does not
/// write them again. The condition of the index of open actions changes only when an action ends,
/// because SQLite writes an index's page whenever a column of its condition is set.
const FEWER_PAGES: &str = "
ALTER TABLE actions ADD COLUMN details TEXT;
ALTER TABLE actions ADD COLUMN guest_state BLOB;
ALTER TABLE details RENAME TO large_details;
ALTER TABLE guest_states RENAME TO large_guest_states;
DROP INDEX open_actions;
CREATE INDEX open_actions ON actions (session, position) WHERE resolved IS NULL;
";

/// The source and the size of a push. The index of open actions contains a session's bytes and the
/// needed plugins, so the rows need not be read.
const PLACES_AND_SIZES: &str = "
ALTER TABLE actions ADD COLUMN plugin_name TEXT;
ALTER TABLE actions ADD COLUMN source_is_own_tool INTEGER NOT NULL DEFAULT 0;
ALTER TABLE actions ADD COLUMN workspace_identity TEXT;
-- Of the label, the details and the state, as they were pushed.
ALTER TABLE actions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE actions SET
    plugin_name = (SELECT name FROM plugins WHERE digest = plugin),
    bytes = length(CAST(label AS BLOB))
        + coalesce(length(CAST(details AS BLOB)),
            (SELECT length(CAST(json AS BLOB)) FROM large_details WHERE action = number), 0)
        + coalesce(length(guest_state), (SELECT length(bytes) FROM large_guest_states WHERE action = number), 0)
    WHERE resolved IS NULL;
DROP INDEX open_actions;
CREATE INDEX open_actions ON actions (session, position, bytes, plugin) WHERE resolved IS NULL;
";

/// The call and its result; the decider, of which only a name was stored before, and how the host
/// knows it. Older rows have none of this.
const CALLS_AND_DECIDERS: &str = "
CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    called_at INTEGER NOT NULL,
    -- Params and content as JSON; null where they stand in pieces, compressed.
    body BLOB
) STRICT;
CREATE TABLE call_pieces (
    call TEXT NOT NULL,
    place INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (call, place)
) STRICT;
ALTER TABLE actions ADD COLUMN call TEXT;
CREATE INDEX actions_of_calls ON actions (call) WHERE call IS NOT NULL;
ALTER TABLE actions ADD COLUMN actor TEXT;
ALTER TABLE actions ADD COLUMN evidence TEXT;
";

const EXPIRY: &str = "
ALTER TABLE actions ADD COLUMN expires_at INTEGER;
";

/// The effects of actions that the host observed in rehearsals.
const EFFECTS: &str = "
-- Applies of earlier versions wrote to the workspace itself: nobody can find out what those did that were cut off.
UPDATE actions SET last_error = last_error || ' (by an earlier version)' WHERE interrupted AND resolved IS NULL;
-- All but the changes, as JSON; what that and they count for, which is a part of the action's bytes.
ALTER TABLE actions ADD COLUMN effects TEXT;
ALTER TABLE actions ADD COLUMN effects_bytes INTEGER NOT NULL DEFAULT 0;
-- The changes, compressed.
CREATE TABLE effect_pieces (
    action INTEGER NOT NULL,
    place INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (action, place)
) STRICT;
";

/// The budget use of actions; each action counts once per account.
const SPENDINGS: &str = "
CREATE TABLE spendings (
    account TEXT NOT NULL,
    action TEXT NOT NULL,
    files INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    deletions INTEGER NOT NULL,
    spent_at INTEGER NOT NULL,
    -- It is forgotten then.
    kept_until INTEGER NOT NULL,
    PRIMARY KEY (account, action)
) STRICT, WITHOUT ROWID;
CREATE INDEX spendings_of_accounts ON spendings (account, spent_at);
";

/// Totals of all actions, so that a million rows need not be read, and the open actions that are
/// not simply pending.
const TOTALS: &str = "
CREATE TABLE totals (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    -- Of what is open: sessions, actions, their bytes.
    sessions INTEGER NOT NULL,
    open INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    -- Of what is remembered.
    applied INTEGER NOT NULL,
    discarded INTEGER NOT NULL
) STRICT;
INSERT INTO totals SELECT 1,
    (SELECT count(*) FROM (SELECT DISTINCT session FROM actions WHERE resolved IS NULL)),
    count(*) FILTER (WHERE resolved IS NULL),
    coalesce(sum(bytes) FILTER (WHERE resolved IS NULL), 0),
    count(*) FILTER (WHERE resolved IS NOT NULL AND state = 'applied'),
    count(*) FILTER (WHERE resolved IS NOT NULL AND state <> 'applied')
    FROM actions;
CREATE INDEX unusual_actions ON actions (number)
    WHERE resolved IS NULL AND (state = 'resolving' OR interrupted <> 0 OR durable = 0);
";

/// `interrupted` contains the number of an [`Interruption`](airlock_model::pending::Interruption).
/// Before, the error's text distinguished them.
const INTERRUPTIONS: &str = "
UPDATE actions SET interrupted = 2 WHERE interrupted AND resolved IS NULL AND last_error IS NOT
    'an apply was begun, and its host stopped before the end was recorded: it may have taken effect, wholly or in part';
";

/// Denials of actions. The numbers count all denials of an action; the table has the last ones.
const DENIALS: &str = "
CREATE TABLE denials (
    action INTEGER NOT NULL,
    number INTEGER NOT NULL,
    denied_at INTEGER NOT NULL,
    denial TEXT NOT NULL,
    PRIMARY KEY (action, number)
) STRICT;
CREATE INDEX denials_by_time ON denials (denied_at);
";

/// The part of an action's changes that was applied, as JSON; null for all of them.
const PARTS: &str = "
ALTER TABLE actions ADD COLUMN part TEXT;
";

/// The reason why a file can't be used as a store.
pub(super) enum SchemaMismatch {
    /// The file is a SQLite database of another program.
    Foreign,
    /// Another program changed the schema or added to it.
    Altered(String),
    /// A later version of this library changed the tables.
    Newer(u32),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for SchemaMismatch {
    fn from(error: rusqlite::Error) -> Self {
        SchemaMismatch::Sqlite(error)
    }
}

/// Refuses a file whose tables a newer version has changed since it was opened, because rows
/// written by this version would lack data that the newer one needs. Call it inside the
/// transaction.
pub(super) fn refuse_newer(connection: &Connection) -> Result<(), Problem> {
    let version: u32 = connection
        .prepare_cached("PRAGMA user_version")?
        .query_row([], |row| row.get(0))?;
    if version > VERSION {
        Err(Problem::Newer(version))
    } else {
        Ok(())
    }
}

/// Creates missing tables and migrates old ones.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), SchemaMismatch> {
    if version_now(connection)? == Some(VERSION) {
        return compare(connection, VERSION);
    }
    // Another process may migrate too; the second one finds the work done.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = version(&transaction)?.unwrap_or(0);
    // Make sure that no foreign trigger runs during the migration.
    compare(&transaction, done)?;
    for step in &STEPS[done as usize..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

/// Returns the version of the file's tables; `None` for an empty file.
///
/// It is read in one transaction. Another process may be creating the tables at the same time, and
/// a partial schema would look like another program's file.
pub(super) fn version_now(connection: &Connection) -> Result<Option<u32>, SchemaMismatch> {
    let transaction = connection.unchecked_transaction()?;
    let version = version(&transaction)?;
    transaction.finish()?;
    Ok(version)
}

fn version(connection: &Connection) -> Result<Option<u32>, SchemaMismatch> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    if application != APPLICATION_ID {
        let count = "SELECT count(*) FROM sqlite_schema";
        let is_empty = connection.query_row(count, [], |row| row.get::<_, u32>(0))? == 0;
        return if is_empty && application == 0 && version == 0 {
            Ok(None)
        } else {
            Err(SchemaMismatch::Foreign)
        };
    }
    if version > VERSION {
        Err(SchemaMismatch::Newer(version))
    } else {
        Ok(Some(version))
    }
}

/// Tables, indexes, triggers and views: the statements that created them, by kind and name.
type Schema = BTreeMap<(String, String), String>;

/// Checks that the schema is exactly the one that this library creates. An extra trigger could
/// silently change stored data.
fn compare(connection: &Connection, version: u32) -> Result<(), SchemaMismatch> {
    let found = schema(connection)?;
    if version == VERSION && digest(&found).to_string() == NEWEST {
        return Ok(());
    }
    let expected = expected(version)?;
    let is = |(kind, name): &(String, String)| format!("the {kind} `{name}`");
    for (object, made_by) in &found {
        match expected.get(object) {
            None => return Err(SchemaMismatch::Altered(format!("it has {}", is(object)))),
            Some(expected) if expected != made_by => {
                let what = format!("{} is not as it was made", is(object));
                return Err(SchemaMismatch::Altered(what));
            }
            Some(_) => {}
        }
    }
    match expected.keys().find(|object| !found.contains_key(*object)) {
        Some(missing) => Err(SchemaMismatch::Altered(format!("it lacks {}", is(missing)))),
        None => Ok(()),
    }
}

fn expected(version: u32) -> Result<Schema, rusqlite::Error> {
    let connection = Connection::open_in_memory()?;
    for step in &STEPS[..version as usize] {
        connection.execute_batch(step)?;
    }
    schema(&connection)
}

fn digest(schema: &Schema) -> Digest {
    let mut text = String::new();
    for ((kind, name), made_by) in schema {
        text.extend([kind, "\n", name, "\n", made_by, "\n"]);
    }
    Digest::of(text.as_bytes())
}

fn schema(connection: &Connection) -> Result<Schema, rusqlite::Error> {
    // The tables of `ANALYZE` belong to SQLite and have no effect on results.
    let select = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE substr(name, 1, 11) <> 'sqlite_stat'";
    let mut statement = connection.prepare(select)?;
    let rows = statement.query_map([], |row| {
        let sql: String = row.get(2)?;
        // SQLite versions differ in the whitespace and quoting of stored statements.
        let plain = sql.chars().filter(|c| !c.is_whitespace() && *c != '"');
        Ok(((row.get(0)?, row.get(1)?), plain.collect()))
    })?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_schema_that_the_steps_make() {
        assert_eq!(digest(&expected(VERSION).unwrap()).to_string(), NEWEST);
    }

    #[test]
    fn a_file_of_the_first_version_is_brought_up_to_date_with_all_that_it_has() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(FIRST).unwrap();
        let rows = "INSERT INTO actions (id, session, position, state, label, source_tool_name, has_reject, durable,
                plugin, grants, pushed_at)
            VALUES ('a', 'one', 1, 'pending', 'Kept', 'tool', 0, 1, x'00', '{}', 1);
            INSERT INTO details VALUES (1, '7');
            INSERT INTO guest_states VALUES (1, x'0708');";
        connection.execute_batch(rows).unwrap();
        connection
            .pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        let Ok(()) = migrate(&mut connection) else {
            panic!("it can be brought up to date");
        };
        let select = "SELECT label, json, s.bytes FROM actions
            JOIN large_details AS d ON d.action = number JOIN large_guest_states AS s ON s.action = number";
        let kept = connection.query_row(select, [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        });
        let expected = ("Kept".to_owned(), "7".to_owned(), vec![7, 8]);
        assert_eq!(kept.unwrap(), expected);
        assert!(matches!(version_now(&connection), Ok(Some(VERSION))));
    }

    #[test]
    fn a_file_of_the_version_before_denials_keeps_what_it_has_and_takes_denials() {
        use airlock_model::actor::Actor;
        use airlock_model::denial::{Denial, DeniedBy};
        use airlock_model::pending::{ActionId, Resolution, SessionId};

        let mut connection = Connection::open_in_memory().unwrap();
        for step in &STEPS[..9] {
            connection.execute_batch(step).unwrap();
        }
        let row = "INSERT INTO actions (id, session, position, state, label, source_tool_name,
                has_reject, durable, plugin, grants, pushed_at, interrupted, last_error)
            VALUES ('a', 'one', 1, 'pending', 'A', 'tool', 0, 1, x'00', '{}', 1, 1, 'cut off')";
        connection.execute_batch(row).unwrap();
        let set = |name, value| connection.pragma_update(None, name, value).unwrap();
        set("application_id", APPLICATION_ID);
        set("user_version", 9);
        let Ok(()) = migrate(&mut connection) else {
            panic!("it can be brought up to date");
        };
        let select = "SELECT interrupted, last_error FROM actions";
        let kept = connection.query_row(select, [], |row| Ok((row.get(0)?, row.get(1)?)));
        assert_eq!(kept.unwrap(), (1, "cut off".to_owned()));
        let (session, action) = (SessionId::from("one"), ActionId::from("a"));
        let asked = Resolution::apply("");
        let denial = Denial::new(&asked, Actor::Model.into(), DeniedBy::Rule, "no");
        let denials = || crate::denials::of_action(&connection, &session, &action).unwrap();
        assert_eq!(denials(), []);
        crate::denials::record(&connection, &session, &action, &denial.to_row()).unwrap();
        assert_eq!(denials()[0].denial, denial);
    }

    #[test]
    fn where_an_end_is_known_is_taken_from_the_error_of_every_earlier_version() {
        let known = "an apply was begun, and its host stopped before the end was recorded: it may have taken effect, wholly or in part";
        let check = |version: u32, interrupted: u32, error: Option<&str>, expected: u32| {
            let mut connection = Connection::open_in_memory().unwrap();
            for step in &STEPS[..version as usize] {
                connection.execute_batch(step).unwrap();
            }
            let row = "INSERT INTO actions (id, session, position, state, label, source_tool_name,
                    has_reject, durable, plugin, grants, pushed_at, interrupted, last_error)
                VALUES ('a', 'one', 1, 'pending', 'A', 'tool', 0, 1, x'00', '{}', 1, ?, ?)";
            connection.execute(row, (interrupted, error)).unwrap();
            let set = |name, value| connection.pragma_update(None, name, value).unwrap();
            set("application_id", APPLICATION_ID);
            set("user_version", version);
            let Ok(()) = migrate(&mut connection) else {
                panic!("it can be brought up to date");
            };
            let select = "SELECT interrupted FROM actions";
            let found: u32 = connection.query_row(select, [], |row| row.get(0)).unwrap();
            assert_eq!(found, expected, "version {version}, {error:?}");
        };
        // The step from version 8 to 9 reads it.
        for version in 1..9 {
            check(version, 0, None, 0);
            check(version, 0, Some("Apply failed: no"), 0);
            // Applies of the first five versions were no one step.
            check(version, 1, Some(known), if version < 6 { 2 } else { 1 });
            check(version, 1, Some("this comes from a backup"), 2);
            check(version, 1, None, 2);
        }
    }
}
