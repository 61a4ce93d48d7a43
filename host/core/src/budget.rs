//! File descriptors and bytes of memory that all guests of an engine share, and each tenant's
//! portion.
//!
//! A tenant may hold as much as is still free. A single greedy tenant thus gets half, two get a
//! third each. However many tenants are greedy, the same amount is left for a tenant that holds
//! nothing yet.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Number of descriptors if the system sets no limit.
const UNKNOWN: usize = 4096;

/// A shared resource of all guests of an engine, in units of one kind.
#[derive(Debug)]
pub(crate) struct Budget {
    free: Mutex<usize>,
    given_back: Notify,
}

/// Number of units that one tenant holds.
#[derive(Debug, Default)]
pub(crate) struct Share(AtomicUsize);

/// A tenant's access to a budget.
#[derive(Debug, Clone)]
pub(crate) struct Portion {
    budget: Arc<Budget>,
    share: Arc<Share>,
}

/// Units taken from a budget. They are given back on drop.
#[derive(Debug)]
pub(crate) struct Held {
    from: Portion,
    count: usize,
}

impl Budget {
    pub fn new(total: usize) -> Self {
        Self {
            free: Mutex::new(total),
            given_back: Notify::new(),
        }
    }

    pub fn free(&self) -> usize {
        *self.lock()
    }

    /// Completes when units are given back after this call, even before it is first polled.
    pub fn given_back(&self) -> Pin<Box<impl Future<Output = ()> + '_>> {
        let mut notified = Box::pin(self.given_back.notified());
        notified.as_mut().enable();
        notified
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Portion {
    pub fn new(budget: &Arc<Budget>, share: &Arc<Share>) -> Self {
        Self {
            budget: Arc::clone(budget),
            share: Arc::clone(share),
        }
    }

    /// Takes units. Returns `None` if the tenant would then hold more than is left for others.
    pub fn take(&self, count: usize) -> Option<Held> {
        self.subtract(count).then(|| Held {
            from: self.clone(),
            count,
        })
    }

    fn subtract(&self, count: usize) -> bool {
        let mut free = self.budget.lock();
        // Only written while the lock is held.
        let held = self.share.0.load(Ordering::Relaxed);
        let Some(left) = free.checked_sub(count) else {
            return false;
        };
        if held + count > left {
            return false;
        }
        *free = left;
        self.share.0.store(held + count, Ordering::Relaxed);
        true
    }
}

impl Held {
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes `more` additional units. Returns false and changes nothing if the tenant would then
    /// hold more than is left for others.
    pub fn grow(&mut self, more: usize) -> bool {
        let taken = self.from.subtract(more);
        if taken {
            self.count += more;
        }
        taken
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let budget = &self.from.budget;
        let mut free = budget.lock();
        *free += self.count;
        self.from.share.0.fetch_sub(self.count, Ordering::Relaxed);
        drop(free);
        budget.given_back.notify_waiters();
    }
}

/// Returns half of the process's limit on open files. The other half is for the host itself.
pub(crate) fn half_of_the_process() -> usize {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let limit: Option<u64> = None;
    // `None`: limited only by memory.
    limit.map_or(UNKNOWN, |limit| {
        usize::try_from(limit / 2).unwrap_or(usize::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(budget: &Arc<Budget>) -> Portion {
        Portion::new(budget, &Arc::default())
    }

    /// Takes units one by one until none is left for this tenant.
    fn all(of: &Portion) -> Vec<Held> {
        std::iter::from_fn(|| of.take(1)).collect()
    }

    #[test]
    fn one_tenant_takes_half_and_the_next_ones_shares_of_what_is_left() {
        let budget = Arc::new(Budget::new(512));
        let one = all(&tenant(&budget));
        assert_eq!(one.len(), 256);
        let other = tenant(&budget);
        let others = all(&other);
        assert_eq!(others.len(), 128);
        assert!(tenant(&budget).take(6).is_some());
        drop(one);
        assert_eq!(budget.free(), 384);
        assert_eq!(all(&other).len(), 128);
    }

    #[test]
    fn however_many_are_greedy_as_many_are_left_for_one_that_is_not() {
        for tenants in [1, 2, 5, 20] {
            let budget = Arc::new(Budget::new(1000));
            let greedy: Vec<_> = (0..tenants).map(|_| tenant(&budget)).collect();
            let mut held = Vec::new();
            // In turns, until no tenant gets another.
            while let before = held.len()
                && {
                    held.extend(greedy.iter().filter_map(|tenant| tenant.take(1)));
                    held.len() > before
                }
            {}
            assert!(budget.free() >= 1000 / (tenants + 1), "{tenants}");
            assert!(tenant(&budget).take(10).is_some(), "{tenants}");
        }
    }

    #[test]
    fn what_is_dropped_is_free_again() {
        let budget = Arc::new(Budget::new(10));
        let one = tenant(&budget);
        assert!(one.take(6).is_none());
        let mut held = one.take(4).unwrap();
        assert!(!held.grow(2));
        assert!(held.grow(1));
        assert!(one.take(1).is_none());
        drop(held);
        assert_eq!(budget.free(), 10);
        assert!(one.take(5).is_some());
    }
}
