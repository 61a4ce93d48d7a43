//! Opening the file, to write and to read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};

use super::hosts::{Hosts, make_private_folder, open_private};
use super::problem::Problem;
use super::schema;
use crate::store::{BackendErrorKind, StoreError};

/// How long one process waits for another's commit.
const BUSY: Duration = Duration::from_secs(10);

/// How many connections that read are kept for later.
const IDLE_READERS: usize = 4;

/// Opens the store at `path`, and makes it where it is missing and may be made.
pub(super) fn open(
    path: &Path,
    create: bool,
    hosts: &Arc<Hosts>,
) -> Result<Connection, StoreError> {
    let missing = match path.symlink_metadata() {
        Ok(_) => false,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(Problem::Io(error).at(path)),
    };
    if missing && !create {
        let path = path.display().to_string();
        return Err(StoreError::backend(
            BackendErrorKind::Missing,
            path,
            "is not there",
        ));
    }
    if path.is_dir() {
        let path = path.display().to_string();
        return Err(StoreError::backend(
            BackendErrorKind::Settings,
            path,
            "is a directory",
        ));
    }
    if missing {
        // What guests keep in it is nobody else's to read. The files that SQLite puts beside it get the same rights.
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let made = parent.map_or(Ok(()), make_private_folder);
        made.and_then(|()| open_private(path))
            .map_err(|error| Problem::Io(error).at(path))?;
    }
    let mut connection = connect(path, hosts).map_err(|error| Problem::Sqlite(error).at(path))?;
    // Before anything is written: a foreign file, or a newer one, is left as it is.
    schema::version(&connection).map_err(|misfit| misfit.at(path))?;
    let set = |name, value| connection.pragma_update(None, name, value);
    set("journal_mode", "WAL")
        .and_then(|()| set("synchronous", "FULL"))
        .map_err(|error| Problem::Sqlite(error).at(path))?;
    schema::migrate(&mut connection).map_err(|misfit| misfit.at(path))?;
    Ok(connection)
}

fn connect(path: &Path, hosts: &Arc<Hosts>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    let asked = Arc::clone(hosts);
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function(c"lease_over", 2, flags, move |context| {
        let (holder, until) = (
            context.get::<Option<String>>(0)?,
            context.get::<Option<i64>>(1)?,
        );
        // A claim without either is none.
        Ok(match (holder, until) {
            (Some(holder), Some(until)) => asked.is_lease_over(&holder, until),
            _ => true,
        })
    })?;
    let asked = Arc::clone(hosts);
    connection.create_scalar_function(c"host_gone", 1, flags, move |context| {
        let host = context.get::<Option<String>>(0)?;
        Ok(host.is_none_or(|host| asked.is_gone(&host)))
    })?;
    Ok(connection)
}

/// Connections that read what has been committed, for one query at a time each.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    hosts: Arc<Hosts>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub fn new(path: PathBuf, hosts: Arc<Hosts>) -> Self {
        Self {
            path,
            hosts,
            idle: Mutex::default(),
        }
    }

    /// Runs `query` on a connection, in a transaction of its own, so that it sees one state of the store.
    pub fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let idle = self.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let transaction = connection.unchecked_transaction()?;
        let answer = query(&transaction)?;
        transaction.finish()?;
        let mut idle = self.lock();
        if idle.len() < IDLE_READERS {
            idle.push(connection);
        }
        Ok(answer)
    }

    /// A connection that can't write.
    pub fn connect(&self) -> rusqlite::Result<Connection> {
        let connection = connect(&self.path, &self.hosts)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
