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
mod notifications;
mod plugins;
mod problem;
mod push;
mod record;
mod replace;
mod schema;
mod spending;
mod text;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_model::actor::DecidedBy;
use airlock_model::call_record::CallRecord;
use airlock_model::denial::{Denial, DenialRecord};
use airlock_model::digest::Digest;
use airlock_model::effects::{EffectsRecord, PackedEffects};
use airlock_model::pending::{ActionId, BriefAction, CallId, Resolution, SessionId, StackedAction};
use airlock_model::store::{
    ActionBasis, Budget, Claim, Completion, Lease, PendingStore, PluginBytes, Push, Replacement,
    SessionRoom, Spending, Spent, Standing, StoreError, Watch,
};
use async_trait::async_trait;
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
/// let store: Arc<dyn PendingStore> = Arc::new(store);
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
/// **Changes** reach [watchers](PendingStore::watch) through `LISTEN` and `NOTIFY`. If several
/// callers claim the topmost action at once, `SKIP LOCKED` gives each of them a different one.
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

    /// Returns the response to a statement that is safe to repeat.
    async fn read(&self, statement: &Statement) -> Result<Vec<PgRow>, StoreError> {
        let rows = self.connections.rows(statement).await;
        rows.map_err(|failure| self.error(failure))
    }
}

#[async_trait]
impl PendingStore for PostgresStore {
    async fn push(&self, push: Push) -> Result<(), StoreError> {
        let (inner, push) = (Arc::clone(&self.inner), Arc::new(push));
        let pushed = Arc::clone(&push);
        let pushing = async move {
            let done = inner.push(&pushed).await;
            // If the server did not respond, it may still have pushed the actions.
            if let Err(StoreError::Backend(_)) = &done {
                inner.unpush_later(Arc::clone(&pushed));
            }
            done
        };
        let inner = Arc::clone(&self.inner);
        let unheard = Arc::clone(&push);
        let take_back = move || inner.unpush_later(unheard);
        finished::or_undone(&self.inner.runtime, pushing, take_back).await?;
        self.inner.notifier.tell(&push.session);
        Ok(())
    }

    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        self.replace_pending(push, replacement).await
    }

    async fn room(&self, session: &SessionId, more: u64) -> Result<SessionRoom, StoreError> {
        self.inner.room(session, more).await
    }

    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError> {
        self.inner.peek(session).await
    }

    async fn standing(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Standing, StoreError> {
        self.inner.standing(session, action).await
    }

    async fn peek_at(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<StackedAction>, StoreError> {
        self.inner.peek_at(session, action).await
    }

    async fn lowest_of_call(
        &self,
        session: &SessionId,
        call: &CallId,
    ) -> Result<Option<StackedAction>, StoreError> {
        self.inner.lowest_of_call(session, call).await
    }

    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError> {
        self.inner.list(session, None).await
    }

    async fn list_briefly(&self, session: &SessionId) -> Result<Vec<BriefAction>, StoreError> {
        self.inner.list_briefly(session).await
    }

    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        let claim = self.inner.claim(session, resolution, decided_by).await?;
        if matches!(claim, Claim::Claimed(_)) {
            self.inner.notifier.tell(session);
        }
        Ok(claim)
    }

    fn lease_time(&self) -> Option<Duration> {
        Some(self.inner.lease_time)
    }

    async fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        self.inner.renew(lease).await
    }

    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError> {
        self.inner.complete(&lease, completion).await?;
        self.inner.notifier.tell(&lease.session);
        self.inner.maintain_if_due();
        Ok(())
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        self.inner.requeue(&lease, failure).await?;
        self.inner.notifier.tell(&lease.session);
        Ok(())
    }

    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError> {
        self.inner.recovered(&lease, what).await?;
        self.inner.notifier.tell(&lease.session);
        Ok(())
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.inner.release(&lease).await?;
        self.inner.notifier.tell(&lease.session);
        Ok(())
    }

    fn abandon(&self, lease: Lease) {
        let inner = Arc::clone(&self.inner);
        self.inner.runtime.spawn(async move {
            match inner.abandon(&lease).await {
                Ok(()) => inner.notifier.tell(&lease.session),
                Err(error) => {
                    tracing::warn!("a claim was not released, and will expire: {error}")
                }
            }
        });
    }

    fn lose(&self, session: &SessionId, actions: &[ActionId]) {
        let inner = Arc::clone(&self.inner);
        let (session, actions) = (session.clone(), actions.to_vec());
        self.inner.runtime.spawn(async move {
            match inner.lose(&session, &actions).await {
                Ok(()) => inner.notifier.tell(&session),
                Err(error) => tracing::warn!(
                    "volatile actions were lost, and others see them as pending until this host ends: {error}"
                ),
            }
        });
    }

    async fn plugin(&self, digest: Digest) -> Result<Option<PluginBytes>, StoreError> {
        self.inner.plugin(digest).await
    }

    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        self.inner.call_record(session, action).await
    }

    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        let kept = self
            .inner
            .keep_effects(session, action, effects, capacity_bytes);
        kept.await?;
        self.inner.notifier.tell(session);
        Ok(())
    }

    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError> {
        self.inner.effects(session, action).await
    }

    async fn bases(
        &self,
        session: &SessionId,
        actions: &[ActionId],
    ) -> Result<Vec<ActionBasis>, StoreError> {
        self.inner.bases(session, actions).await
    }

    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.guest_state(session, action).await
    }

    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError> {
        self.inner.record_denial(session, action, denial).await
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        self.inner.denials(session, action).await
    }

    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError> {
        self.inner.spend(account, action, spending, budget).await
    }

    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError> {
        self.inner.spent(account, within).await
    }

    fn watch(&self, session: &SessionId) -> Watch {
        self.inner.notifier.watch(session)
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
