//! How many guest instances are alive, and which of them can make room for another.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use airlock_model::error::Error;
use airlock_model::limits::LimitKind;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The right to have one live instance. Given back when it is dropped.
pub(crate) type Permit = OwnedSemaphorePermit;

/// A place that may hold a live instance.
pub(crate) trait Reclaim: Send + Sync {
    /// Drops the instance, unless it is in use or holds a volatile action. Once empty, it is to be
    /// registered anew.
    fn reclaim(&self) -> Reclaimed;
}

pub(crate) enum Reclaimed {
    /// There is no instance any more.
    Empty,
    /// There is one, and it has to stay.
    Kept,
}

pub(crate) struct LiveInstances {
    total: usize,
    permits: Arc<Semaphore>,
    /// Callers that wait for a permit.
    waiting: AtomicUsize,
    /// Where instances were made, oldest first.
    holders: Mutex<VecDeque<Weak<dyn Reclaim>>>,
}

impl LiveInstances {
    pub fn new(total: u32) -> Self {
        let total = total as usize;
        Self {
            total,
            permits: Arc::new(Semaphore::new(total)),
            waiting: AtomicUsize::new(0),
            holders: Mutex::default(),
        }
    }

    pub fn count(&self) -> usize {
        self.total - self.permits.available_permits()
    }

    /// Whether somebody waits, so that an instance that falls idle should make room at once.
    pub fn wanted(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Remembers where an instance is about to be made. To be called once for each holder, and
    /// again only after it was found empty.
    pub fn register(&self, holder: Weak<dyn Reclaim>) {
        let mut holders = self.holders();
        if holders.len() > 2 * self.total + 64 {
            holders.retain(|holder| holder.strong_count() > 0);
        }
        holders.push_back(holder);
    }

    /// A permit, for which an idle instance is dropped if need be. Waits where all are busy.
    ///
    /// None can be lost: a caller counts itself as waiting before it looks for an idle instance,
    /// and whoever lets an instance fall idle looks for waiting callers afterwards.
    pub async fn permit(&self) -> Permit {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return permit;
        }
        let _waiting = Waiting::on(&self.waiting);
        self.reclaim_one();
        match Arc::clone(&self.permits).acquire_owned().await {
            Ok(permit) => permit,
            // Nobody closes the semaphore, and it lives as long as this.
            Err(_) => unreachable!("the semaphore was closed"),
        }
    }

    /// The same, for this long at most. `who` is named in the error.
    pub async fn permit_within(&self, patience: Duration, who: &str) -> Result<Permit, Error> {
        let permit = tokio::time::timeout(patience, self.permit()).await;
        permit.map_err(|_| Error::Limit {
            tool: who.to_owned(),
            kind: LimitKind::LiveInstances,
            message: "could not start: the limit on live instances is reached, and each of them is busy or holds volatile actions".to_owned(),
        })
    }

    /// Drops one idle instance, if there is one.
    pub fn reclaim_one(&self) {
        let candidates = self.holders().len();
        for _ in 0..candidates {
            let Some(weak) = self.holders().pop_front() else {
                return;
            };
            let Some(holder) = weak.upgrade() else {
                continue;
            };
            let before = self.permits.available_permits();
            match holder.reclaim() {
                Reclaimed::Kept => self.holders().push_back(weak),
                Reclaimed::Empty if self.permits.available_permits() > before => return,
                Reclaimed::Empty => {}
            }
        }
    }

    fn holders(&self) -> std::sync::MutexGuard<'_, VecDeque<Weak<dyn Reclaim>>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn on(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
