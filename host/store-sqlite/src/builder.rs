//! The builder of a store.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_model::store::rows::process_name;
use airlock_model::store::{StoreError, Watchers};

use super::connection::{self, ReadPool};
use super::file_watcher::FileWatcher;
use super::hosts::HostRegistry;
use super::problem::Problem;
use super::writer::Writer;
use super::{SqliteStore, SqliteStoreInner, blocking, log};

/// Builder for a [`SqliteStore`].
#[derive(Debug, Clone)]
#[must_use]
pub struct SqliteStoreBuilder {
    path: PathBuf,
    create: bool,
    lease_time: Duration,
    patience: Duration,
    holder: Option<String>,
}

impl SqliteStoreBuilder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            create: true,
            lease_time: Duration::from_secs(30),
            patience: Duration::from_secs(10),
            holder: None,
        }
    }

    /// Sets whether to create a missing store and its parent folders, readable only by this user.
    /// Default: true.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets how long a claim is valid without renewal while its host lives. Default: 30 s.
    pub fn lease_time(mut self, lease_time: Duration) -> Self {
        self.lease_time = lease_time;
        self
    }

    /// Sets how long to wait while another process has the file locked for a commit. Default: 10
    /// s.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the name of this host that is shown as the holder of a claim. Default:
    /// `machine/process`.
    pub fn holder(mut self, name: impl Into<String>) -> Self {
        self.holder = Some(name.into());
        self
    }

    /// Opens the store.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the file can't be used, or is not an Airlock store.
    pub async fn open(self) -> Result<SqliteStore, StoreError> {
        blocking(move || self.open_now()).await
    }

    fn open_now(self) -> Result<SqliteStore, StoreError> {
        // All processes must find the same folder of hosts, however they name the file.
        let path =
            std::path::absolute(&self.path).map_err(|error| Problem::Io(error).at(&self.path))?;
        connection::make_file(&path, self.create)?;
        let path = path.canonicalize().unwrap_or(path);
        let name = self.holder.unwrap_or_else(process_name);
        let hosts = Arc::new(HostRegistry::beside(&path, name));
        let opening = connection::ConnectionOptions {
            path: &path,
            hosts: &hosts,
            patience: self.patience,
        };
        let connection = opening.open()?;
        log::leave(&connection).map_err(|error| Problem::Sqlite(error).at(&path))?;
        let writer = Writer::start(connection, path.clone(), self.patience);
        Ok(SqliteStore {
            inner: Arc::new(SqliteStoreInner {
                lease_time: self.lease_time,
                writer: writer.map_err(|error| Problem::Io(error).at(&path))?,
                readers: ReadPool::new(path.clone(), Arc::clone(&hosts), self.patience),
                hosts,
                watchers: Watchers::default(),
                file_watcher: FileWatcher::default(),
                pruned: Mutex::default(),
                pushing: Mutex::default(),
                path,
            }),
        })
    }
}

impl SqliteStore {
    /// Returns a builder for a store at `path`.
    pub fn builder(path: impl Into<PathBuf>) -> SqliteStoreBuilder {
        SqliteStoreBuilder::new(path.into())
    }

    /// Opens the store at `path` with the default settings. Creates the file and its parent
    /// folders if they are missing.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the file can't be used, or is not an Airlock store.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::builder(path).open().await
    }
}
