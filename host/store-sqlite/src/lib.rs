//! A store in one SQLite file, shared by the hosts of one machine.

mod backup;
mod bases;
mod blocking;
mod builder;
mod calls;
mod capacity;
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

use airlock_model::actor::DecidedBy;
use airlock_model::call_record::CallRecord;
use airlock_model::denial::{Denial, DenialRecord};
use airlock_model::digest::Digest;
use airlock_model::effects::{EffectsRecord, PackedEffects};
use airlock_model::pending::{ActionId, BriefAction, CallId, Resolution, SessionId, StackedAction};
use airlock_model::store::{
    ActionBasis, Budget, Claim, Completion, Lease, PendingStore, PluginBytes, Push, Replacement,
    SessionRoom, Spending, Spent, Standing, StoreError, Watch, Watchers,
};
use async_trait::async_trait;

use bases::PackedBases;
use blocking::blocking;
use connection::ReadPool;
use hosts::HostRegistry;
use spending::Expense;
use stack::End;
use writer::{Undo, Writer};

pub use builder::SqliteStoreBuilder;

/// Stores pending actions in one SQLite file that the processes of one machine can share. Clones
/// are cheap and act as the same host.
///
/// When a method returns, its effect is on disk: the file uses WAL mode with `synchronous=FULL`.
/// The only exception are the results of a [rehearsal](PendingStore::keep_effects), which can be
/// reproduced: they are written with the next commit, or when the store is closed. Operations that
/// wait while a commit reaches the disk share the next commit.
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

