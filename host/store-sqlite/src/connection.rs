//! Opens the file for writing and reading.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use airlock_model::store::{BackendErrorKind, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};

use super::hosts::{HostRegistry, folder_of, make_private_folder};
use super::problem::{Problem, is_busy, unfit};
use super::schema::{self, SchemaMismatch};
use super::{foreign, log, totals};

/// Pause between attempts to set the file up while other processes do the same.
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// Maximum number of idle read connections.
const IDLE_READERS: usize = 4;

/// Creates the file and its parent folders if they are missing and `create` allows it.
pub(super) fn make_file(path: &Path, create: bool) -> Result<(), StoreError> {
    match path.metadata() {
        Ok(found) if found.is_file() => return foreign::refuse_foreign(path),
        Ok(_) => {
            return Err(unfit(
                path,
                BackendErrorKind::Settings,
                "is not a regular file",
            ));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Problem::Io(error).at(path)),
    }
    if !create {
        return Err(unfit(path, BackendErrorKind::Missing, "does not exist"));
    }
    // Only this user may read the stored data. The files that SQLite creates next to it get the
    // same permissions.
    make_private_folder(folder_of(path)).map_err(|error| Problem::Io(error).at(path))?;
    match foreign::refuse_siblings(path) {
        // Another process created the store in the meantime and uses it.
        Err(_) if path.exists() => {}
        refused => refused.and_then(|()| make_whole(path))?,
    }
    foreign::refuse_foreign(path)
}

/// Creates the store under a temporary name and then renames it, so that a partial store is never
/// visible. If another process does the same, its file is just as good.
fn make_whole(path: &Path) -> Result<(), StoreError> {
    let io = |error| Problem::Io(error).at(path);
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    let file = builder.prefix(".airlock-store-").tempfile_in(folder);
    let file = file.map_err(io)?;
    make_tables(file.path()).map_err(|misfit| misfit.at(path))?;
    file.as_file().sync_all().map_err(io)?;
    match file.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(io(error.error)),
    }
    let folder = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    folder.map_err(io)
}

fn make_tables(path: &Path) -> Result<(), SchemaMismatch> {
    let mut connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // A commit changes a few hundred bytes in each of its pages, and writes whole pages.
    connection.pragma_update(None, "page_size", 2048)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    schema::migrate(&mut connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// The options for opening a connection.
#[derive(Clone, Copy)]
pub(super) struct ConnectionOptions<'a> {
    pub path: &'a Path,
    pub hosts: &'a Arc<HostRegistry>,
    /// The time to wait for another process's commit.
    pub patience: Duration,
}

impl ConnectionOptions<'_> {
    /// Opens the store for writing, and creates its tables if they are missing.
    pub fn open(self) -> Result<Connection, StoreError> {
        let failed = |error| Problem::Sqlite(error).at(self.path);
        let mut connection = self.connect().map_err(failed)?;
        let deadline = Instant::now() + self.patience;
        loop {
            match set_up(&mut connection) {
                // SQLite itself waits for other processes, except when the journal mode changes.
                Err(SchemaMismatch::Sqlite(error))
                    if is_busy(&error) && Instant::now() < deadline =>
                {
                    thread::sleep(BETWEEN_TRIES);
                }
                Err(misfit) => return Err(misfit.at(self.path)),
                Ok(()) => return Ok(connection),
            }
        }
    }

    fn connect(self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = open_file(self.path, flags)?;
        connection.busy_timeout(self.patience)?;
        connection.set_prepared_statement_cache_capacity(64);
        // This library uses neither triggers nor views in the file. Those that another program
        // adds must not run.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        let asked = Arc::clone(self.hosts);
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
        connection.create_scalar_function(c"lease_over", 2, flags, move |context| {
            let (holder, until) = (
                context.get::<Option<String>>(0)?,
                context.get::<Option<i64>>(1)?,
            );
            // A claim needs both.
            Ok(match (holder, until) {
                (Some(holder), Some(until)) => asked.is_lease_over(&holder, until),
                _ => true,
            })
        })?;
        let asked = Arc::clone(self.hosts);
        connection.create_scalar_function(c"host_gone", 1, flags, move |context| {
            let host = context.get::<Option<String>>(0)?;
            Ok(host.is_none_or(|host| asked.is_gone(&host)))
        })?;
        Ok(connection)
    }
}

#[cfg(unix)]
fn open_file(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    match super::log_opening::name() {
        Some(name) => Connection::open_with_flags_and_vfs(path, flags, name),
        None => Connection::open_with_flags(path, flags),
    }
}

#[cfg(not(unix))]
fn open_file(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, flags)
}

fn set_up(connection: &mut Connection) -> Result<(), SchemaMismatch> {
    // Check before writing: a foreign or newer file stays unchanged.
    schema::version_now(connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Maximum size of the log after it was written back, in bytes.
    connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
    schema::migrate(connection)?;
    Ok(totals::keep(connection)?)
}

/// Runs `query` in a separate transaction, so that it sees a single state of the store. Writes, if
/// any, are rolled back.
pub(super) fn read<T>(
    connection: &Connection,
    query: impl FnOnce(&Connection) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let transaction = connection.unchecked_transaction()?;
    schema::refuse_newer(&transaction)?;
    let answer = query(&transaction)?;
    transaction.finish()?;
    Ok(answer)
}

/// Read connections; each one runs one query at a time on committed data.
#[derive(Debug)]
pub(super) struct ReadPool {
    path: PathBuf,
    hosts: Arc<HostRegistry>,
    patience: Duration,
    idle: Mutex<Vec<Connection>>,
}

impl ReadPool {
    pub fn new(path: PathBuf, hosts: Arc<HostRegistry>, patience: Duration) -> Self {
        Self {
            path,
            hosts,
            patience,
            idle: Mutex::default(),
        }
    }

    /// Runs `query` on a connection of the pool.
    pub fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let idle = self.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let answer = read(&connection, query)?;
        let mut idle = self.lock();
        if idle.len() < IDLE_READERS {
            idle.push(connection);
        }
        Ok(answer)
    }

    /// Opens a read-only connection.
    pub fn connect(&self) -> rusqlite::Result<Connection> {
        let opening = ConnectionOptions {
            path: &self.path,
            hosts: &self.hosts,
            patience: self.patience,
        };
        let connection = opening.connect()?;
        connection.pragma_update(None, "query_only", true)?;
        log::leave(&connection)?;
        Ok(connection)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReadPool {
    fn drop(&mut self) {
        for connection in self.lock().iter() {
            log::leave_if_small(connection, &self.path);
        }
    }
}
