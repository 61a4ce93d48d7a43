//! Backups of the whole store while it is in use.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use airlock_model::regular::open_regular_file;
use airlock_model::store::{BackendErrorKind, StoreError};
use rusqlite::Connection;
use tempfile::NamedTempFile;

use super::SqliteStore;
use super::blocking::blocking;
use super::connection::ConnectionOptions;
use super::foreign;
use super::hosts::{HostRegistry, folder_of, make_private_folder, open_private};
use super::problem::{Problem, unfit};

/// The interruption reason of a restored action, which may have been applied since the backup.
const FROM_A_BACKUP: &str = "this comes from a backup: it may have been resolved, and may have taken effect, after the backup was made";

impl SqliteStore {
    /// Writes a copy of the store to a new file, while the store is in use. In the copy, all open
    /// actions are marked as [interrupted](airlock_model::pending::ActionState::Interrupted),
    /// because they may be resolved after the backup.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if `to` exists or can't be written.
    pub async fn backup(&self, to: impl Into<PathBuf>) -> Result<(), StoreError> {
        let (inner, to) = (Arc::clone(&self.inner), to.into());
        blocking(move || {
            let connection = inner.readers.connect();
            let connection = connection.map_err(|error| Problem::Sqlite(error).at(&inner.path))?;
            // The backup writes to another file.
            let free = connection.pragma_update(None, "query_only", false);
            free.map_err(|error| Problem::Sqlite(error).at(&inner.path))?;
            back_up(&connection, &to)
        })
        .await
    }

    /// Creates a store at `to` from a copy that [`backup`](SqliteStore::backup) wrote.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the copy is damaged or not an Airlock store, or if `to` exists
    /// or can't be written.
    pub async fn restore(
        backup: impl Into<PathBuf>,
        to: impl Into<PathBuf>,
    ) -> Result<(), StoreError> {
        let (backup, to) = (backup.into(), to.into());
        blocking(move || restore(&backup, &to)).await
    }
}

fn back_up(from: &Connection, to: &Path) -> Result<(), StoreError> {
    refuse_existing(to)?;
    let copy = new_file_beside(to)?;
    from.execute("VACUUM INTO ?", [path_text(copy.path(), to)?])
        .map_err(|error| Problem::Sqlite(error).at(to))?;
    finish(copy, to)
}

fn restore(backup: &Path, to: &Path) -> Result<(), StoreError> {
    refuse_existing(to)?;
    for rest in ["-wal", "-shm", "-journal"] {
        // SQLite would use it together with the restored file.
        refuse_existing(&foreign::beside(to, rest))?;
    }
    foreign::refuse_foreign(backup)?;
    make_private_folder(folder_of(to)).map_err(|error| Problem::Io(error).at(to))?;
    let mut copy = new_file_beside(to)?;
    let copied = open_regular_file(backup).and_then(|mut backup| io::copy(&mut backup, &mut copy));
    copied.map_err(|error| Problem::Io(error).at(backup))?;
    // The copied file may not be the one that was checked.
    foreign::refuse_foreign(copy.path()).map_err(|error| renamed(error, copy.path(), backup))?;
    let log = foreign::beside(copy.path(), "-wal");
    copy_log(backup, &log).map_err(|error| Problem::Io(error).at(backup))?;
    let checked = check(copy.path());
    if checked.is_err() {
        for left in [log, foreign::beside(copy.path(), "-shm")] {
            let _ = fs::remove_file(left);
        }
    }
    checked.map_err(|error| renamed(error, copy.path(), backup))?;
    finish(copy, to)
}

/// Copies the log of a backup, if there is one. A store that was copied by other means while not in
/// use may have its last commits in its log.
fn copy_log(backup: &Path, to: &Path) -> io::Result<()> {
    match open_regular_file(foreign::beside(backup, "-wal")) {
        Ok(mut log) => io::copy(&mut log, &mut open_private(to)?).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Opens a file that no other process has open.
fn open(path: &Path) -> Result<Connection, StoreError> {
    let hosts = Arc::new(HostRegistry::beside(path, String::new()));
    let opening = ConnectionOptions {
        path,
        hosts: &hosts,
        patience: Duration::ZERO,
    };
    opening.open()
}

/// Refuses a file that is damaged or not an Airlock store.
fn check(path: &Path) -> Result<(), StoreError> {
    let connection = open(path)?;
    let problems = super::maintenance::check(&connection).map_err(|problem| problem.at(path))?;
    match problems.first() {
        None => Ok(()),
        Some(first) => {
            let problem = format!("is damaged: {first}");
            Err(unfit(path, BackendErrorKind::Damaged, problem))
        }
    }
}

/// Marks the open actions in the copy and renames it to its final name.
fn finish(copy: NamedTempFile, to: &Path) -> Result<(), StoreError> {
    mark_open_actions(copy.path()).map_err(|error| renamed(error, copy.path(), to))?;
    let synced = File::open(copy.path()).and_then(|file| file.sync_all());
    synced.map_err(|error| Problem::Io(error).at(to))?;
    copy.persist_noclobber(to)
        .map_err(|error| Problem::Io(error.error).at(to))?;
    let folder = File::open(folder_of(to)).and_then(|folder| folder.sync_all());
    folder.map_err(|error| Problem::Io(error).at(to))
}

/// Marks open actions as interrupted: they may have been applied since the copy was made.
fn mark_open_actions(path: &Path) -> Result<(), StoreError> {
    let connection = open(path)?;
    let mark = "UPDATE actions SET state = 'pending', interrupted = 2, attempts = attempts + 1,
            last_error = ?1, token = token + 1
        WHERE resolved IS NULL AND last_error IS NOT ?1";
    connection
        .execute(mark, [FROM_A_BACKUP])
        // Turns the copy back into a single file, without a log next to it.
        .and_then(|_| connection.pragma_update(None, "journal_mode", "DELETE"))
        .map_err(|error| Problem::Sqlite(error).at(path))
}

fn new_file_beside(to: &Path) -> Result<NamedTempFile, StoreError> {
    tempfile::Builder::new()
        .prefix(".airlock-backup-")
        .tempfile_in(folder_of(to))
        .map_err(|error| Problem::Io(error).at(to))
}

fn refuse_existing(path: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Problem::Io(error).at(path)),
        Ok(_) => {
            let problem = "already exists, and is not overwritten";
            Err(unfit(path, BackendErrorKind::Settings, problem))
        }
    }
}

fn path_text<'a>(path: &'a Path, to: &Path) -> Result<&'a str, StoreError> {
    path.to_str().ok_or_else(|| {
        let problem = "has a path that is not UTF-8, which SQLite can't copy to";
        unfit(to, BackendErrorKind::Settings, problem)
    })
}

/// Replaces the path in an error with the one that the caller knows.
fn renamed(error: StoreError, from: &Path, to: &Path) -> StoreError {
    match error {
        StoreError::Backend(mut error) => {
            if error.store == from.display().to_string() {
                error.store = to.display().to_string();
            }
            StoreError::Backend(error)
        }
        other => other,
    }
}
