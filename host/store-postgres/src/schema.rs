//! The tables, and how they come to be: any number of hosts may start on an empty database at once.

use airlock_model::store::{BackendErrorKind, StoreError};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row, raw_sql};

use super::connections::Statement;
use super::problem::Failure;

/// What brings the schema from each version to the next one. Never change one that was released:
/// add another.
const STEPS: [&str; 5] = [
    include_str!("schema-1.sql"),
    include_str!("schema-2.sql"),
    include_str!("schema-3.sql"),
    include_str!("schema-4.sql"),
    include_str!("schema-5.sql"),
];

/// The version that this library writes.
pub const VERSION: u32 = STEPS.len() as u32;

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
            WHERE n.nspname = 'airlock' AND c.relname IN ('meta', 'plugins', 'sessions', 'hosts', 'actions', 'calls', 'call_pieces')
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

/// Makes it that. Takes as long as the server takes to read all rows.
pub async fn bring_up_to_date(
    connection: &mut PgConnection,
    location: &str,
) -> Result<(), StoreError> {
    let at = |error: sqlx::Error| Failure::from(error).at(location);
    raw_sql("BEGIN")
        .execute(&mut *connection)
        .await
        .map_err(at)?;
    // The connection is closed where this fails, and with it the transaction.
    let lock = Statement::new("SELECT pg_advisory_xact_lock($1)").bind(LOCK);
    lock.rows(connection).await.map_err(at)?;
    // Somebody else may have done it while we waited.
    let found = version(connection).await.map_err(at)?;
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
    if found <= VERSION {
        return Ok(());
    }
    Err(StoreError::backend(
        BackendErrorKind::Newer,
        location,
        format!(
            "was made by a newer version: its schema is {found}, and this program supports at most {VERSION}; use a newer airlock"
        ),
    ))
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
