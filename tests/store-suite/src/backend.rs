//! The stores that one suite of tests is for, behind one trait.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use airlock_model::store::{Budgets, DurableStore, MemoryStore, PendingStore};
use airlock_store_postgres::PostgresStore;
use airlock_store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::postgres::PostgresServer;

/// Longer than any test.
const NO_END: Duration = Duration::from_secs(60 * 60);

/// A kind of store, with a storage of its own: empty at first, and gone when this is dropped.
pub trait Backend: Debug + Send + Sync + Sized + 'static {
    /// What outlives a host: whether [`Backend::host`] gives another store object for each host,
    /// and [`Host::durable`] is there.
    const DURABLE: bool;

    /// A storage of its own.
    fn new() -> impl Future<Output = Self> + Send;

    /// A host that uses the storage, and whose claims last so long where they are not renewed.
    fn host_with_leases(&self, lease_time: Duration) -> impl Future<Output = Host> + Send;

    /// A host whose claims don't run out as long as it lives.
    fn host(&self) -> impl Future<Output = Host> + Send {
        self.host_with_leases(NO_END)
    }

    /// The host dies without a word, and nobody waits for its leases any longer.
    fn kill(&self, host: Host) -> impl Future<Output = ()> + Send;
}

/// One host's way to a storage.
#[derive(Debug, Clone)]
pub struct Host {
    /// What others see it called, where it is a host of its own.
    pub name: String,
    /// As sessions use it.
    pub store: PendingStore,
    /// As rules use it.
    pub budgets: Arc<dyn Budgets>,
    /// As operators use it, where it is durable.
    pub durable: Option<Arc<dyn DurableStore>>,
}

impl Host {
    /// The way to a durable store.
    pub fn of(name: String, store: impl DurableStore) -> Self {
        let store = Arc::new(store);
        Self {
            name,
            store: PendingStore::from(Arc::clone(&store)),
            budgets: store.clone(),
            durable: Some(store),
        }
    }
}

fn new_name() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    format!("host/{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// [`MemoryStore`]: all hosts are one.
#[derive(Debug)]
pub struct MemoryBackend(MemoryStore);

impl Backend for MemoryBackend {
    const DURABLE: bool = false;

    async fn new() -> Self {
        Self(MemoryStore::new())
    }

    async fn host_with_leases(&self, _lease_time: Duration) -> Host {
        let store = Arc::new(self.0.clone());
        Host {
            name: String::new(),
            store: PendingStore::from(Arc::clone(&store)),
            budgets: store,
            durable: None,
        }
    }

    async fn kill(&self, _host: Host) {
        unreachable!("a store in memory dies with its host")
    }
}

/// [`SqliteStore`]: a file, and a store object for each host.
#[derive(Debug)]
pub struct SqliteBackend(TempDir);

impl SqliteBackend {
    /// The file.
    pub fn path(&self) -> PathBuf {
        self.folder().join("store.db")
    }

    /// In a folder of its own inside of `parent`.
    pub fn inside(parent: &Path) -> Self {
        Self(TempDir::new_in(parent).expect("a temporary directory"))
    }

    /// The folder that the file is in.
    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}

impl Backend for SqliteBackend {
    const DURABLE: bool = true;

    async fn new() -> Self {
        Self(TempDir::new().expect("a temporary directory"))
    }

    async fn host_with_leases(&self, lease_time: Duration) -> Host {
        let name = new_name();
        let builder = SqliteStore::builder(self.path()).lease_time(lease_time);
        let store = builder.holder(name.clone()).open().await;
        Host::of(name, store.expect("the store opens"))
    }

    async fn kill(&self, host: Host) {
        // The claims that it held stay in the file, and its lock does not.
        drop(host);
    }
}

/// [`PostgresStore`]: a database of its own, of the server that all tests of a process share.
#[derive(Debug)]
pub struct PostgresBackend {
    server: &'static PostgresServer,
    database: String,
}

impl PostgresBackend {
    /// A database of another server.
    pub fn on(server: &'static PostgresServer) -> Self {
        let database = server.database();
        Self { server, database }
    }

    /// The database's address.
    pub fn url(&self) -> String {
        self.server.url(&self.database)
    }
}

impl Backend for PostgresBackend {
    const DURABLE: bool = true;

    async fn new() -> Self {
        Self::on(PostgresServer::shared())
    }

    async fn host_with_leases(&self, lease_time: Duration) -> Host {
        let name = new_name();
        let builder = PostgresStore::builder(self.url()).lease_time(lease_time);
        let store = builder.holder(name.clone()).connect().await;
        Host::of(name, store.expect("the store connects"))
    }

    async fn kill(&self, host: Host) {
        let name = host.name.clone();
        drop(host);
        // Its time is up at once, instead of some seconds later.
        let over = format!(
            "UPDATE airlock.actions SET lease_until = clock_timestamp() - interval '1 second'
                WHERE state = 'resolving' AND holder = '{name}';
             DELETE FROM airlock.hosts WHERE name = '{name}'"
        );
        self.server.sql(&self.database, &over);
    }
}

impl Drop for PostgresBackend {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE \"{}\" WITH (FORCE)", self.database);
        let server = self.server;
        // It waits for connections that are being made, which wait for the runtime of this thread.
        std::thread::spawn(move || server.sql("postgres", &drop));
    }
}
