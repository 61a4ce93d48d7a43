//! A store in one SQLite file, shared by the hosts of one machine.

mod backup;
mod bases;
mod blocking;
mod builder;
mod calls;
mod capacity;
mod claim;
mod completion;
mod connection;
mod denials;
mod durable;
mod effects;
mod file_watcher;
mod foreign;
mod hosts;
mod listing;
mod log;
#[cfg(unix)]
#[allow(
    unsafe_code,
    reason = "how SQLite opens its files is told to it by functions with the interface of C"
)]
mod log_opening;
mod maintenance;
mod problem;
mod push;
mod read;
mod records;
mod replace;
mod rows;
mod schema;
mod spending;
mod stack;
mod totals;
mod writer;

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use airlock_model::digest::Digest;
use airlock_model::store::Watchers;

use blocking::blocking;
use connection::ReadPool;
use hosts::HostRegistry;
use writer::Writer;

pub use builder::SqliteStoreBuilder;

/// Stores pending actions in one SQLite file that the processes of one machine can share. Clones
/// are cheap and act as the same host.
///
/// When a method returns, its effect is on disk: the file uses WAL mode with `synchronous=FULL`.
/// The only exception are the results of a
/// [rehearsal](airlock_model::store::Records::keep_effects), which can be reproduced: they are
/// written with the next commit, or when the store is closed. Operations that wait while a commit
/// reaches the disk share the next commit.
///
/// Each opened store is a separate *host*. Its claims are valid while it lives, and for at most
/// the [lease time](SqliteStoreBuilder::lease_time) without renewal. A host that is killed, or
/// whose last clone is dropped, loses its claims at once. SQLite keeps `pending.db-wal` and
/// `pending.db-shm` next to `pending.db`; they are part of the store even when it is not in use.
/// The folder `pending.db.hosts` has a lock file for each living host.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<SqliteStoreInner>,
}

struct SqliteStoreInner {
    path: PathBuf,
    lease_time: Duration,
    // Fields drop in this order: the writer finishes its queue before the host's lock is released.
    writer: Writer,
    readers: ReadPool,
    hosts: Arc<HostRegistry>,
    watchers: Watchers,
    file_watcher: file_watcher::FileWatcher,
    /// The time of the last pruning.
    pruned: Mutex<Option<Instant>>,
    /// The plugins that this host has pushed for and will probably push for again.
    pushing: Mutex<HashSet<Digest>>,
}

impl SqliteStoreInner {
    fn pushing(&self) -> MutexGuard<'_, HashSet<Digest>> {
        self.pushing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SqliteStore {
    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.inner.path)
            .finish_non_exhaustive()
    }
}
