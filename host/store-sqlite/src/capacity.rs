//! The limit on the file's size, and returning free pages to the file system.

use airlock_model::store::DEFAULT_BYTE_LIMIT;
use rusqlite::{Connection, OptionalExtension, params};

use super::problem::Problem;

const LIMIT: &str = "byte_limit";

/// The value that means no limit.
const NO_LIMIT: &str = "none";

/// Number of free pages to keep in the file for the next pushes.
const LOOSE: u64 = 512;

/// Number of pages to return in one commit, to keep each commit short.
const BATCH_PAGES: u32 = 4096;

/// Returns the maximum size of the pages in use, in bytes.
pub(super) fn limit(connection: &Connection) -> Result<Option<u64>, Problem> {
    let value: Option<String> = connection
        .prepare_cached("SELECT value FROM meta WHERE name = ?")?
        .query_row([LIMIT], |row| row.get(0))
        .optional()?;
    match value.as_deref() {
        None => Ok(Some(DEFAULT_BYTE_LIMIT)),
        Some(NO_LIMIT) => Ok(None),
        Some(number) => match number.parse() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(_) => Err(Problem::BadRow("the limit is not a number".to_owned())),
        },
    }
}

pub(super) fn set_limit(connection: &Connection, limit: Option<u64>) -> Result<(), Problem> {
    let limit = limit.map_or(NO_LIMIT.to_owned(), |bytes| bytes.to_string());
    let set = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
    connection.execute(set, params![LIMIT, limit])?;
    Ok(())
}

/// Returns the free space in bytes.
///
/// # Errors
/// [`Problem::StoreFull`] if there is no room for the pushed bytes.
pub(super) fn check(connection: &Connection, pushed: u64) -> Result<u64, Problem> {
    let Some(limit) = limit(connection)? else {
        return Ok(u64::MAX);
    };
    let pages =
        number(connection, "PRAGMA page_count")? - number(connection, "PRAGMA freelist_count")?;
    let held = pages * number(connection, "PRAGMA page_size")?;
    let left = limit.saturating_sub(held);
    if pushed > left {
        Err(Problem::StoreFull {
            limit,
            held,
            pushed,
        })
    } else {
        Ok(left)
    }
}

/// Returns whether more than half of the allowed size is in use.
pub(super) fn is_tight(connection: &Connection) -> Result<bool, Problem> {
    let Some(limit) = limit(connection)? else {
        return Ok(false);
    };
    Ok(check(connection, limit / 2).is_err())
}

/// Returns whether the file has too many free pages.
pub(super) fn is_loose(connection: &Connection) -> Result<bool, Problem> {
    Ok(number(connection, "PRAGMA freelist_count")? > LOOSE)
}

/// Returns some of the free pages to the file system. Returns whether there are more. The file
/// itself shrinks when its log is next written back.
pub(super) fn give_back(connection: &Connection) -> Result<bool, Problem> {
    let before = number(connection, "PRAGMA freelist_count")?;
    if before <= LOOSE {
        return Ok(false);
    }
    let pages = (before - LOOSE).min(u64::from(BATCH_PAGES));
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    // Each step frees a page.
    while rows.next()?.is_some() {}
    let after = number(connection, "PRAGMA freelist_count")?;
    Ok(after > LOOSE && after < before)
}

/// Rewrites a file of an older version, which can't return pages, once that is worth it. The
/// rewritten file can.
pub(super) fn rewrite_where_loose(connection: &Connection) -> rusqlite::Result<()> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    connection.pragma_update(None, "query_only", false)?;
    let free = pragma("freelist_count")?;
    if pragma("auto_vacuum")? == 0 && free > LOOSE && free > pragma("page_count")? / 4 {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.execute_batch("VACUUM")?;
    }
    // Returned pages leave the file now, unless a reader still uses it.
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

fn number(connection: &Connection, pragma: &str) -> Result<u64, Problem> {
    Ok(connection
        .prepare_cached(pragma)?
        .query_row([], |row| row.get(0))?)
}
