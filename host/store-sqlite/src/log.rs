//! The log of commits, which stays beside the file for the next who opens the store: to write it
//! back and to make another one costs a program of one command more than all that it decides.

use std::fs::File;
use std::io;
use std::path::Path;

use airlock_model::regular::open_regular_file;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::foreign::beside;

/// A log of more bytes is written back by the last who closes the store: who opens it reads all of
/// its log.
const LEFT: u64 = 2 << 20;

/// Lets the connection leave the log as it is when it is closed.
pub(super) fn leave(connection: &Connection) -> rusqlite::Result<()> {
    leave_or_not(connection, true)
}

/// To be asked before a connection is closed: whoever is the last writes back a log that is large.
pub(super) fn leave_if_small(connection: &Connection, path: &Path) {
    let is_large = length(path).is_ok_and(|bytes| bytes > LEFT);
    if is_large && let Err(error) = leave_or_not(connection, false) {
        tracing::warn!("the log of {} is not written back: {error}", path.display());
    }
}

/// Brings what was committed to the disk.
///
/// # Errors
/// Where the log is there and can't be synced. One that is gone was written back.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    match open_regular_file(beside(path, "-wal")).and_then(|log: File| log.sync_all()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        synced => synced,
    }
}

/// How many bytes the log of the store at `path` has; none where there is none.
///
/// # Errors
/// Where that can't be read.
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
