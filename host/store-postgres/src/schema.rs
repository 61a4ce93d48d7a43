//! The tables and their migrations. Any number of hosts may start on an empty database at once.

use airlock_model::store::{BackendErrorKind, StoreError};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row, raw_sql};

use super::connections::Statement;
use super::problem::{Failure, is_deadlock};

/// The version of the tables that this library reads and writes: one per step. A literal, so that
/// it can be part of a statement's text.
macro_rules! schema_version {
    () => {
        10
    };
}

/// The prefix of the invalid boolean in the error that [`same_schema`] raises.
macro_rules! other_schema {
    () => {
        "airlock schema "
    };
}

/// A condition for statements: the tables still have the version that this library knows. If a
/// newer host has changed them since this one connected, the condition raises an error, and the
/// statement does nothing.
///
/// It uses no row of the statement, so the server evaluates it once, before reading any row. A
/// statement keeps its lock on `airlock.meta` until it ends and takes its snapshot after the lock,
/// so none is in progress while [`bring_up_to_date`] changes the version.
macro_rules! same_schema {
    () => {
        concat!(
            "('",
            $crate::schema::other_schema!(),
            "' || nullif((SELECT value FROM airlock.meta WHERE name = 'schema'), '",
            $crate::schema::schema_version!(),
            "'))::boolean IS NULL"
        )
    };
}

pub(super) use {other_schema, same_schema, schema_version};

/// Checks that the tables still have the version that this library knows, and does nothing else.
pub const IS_SAME: &str = concat!("SELECT 1 WHERE ", same_schema!());

/// The migration from each version to the next. Never change a released one: add another.
const STEPS: [&str; VERSION as usize] = [
    include_str!("schema-1.sql"),
    include_str!("schema-2.sql"),
    include_str!("schema-3.sql"),
    include_str!("schema-4.sql"),
    include_str!("schema-5.sql"),
    include_str!("schema-6.sql"),
    include_str!("schema-7.sql"),
    include_str!("schema-8.sql"),
    include_str!("schema-9.sql"),
    include_str!("schema-10.sql"),
];

/// The version that this library writes.
pub const VERSION: u32 = schema_version!();

/// An advisory lock number that other programs are unlikely to use: `airlock` in ASCII.
const LOCK: i64 = 0x61_6972_6c6f_636b;

/// Returns whether the schema is the one that this library needs.
pub async fn is_up_to_date(
    connection: &mut PgConnection,
    location: &str,
) -> Result<bool, StoreError> {
    check_encoding(connection, location).await?;
    let found = version(connection).await;
    let found = found.map_err(|error| Failure::from(error).at(location))?;
    refuse_newer(found, location)?;
    if found > 0 {
        refuse_altered(connection, location).await?;
    }
    Ok(found == VERSION)
}

/// Refuses triggers and rules on our tables, which could silently change stored data. This library
/// creates neither.
async fn refuse_altered(connection: &mut PgConnection, location: &str) -> Result<(), StoreError> {
    let added = Statement::new(
        "SELECT format('the trigger `%s` on the table `%s`', t.tgname, c.relname) AS what
            FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_class AS c ON c.oid = t.tgrelid
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = 'airlock' AND NOT t.tgisinternal
        UNION ALL
        SELECT format('the rule `%s` on `%s`', r.rulename, c.relname)
            FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_class AS c ON c.oid = r.ev_class
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = 'airlock' AND c.relname IN ('meta', 'plugins', 'sessions', 'hosts', 'actions', 'calls', 'call_pieces', 'effect_pieces', 'accounts', 'spendings', 'denials')
        LIMIT 1",
    );
    let at = |error: sqlx::Error| Failure::from(error).at(location);
    let added = added.rows(connection).await.map_err(at)?;
    let Some(row) = added.first() else {
        return Ok(());
    };
    let what: String = row.try_get("what").map_err(at)?;
    Err(StoreError::backend(
        BackendErrorKind::Damaged,
        location,
        format!(
            "was altered: it has {what}; this program creates no such thing, and it could silently change what is stored; drop it, and check what it did"
        ),
    ))
}