#[async_trait]
impl PendingStore for SqliteStore {
    async fn push(&self, push: Push) -> Result<(), StoreError> {
        self.push_all(push).await
    }

    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        self.replace_pending(push, replacement).await
    }

    async fn room(&self, session: &SessionId, more: u64) -> Result<SessionRoom, StoreError> {
        let session = session.clone();
        self.read(move |connection| push::room(connection, &session, more))
            .await
    }

    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError> {
        let session = session.clone();
        let top = self.read(move |connection| listing::stack(connection, &session, 1));
        Ok(top.await?.pop())
    }

    async fn standing(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Standing, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        self.read(move |connection| stack::standing(connection, &session, &action))
            .await
    }

    async fn peek_at(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        self.read(move |connection| listing::stacked(connection, &session, &action))
            .await
    }

    async fn lowest_of_call(
        &self,
        session: &SessionId,
        call: &CallId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let (session, call) = (session.clone(), call.clone());
        self.read(move |connection| listing::lowest_of_call(connection, &session, &call))
            .await
    }

    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError> {
        let session = session.clone();
        self.read(move |connection| listing::stack(connection, &session, usize::MAX))
            .await
    }

    async fn list_briefly(&self, session: &SessionId) -> Result<Vec<BriefAction>, StoreError> {
        let session = session.clone();
        self.read(move |connection| listing::stack_briefly(connection, &session))
            .await
    }

    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        let hosts = Arc::clone(&self.inner.hosts);
        let lease_time = self.inner.lease_time;
        let (of, resolution) = (session.clone(), resolution.clone());
        let by = decided_by.clone();
        let work = move |connection: &_| {
            stack::claim(connection, &hosts, lease_time, &of, &resolution, &by)
        };
        // The action was not handed out yet, so giving it back leaves no doubt about its state.
        let undo = |claim| match claim {
            Claim::Claimed(claimed) => {
                let lease = claimed.lease;
                Some(Box::new(move |connection: &_| stack::unclaim(connection, &lease)) as Undo)
            }
            _ => None,
        };
        let claim = self.inner.writer.write_or_undo(work, undo).await?;
        if matches!(claim, Claim::Claimed(_)) {
            self.inner.watchers.notify(session);
        }
        Ok(claim)
    }

    fn lease_time(&self) -> Option<Duration> {
        Some(self.inner.lease_time)
    }

    async fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        let hosts = Arc::clone(&self.inner.hosts);
        let lease_time = self.inner.lease_time;
        let lease = Lease {
            session: lease.session.clone(),
            action: lease.action.clone(),
            token: lease.token,
        };
        let work = move |connection: &_| stack::renew(connection, &hosts, lease_time, &lease);
        self.inner.writer.write(work).await
    }

    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError> {
        let session = lease.session.clone();
        let end = End::of(completion);
        let pushing = self.inner.pushing().clone();
        let work = move |connection: &_| {
            let plugin = stack::complete(connection, &lease, &end)?;
            if !pushing.contains(&plugin) {
                stack::forget_plugin(connection, &plugin)?;
            }
            capacity::is_loose(connection)
        };
        let is_loose = self.inner.writer.write(work).await?;
        self.inner.watchers.notify(&session);
        if is_loose {
            self.give_pages_back();
        }
        self.prune_sometimes();
        Ok(())
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        let failure = failure.to_owned();
        let work = move |connection: &_, lease: &_| stack::requeue(connection, lease, &failure);
        self.give_back(lease, work).await
    }

    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError> {
        let what = what.to_owned();
        let work = move |connection: &_, lease: &_| stack::recovered(connection, lease, &what);
        self.give_back(lease, work).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.give_back(lease, stack::release).await
    }

    fn abandon(&self, lease: Lease) {
        let watchers = self.inner.watchers.clone();
        self.inner.writer.write_later(move |connection| {
            stack::abandon(connection, &lease)?;
            // This notification precedes the commit; the file watcher notifies again.
            watchers.notify(&lease.session);
            Ok(())
        });
    }

    fn lose(&self, session: &SessionId, actions: &[ActionId]) {
        let watchers = self.inner.watchers.clone();
        let (session, actions) = (session.clone(), actions.to_vec());
        self.inner.writer.write_later(move |connection| {
            stack::lose(connection, &session, &actions)?;
            // The same applies as for a released claim.
            watchers.notify(&session);
            Ok(())
        });
    }

    async fn plugin(&self, digest: Digest) -> Result<Option<PluginBytes>, StoreError> {
        self.read(move |connection| maintenance::plugin(connection, digest))
            .await
    }

    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        let find = move |connection: &_| calls::find(connection, &session, &action);
        self.read_then(find, calls::unpacked).await
    }

    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        let (of, action, effects) = (session.clone(), action.clone(), effects.clone());
        let work =
            move |connection: &_| effects::keep(connection, &of, &action, &effects, capacity_bytes);
        self.inner.writer.write_late(work).await?;
        self.inner.watchers.notify(session);
        Ok(())
    }

    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        let find = move |connection: &_| effects::find(connection, &session, &action);
        self.read_then(find, effects::unpacked).await
    }

    async fn bases(
        &self,
        session: &SessionId,
        actions: &[ActionId],
    ) -> Result<Vec<ActionBasis>, StoreError> {
        let (session, actions) = (session.clone(), actions.to_vec());
        let find = move |connection: &_| bases::find(connection, &session, &actions);
        self.read_then(find, PackedBases::unpacked).await
    }

    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        self.read(move |connection| effects::guest_state(connection, &session, &action))
            .await
    }

    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError> {
        let (session, action, denial) = (session.clone(), action.clone(), denial.to_row());
        let work = move |connection: &_| denials::record(connection, &session, &action, &denial);
        self.inner.writer.write(work).await
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        self.read(move |connection| denials::of_action(connection, &session, &action))
            .await
    }

    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError> {
        let expense = Expense {
            account: account.to_owned(),
            action: action.clone(),
            spending,
            budget: *budget,
        };
        let work = move |connection: &_| spending::spend(connection, &expense, spending::now());
        self.inner.writer.write(work).await
    }

    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError> {
        let account = account.to_owned();
        self.read(move |connection| spending::spent(connection, &account, within, spending::now()))
            .await
    }

    fn watch(&self, session: &SessionId) -> Watch {
        let watch = self.inner.watchers.watch(session);
        self.inner.file_watcher.start(&self.inner);
        watch
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.inner.path)
            .finish_non_exhaustive()
    }
}
