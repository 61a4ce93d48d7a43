//! The log of commits, which stays next to the file for the next program that opens the store.
//! Writing it back and creating a new one takes longer than everything else that a short-lived
//! command does.

use std::fs::File;
use std::io;
use std::path::Path;

use airlock_model::regular::open_regular_file;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::foreign::beside;

/// Maximum size of a log that is left in place. The last process to close the store writes a
/// larger one back, because opening a store reads the whole log.
const LEFT: u64 = 2 << 20;

/// Lets the connection keep the log when it is closed.
pub(super) fn leave(connection: &Connection) -> rusqlite::Result<()> {
    leave_or_not(connection, true)
}

/// Keeps the log if it is small. Call it before closing a connection: the last one to close writes
/// a large log back.
pub(super) fn leave_if_small(connection: &Connection, path: &Path) {
    let is_large = length(path).is_ok_and(|bytes| bytes > LEFT);
    if is_large && let Err(error) = leave_or_not(connection, false) {
        tracing::warn!("the log of {} is not written back: {error}", path.display());
    }
}

/// Syncs the log to disk.
///
/// # Errors
/// If the log exists and can't be synced. A missing log was already written back.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    match open_regular_file(beside(path, "-wal")).and_then(|log: File| log.sync_all()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        synced => synced,
    }
}

/// Returns the size of the log of the store at `path`, in bytes; 0 if there is none.
///
/// # Errors
/// If the size can't be read.
pub(super) fn length(path: &Path) -> io::Result<u64> {
    match beside(path, "-wal").metadata() {
        Ok(found) => Ok(found.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

fn leave_or_not(connection: &Connection, left: bool) -> rusqlite::Result<()> {
    let config = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(config, left).map(drop)
}