/// Migrates the schema. Takes as long as the server needs to read all rows. Connected hosts wait
/// until then, and afterwards fail because the store is newer.
pub async fn bring_up_to_date(
    connection: &mut PgConnection,
    location: &str,
) -> Result<(), StoreError> {
    let at = |error: sqlx::Error| Failure::from(error).at(location);
    let found = loop {
        match begin(connection).await {
            Ok(found) => break found,
            // The server ends one of two deadlocked transactions. It has done nothing yet.
            Err(error) if is_deadlock(&error) => {
                let back = raw_sql("ROLLBACK").execute(&mut *connection).await;
                back.map_err(at)?;
            }
            Err(error) => return Err(at(error)),
        }
    };
    // If this fails, the connection is closed, which ends the transaction.
    refuse_newer(found, location)?;
    for step in STEPS.iter().skip(found as usize) {
        raw_sql(*step).execute(&mut *connection).await.map_err(at)?;
    }
    let write = Statement::new(
        "INSERT INTO airlock.meta (name, value) VALUES ('schema', $1)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    );
    let write = write.bind(VERSION.to_string());
    write.rows(connection).await.map_err(at)?;
    raw_sql("COMMIT").execute(connection).await.map_err(at)?;
    Ok(())
}

/// Begins a transaction with exclusive use of the tables, and returns their version.
async fn begin(connection: &mut PgConnection) -> Result<u32, sqlx::Error> {
    raw_sql("BEGIN").execute(&mut *connection).await?;
    let lock = Statement::new("SELECT pg_advisory_xact_lock($1)").bind(LOCK);
    lock.rows(connection).await?;
    // Another host may have migrated while this one waited.
    let found = version(connection).await?;
    if (1..VERSION).contains(&found) {
        // The lock on `meta` is the essential one: see `same_schema`. The others are taken here
        // and not by the steps, because a deadlock would discard the work done by then.
        raw_sql(
            "LOCK TABLE airlock.actions, airlock.sessions, airlock.plugins, airlock.hosts, airlock.meta IN ACCESS EXCLUSIVE MODE",
        )
        .execute(connection)
        .await?;
    }
    Ok(found)
}

/// Returns the current version; 0 if there are no tables.
async fn version(connection: &mut PgConnection) -> Result<u32, sqlx::Error> {
    // The first query looks for the table without failing if it does not exist.
    let there = Statement::new(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = 'airlock' AND c.relname = 'meta')",
    );
    let there: bool = one(&there.rows(connection).await?)?.try_get(0)?;
    if !there {
        return Ok(0);
    }
    let read = Statement::new("SELECT value FROM airlock.meta WHERE name = 'schema'");
    match read.rows(connection).await?.first() {
        Some(row) => {
            let value: String = row.try_get(0)?;
            // An unreadable version is surely not older.
            Ok(value.parse().unwrap_or(u32::MAX))
        }
        None => Ok(0),
    }
}

fn one(rows: &[PgRow]) -> Result<&PgRow, sqlx::Error> {
    rows.first().ok_or(sqlx::Error::RowNotFound)
}

fn refuse_newer(found: u32, location: &str) -> Result<(), StoreError> {
    if found > VERSION {
        let (kind, problem) = other(found);
        Err(StoreError::backend(kind, location, problem))
    } else {
        Ok(())
    }
}

/// Returns the problem with tables of another version, as a clause.
fn other(found: u32) -> (BackendErrorKind, String) {
    if found > VERSION {
        (
            BackendErrorKind::Newer,
            format!(
                "was made by a newer version: its schema is {found}, and this program supports at most {VERSION}; use a newer airlock"
            ),
        )
    } else {
        (
            BackendErrorKind::Missing,
            format!(
                "was replaced by an older one after this host had connected: its schema is {found} instead of {VERSION}; restart this program, which brings it up to date"
            ),
        )
    }
}

/// Returns the problem if `message` is an error that [`same_schema`] raised, whatever the server's
/// language.
pub fn other_than_ours(message: &str) -> Option<(BackendErrorKind, String)> {
    let (_, found) = message.split_once(other_schema!())?;
    let digits = found.find(|letter: char| !letter.is_ascii_digit());
    // An unreadable version is surely not older.
    let found = found[..digits.unwrap_or(found.len())].parse();
    Some(other(found.unwrap_or(u32::MAX)))
}

/// Checks that the database can store any text.
async fn check_encoding(connection: &mut PgConnection, location: &str) -> Result<(), StoreError> {
    let show = Statement::new("SELECT current_setting('server_encoding')");
    let encoding = async { one(&show.rows(connection).await?)?.try_get::<String, _>(0) };
    let encoding = encoding
        .await
        .map_err(|error| Failure::from(error).at(location))?;
    match encoding.as_str() {
        "UTF8" | "SQL_ASCII" => Ok(()),
        other => Err(StoreError::backend(
            BackendErrorKind::Settings,
            location,
            format!(
                "has the encoding {other}, which can't hold every text; create the database with the encoding UTF8"
            ),
        )),
    }
}
