//! The stores that one suite of tests is for, behind one trait.

use std::fmt::Debug;
use std::sync::Arc;

use airlock_host::{DurableStore, MemoryStore, PendingStore};

/// A kind of store, with a storage of its own: empty at first, and gone when this is dropped.
pub trait Backend: Debug + Send + Sync + Sized + 'static {
    /// What outlives a host: whether [`Backend::host`] gives another store object for each host, and [`Host::durable`] is there.
    const DURABLE: bool;

    /// A storage of its own.
    fn new() -> impl Future<Output = Self> + Send;

    /// A host that uses the storage.
    fn host(&self) -> impl Future<Output = Host> + Send;

    /// The host dies without a word, and nobody waits for its leases any longer.
    fn kill(&self, host: Host) -> impl Future<Output = ()> + Send;
}

/// One host's way to a storage.
#[derive(Debug, Clone)]
pub struct Host {
    /// As sessions use it.
    pub store: Arc<dyn PendingStore>,
    /// As operators use it, where it is durable.
    pub durable: Option<Arc<dyn DurableStore>>,
}

impl Host {
    /// The way to a durable store.
    pub fn of(store: impl DurableStore + Clone) -> Self {
        Self {
            store: Arc::new(store.clone()),
            durable: Some(Arc::new(store)),
        }
    }
}

/// [`MemoryStore`]: all hosts are one.
#[derive(Debug)]
pub struct MemoryBackend(MemoryStore);

impl Backend for MemoryBackend {
    const DURABLE: bool = false;

    async fn new() -> Self {
        Self(MemoryStore::new())
    }

    async fn host(&self) -> Host {
        Host {
            store: Arc::new(self.0.clone()),
            durable: None,
        }
    }

    async fn kill(&self, _host: Host) {
        unreachable!("a store in memory dies with its host")
    }
}
