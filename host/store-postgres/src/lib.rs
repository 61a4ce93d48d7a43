//! A store in PostgreSQL, shared by many hosts.

mod bases;
mod builder;
mod calls;
mod capacity;
mod check;
mod claim;
mod connections;
mod denials;
mod durable;
mod effects;
mod finished;
mod heartbeat;
mod lease;
mod listing;
mod maintenance;
mod meta;
mod notifications;
mod problem;
mod push;
mod record;
mod records;
mod replace;
mod schema;
mod spending;
mod stack;
mod text;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_model::digest::Digest;
use airlock_model::pending::SessionId;
use airlock_model::store::StoreError;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::PgRow;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

use self::capacity::UsageEstimate;
use self::connections::{Connections, Statement};
use self::heartbeat::Heartbeat;
use self::notifications::ChangeNotifier;
use self::problem::Failure;

pub use builder::PostgresStoreBuilder;

/// The id of one store object in one process.
type HostId = [u8; 16];
/// A nonce that distinguishes a repeated claim from a new one.
type Nonce = [u8; 16];
/// A digest of a session id, which may be too long for an index.
type SessionKey = [u8; 16];

/// Stores pending actions in a PostgreSQL database, so that any host of a fleet can resolve any of
/// them. Clones are cheap and share their connections.
///
/// ```no_run
/// use std::sync::Arc;
/// use airlock_model::store::PendingStore;
/// use airlock_store_postgres::PostgresStore;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = PostgresStore::connect("postgres://airlock:secret@database.example/airlock").await?;
/// // Pass it to a session of `airlock-host`: `Session::builder().store(store)`.
/// let store = PendingStore::from(Arc::new(store));
/// # Ok(())
/// # }
/// ```
///
/// Creates its tables in a schema named `airlock`; several hosts may start at once. The database
/// encoding must be UTF-8.
///
/// **Claims are leases.** A host renews its claim while it works on the action. If the host dies,
/// or can't reach the server for the [lease time](PostgresStoreBuilder::lease_time), the action is
/// listed as [interrupted](airlock_model::pending::ActionState::Interrupted) and can be resolved
/// again by any host. All times are the server's. A claim that another host has taken over can't
/// be completed.
///
/// **Connections may break.** Each call is retried until the
/// [patience](PostgresStoreBuilder::patience) runs out. It takes effect once, even if the server
/// executed it and the response was lost. If a call finally fails, it may or may not have taken
/// effect. Effects that were reported as done are never undone.
///
/// **Connections are encrypted** if the server supports it. Add `?sslmode=verify-full` to the URL
/// to require encryption and a certificate for the server's name from an authority that the system
/// trusts, or from the one in the file given as `&sslrootcert=FILE`.
///
/// **Volatile actions** are visible to all hosts. They are
/// [lost](airlock_model::pending::ActionState::Lost) if their host was silent for a lease time.
///
/// **Changes** reach [watchers](airlock_model::store::Stacks::watch) through `LISTEN` and `NOTIFY`.
/// If several callers claim the topmost action at once, `SKIP LOCKED` gives each of them a
/// different one.
#[doc = ""]
#[doc = include_str!("SCALING.md")]
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<PostgresStoreInner>,
}

struct PostgresStoreInner {
    connections: Arc<Connections>,
    notifier: ChangeNotifier,
    heartbeat: Heartbeat,
    location: String,
    lease_time: Duration,
    holder: String,
    host: HostId,
    claims: AtomicU64,
    maintenance_due: Mutex<Instant>,
    usage: Mutex<UsageEstimate>,
    /// The plugins that this host has pushed for and will probably push for again.
    pushing: Mutex<HashSet<Digest>>,
    runtime: Handle,
    /// Stops the background tasks.
    _stop: DropGuard,
}

impl PostgresStore {
    /// Returns a builder for a store at `url`: `postgres://user:password@server:port/database`.
    pub fn builder(url: impl Into<String>) -> PostgresStoreBuilder {
        PostgresStoreBuilder::new(url.into())
    }

    /// Connects with the default settings.
    ///
    /// # Errors
    /// See [`PostgresStoreBuilder::connect`].
    pub async fn connect(url: impl Into<String>) -> Result<Self, StoreError> {
        Self::builder(url).connect().await
    }
}

impl PostgresStoreInner {
    fn error(&self, failure: Failure) -> StoreError {
        failure.at(&self.location)
    }

    /// Returns the first row of the response to a statement that is safe to repeat, if there is
    /// one.
    async fn first<T>(
        &self,
        statement: &Statement,
        read: impl FnOnce(&PgRow) -> Result<T, Failure> + Send,
    ) -> Result<Option<T>, StoreError> {
        let rows = self.read(statement).await?;
        let first = rows.first().map(read).transpose();
        first.map_err(|error| self.error(error))
    }

    /// Returns all rows of such a response.
    async fn each<T>(
        &self,
        statement: &Statement,
        read: impl Fn(&PgRow) -> Result<T, Failure> + Send,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.read(statement).await?;
        let each: Result<_, Failure> = rows.iter().map(read).collect();
        each.map_err(|error| self.error(error))
    }

    /// Returns the response to a statement that may take effect only once: see
    /// [`Connections::once`].
    async fn once(
        &self,
        statement: &Statement,
        recall: &Statement,
    ) -> Result<Vec<PgRow>, StoreError> {
        let rows = self.connections.once(statement, recall).await;
        rows.map_err(|failure| self.error(failure))
    }

    /// Returns the response to a statement that is safe to repeat.
    async fn read(&self, statement: &Statement) -> Result<Vec<PgRow>, StoreError> {
        let rows = self.connections.rows(statement).await;
        rows.map_err(|failure| self.error(failure))
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("location", &self.inner.location)
            .field("holder", &self.inner.holder)
            .finish_non_exhaustive()
    }
}

fn session_key(session: &SessionId) -> SessionKey {
    let digest = Sha256::digest(session.as_str().as_bytes());
    let mut key = SessionKey::default();
    key.copy_from_slice(&digest[..16]);
    key
}
