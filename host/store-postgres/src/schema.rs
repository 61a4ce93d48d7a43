//! The tables, and how they come to be: any number of hosts may start on an empty database at once.

use airlock_model::store::{BackendErrorKind, StoreError};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row, raw_sql};

use super::connections::Statement;
use super::problem::{Failure, is_deadlock};

/// The version of the tables that this library reads and writes: one for each step. A literal, so
/// that statements can have it in their texts.
macro_rules! schema_version {
    () => {
        9
    };
}

/// What begins the text that is no boolean, in the error that [`same_schema`] makes.
macro_rules! other_schema {
    () => {
        "airlock schema "
    };
}

/// A condition for statements: the tables have still the version that this library knows. Where a
/// newer host has changed them since this one connected, it is an error, and the statement does
/// nothing.
///
/// It needs no row of the statement's own, so the server evaluates it once, before it reads any.
/// A statement keeps its lock on `airlock.meta` until it has ended, and takes its snapshot after
/// that, so none is under way while [`bring_up_to_date`] changes the version.
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

/// Nothing but whether the tables have still the version that this library knows.
pub const IS_SAME: &str = concat!("SELECT 1 WHERE ", same_schema!());

/// What brings the schema from each version to the next one. Never change one that was released:
/// add another.
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
];

/// The version that this library writes.
pub const VERSION: u32 = schema_version!();

/// A number that no other program is likely to lock: `airlock` in ASCII.
const LOCK: i64 = 0x61_6972_6c6f_636b;

/// Whether the schema is what this library needs.
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

/// A trigger or a rule on one of our tables changes what is kept, unseen. This library makes
/// neither.
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

/// Makes it that. Takes as long as the server takes to read all rows; hosts that are connected wait
/// meanwhile, and are told afterwards that the store is newer.
pub async fn bring_up_to_date(
    connection: &mut PgConnection,
    location: &str,
) -> Result<(), StoreError> {
    let at = |error: sqlx::Error| Failure::from(error).at(location);
    let found = loop {
        match begin(connection).await {
            Ok(found) => break found,
            // Of two that wait for each other the server ends one. It has done nothing yet.
            Err(error) if is_deadlock(&error) => {
                let back = raw_sql("ROLLBACK").execute(&mut *connection).await;
                back.map_err(at)?;
            }
            Err(error) => return Err(at(error)),
        }
    };
    // The connection is closed where this fails, and with it the transaction.
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

/// Begins a transaction in which nobody else uses the tables, and gives their version.
async fn begin(connection: &mut PgConnection) -> Result<u32, sqlx::Error> {
    raw_sql("BEGIN").execute(&mut *connection).await?;
    let lock = Statement::new("SELECT pg_advisory_xact_lock($1)").bind(LOCK);
    lock.rows(connection).await?;
    // Somebody else may have done it while we waited.
    let found = version(connection).await?;
    if (1..VERSION).contains(&found) {
        // `meta` is what counts: see `same_schema`. The others are taken here rather than by the
        // steps, since a deadlock would cost what they had done by then.
        raw_sql(
            "LOCK TABLE airlock.actions, airlock.sessions, airlock.plugins, airlock.hosts, airlock.meta IN ACCESS EXCLUSIVE MODE",
        )
        .execute(connection)
        .await?;
    }
    Ok(found)
}

/// The version that is there; 0 for none.
async fn version(connection: &mut PgConnection) -> Result<u32, sqlx::Error> {
    // The first looks for the table without an error where there is none.
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
            // What nobody can read is surely not older.
            Ok(value.parse().unwrap_or(u32::MAX))
        }
        None => Ok(0),
    }
}

fn one(rows: &[PgRow]) -> Result<&PgRow, sqlx::Error> {
    rows.first().ok_or(sqlx::Error::RowNotFound)
}

fn refuse_newer(found: u32, location: &str) -> Result<(), StoreError> {
    match found > VERSION {
        true => {
            let (kind, problem) = other(found);
            Err(StoreError::backend(kind, location, problem))
        }
        false => Ok(()),
    }
}

/// What is wrong with tables of another version, as a clause.
fn other(found: u32) -> (BackendErrorKind, String) {
    match found > VERSION {
        true => (
            BackendErrorKind::Newer,
            format!(
                "was made by a newer version: its schema is {found}, and this program supports at most {VERSION}; use a newer airlock"
            ),
        ),
        false => (
            BackendErrorKind::Missing,
            format!(
                "was replaced by an older one after this host had connected: its schema is {found} instead of {VERSION}; restart this program, which brings it up to date"
            ),
        ),
    }
}

/// What is wrong where [`same_schema`] made the error, of which this is the message, in whichever
/// language the server speaks.
pub fn other_than_ours(message: &str) -> Option<(BackendErrorKind, String)> {
    let (_, found) = message.split_once(other_schema!())?;
    let digits = found.find(|letter: char| !letter.is_ascii_digit());
    // What nobody can read is surely not older.
    let found = found[..digits.unwrap_or(found.len())].parse();
    Some(other(found.unwrap_or(u32::MAX)))
}

/// Any text must fit.
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
