//! Failures of the file, as store errors.

use std::error::Error;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use airlock_model::pending::ActionId;
use airlock_model::store::{BackendErrorKind, StoreError, UnreadableAction};
use rusqlite::ffi::{self, ErrorCode};

use super::schema::{self, SchemaMismatch};

/// The reason why a statement or a row failed. It becomes a [`StoreError`] once the file's path is
/// known.
#[derive(Debug)]
pub(super) enum Problem {
    Sqlite(rusqlite::Error),
    /// The requested action exists, but its row is unreadable.
    Unreadable(UnreadableAction),
    /// A row contains data that no version of this library writes.
    BadRow(String),
    /// The session has no room for the push.
    NoRoom(StoreError),
    /// A newer version changed the tables while this one had the file open.
    Newer(u32),
    StoreFull {
        limit: u64,
        held: u64,
        pushed: u64,
    },
    LeaseLost(ActionId),
    Io(io::Error),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Problem::Sqlite(error)
    }
}

/// A push that [`Room::check`](airlock_model::store::Room::check) refuses.
impl From<StoreError> for Problem {
    fn from(full: StoreError) -> Self {
        Problem::NoRoom(full)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Problem::Io(error)
    }
}

impl Problem {
    /// Returns whether another process has the file locked.
    pub fn is_busy(&self) -> bool {
        match self {
            Problem::Sqlite(error) => is_busy(error),
            _ => false,
        }
    }

    pub fn at(self, path: &Path) -> StoreError {
        match self {
            Problem::NoRoom(full) => full,
            Problem::StoreFull {
                limit,
                held,
                pushed,
            } => StoreError::StoreFull {
                store: path.display().to_string(),
                limit,
                held,
                pushed,
            },
            Problem::Newer(version) => SchemaMismatch::Newer(version).at(path),
            Problem::LeaseLost(id) => StoreError::LeaseLost(id),
            Problem::Unreadable(UnreadableAction { id, problem, .. }) => unfit(
                path,
                BackendErrorKind::Damaged,
                format!("can't read the action {id}: {problem}"),
            ),
            Problem::BadRow(what) => failed(path, BackendErrorKind::Damaged, "is damaged", what),
            Problem::Io(error) => {
                let (kind, what) = of_io(&error);
                failed(path, kind, what, error)
            }
            Problem::Sqlite(error) => {
                let (kind, what) = of_sqlite(&error, path);
                failed(path, kind, what, error)
            }
        }
    }
}

/// Returns whether another process has the file locked.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// Creates an error for an unusable file at `path`. `problem` continues the sentence that starts
/// with its name.
pub(super) fn unfit(path: &Path, kind: BackendErrorKind, problem: impl Into<String>) -> StoreError {
    StoreError::backend(kind, path.display().to_string(), problem)
}

impl SchemaMismatch {
    pub fn at(self, path: &Path) -> StoreError {
        let (kind, problem) = match self {
            SchemaMismatch::Sqlite(error) => return Problem::Sqlite(error).at(path),
            SchemaMismatch::Foreign => (
                BackendErrorKind::Damaged,
                "is a SQLite file of another program".to_owned(),
            ),
            SchemaMismatch::Altered(what) => (
                BackendErrorKind::Damaged,
                format!(
                    "was altered: {what}; this program creates no such thing, and it could silently change what is stored"
                ),
            ),
            SchemaMismatch::Newer(found) => {
                let known = schema::VERSION;
                let problem = format!(
                    "was changed by a newer version of this program: it has schema {found}; the newest that this program supports is {known}"
                );
                (BackendErrorKind::Newer, problem)
            }
        };
        unfit(path, kind, problem)
    }
}

fn failed(
    path: &Path,
    kind: BackendErrorKind,
    what: &str,
    why: impl Into<Box<dyn Error + Send + Sync>>,
) -> StoreError {
    let why = why.into();
    unfit(path, kind, format!("{what}: {why}")).caused_by(why)
}

fn of_io(error: &io::Error) -> (BackendErrorKind, &'static str) {
    match error.kind() {
        io::ErrorKind::NotFound => (BackendErrorKind::Missing, "does not exist"),
        io::ErrorKind::PermissionDenied => (BackendErrorKind::Denied, "can't be accessed"),
        io::ErrorKind::ReadOnlyFilesystem => (BackendErrorKind::ReadOnly, "can't be written"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            (BackendErrorKind::NoSpace, "has no space left on its disk")
        }
        _ => (BackendErrorKind::Other, "can't be used"),
    }
}

fn of_sqlite(error: &rusqlite::Error, path: &Path) -> (BackendErrorKind, &'static str) {
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        return (BackendErrorKind::Damaged, "is damaged");
    };
    // SQLite allocates the log's index file at its full size, and fails with this error if the
    // disk is full.
    if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE {
        return (BackendErrorKind::NoSpace, "has no space left on its disk");
    }
    match failure.code {
        ErrorCode::DiskFull => (BackendErrorKind::NoSpace, "has no space left on its disk"),
        ErrorCode::ReadOnly => (BackendErrorKind::ReadOnly, "can't be written"),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            (BackendErrorKind::Damaged, "is damaged")
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            (BackendErrorKind::Busy, "is locked by another process")
        }
        // SQLite does not report the cause, so open the file for writing to get the system's
        // error.
        ErrorCode::CannotOpen => match OpenOptions::new().append(true).open(path) {
            Err(error) => of_io(&error),
            Ok(_) => (BackendErrorKind::Denied, "can't be opened"),
        },
        ErrorCode::PermissionDenied => (BackendErrorKind::Denied, "can't be opened"),
        _ => (BackendErrorKind::Other, "failed"),
    }
}
