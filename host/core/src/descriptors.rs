//! How many files guests may hold open: what the process has of descriptors is shared out between
//! its sessions.
//!
//! Each session may hold as many as are still free. So one that takes all that it can get has half
//! of them, two have a third each, and with any number of greedy ones as many are left for a
//! session that opens its first file.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where the system tells no limit.
const UNKNOWN: usize = 4096;

/// The descriptors that all guests of an engine share.
#[derive(Debug)]
pub(crate) struct DescriptorBudget {
    free: Mutex<usize>,
}

/// How many of them one session holds.
#[derive(Debug, Default)]
pub(crate) struct DescriptorShare(AtomicUsize);

/// What one session may take.
#[derive(Debug, Clone)]
pub(crate) struct Descriptors {
    budget: Arc<DescriptorBudget>,
    share: Arc<DescriptorShare>,
}

/// So many descriptors of a budget. Given back when it is dropped.
#[derive(Debug)]
pub(crate) struct HeldDescriptors {
    from: Descriptors,
    count: usize,
}

impl DescriptorBudget {
    pub fn new(total: usize) -> Self {
        Self {
            free: Mutex::new(total),
        }
    }

    pub fn free(&self) -> usize {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Descriptors {
    pub fn new(budget: &Arc<DescriptorBudget>, share: &Arc<DescriptorShare>) -> Self {
        Self {
            budget: Arc::clone(budget),
            share: Arc::clone(share),
        }
    }

    /// None where the session would hold more than is left for others.
    pub fn take(&self, count: usize) -> Option<HeldDescriptors> {
        let mut free = self.budget.lock();
        // Changed under the lock alone.
        let held = self.share.0.load(Ordering::Relaxed);
        let left = free.checked_sub(count)?;
        if held + count > left {
            return None;
        }
        *free = left;
        self.share.0.store(held + count, Ordering::Relaxed);
        Some(HeldDescriptors {
            from: self.clone(),
            count,
        })
    }
}

impl Drop for HeldDescriptors {
    fn drop(&mut self) {
        let mut free = self.from.budget.lock();
        *free += self.count;
        self.from.share.0.fetch_sub(self.count, Ordering::Relaxed);
    }
}

/// Half of what the process may have open: the other half is for the host itself.
pub(crate) fn half_of_the_process() -> usize {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let limit: Option<u64> = None;
    // None: as many as there is memory for.
    limit.map_or(UNKNOWN, |limit| {
        usize::try_from(limit / 2).unwrap_or(usize::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(budget: &Arc<DescriptorBudget>) -> Descriptors {
        Descriptors::new(budget, &Arc::default())
    }

    /// As many as it gets, one by one.
    fn all(of: &Descriptors) -> Vec<HeldDescriptors> {
        std::iter::from_fn(|| of.take(1)).collect()
    }

    #[test]
    fn one_session_takes_half_and_the_next_ones_shares_of_what_is_left() {
        let budget = Arc::new(DescriptorBudget::new(512));
        let one = all(&session(&budget));
        assert_eq!(one.len(), 256);
        let other = session(&budget);
        let others = all(&other);
        assert_eq!(others.len(), 128);
        assert!(session(&budget).take(6).is_some());
        drop(one);
        assert_eq!(budget.free(), 384);
        assert_eq!(all(&other).len(), 128);
    }

    #[test]
    fn however_many_are_greedy_as_many_are_left_for_one_that_is_not() {
        for sessions in [1, 2, 5, 20] {
            let budget = Arc::new(DescriptorBudget::new(1000));
            let greedy: Vec<_> = (0..sessions).map(|_| session(&budget)).collect();
            let mut held = Vec::new();
            // In turns, until nobody gets another.
            while let before = held.len()
                && {
                    held.extend(greedy.iter().filter_map(|session| session.take(1)));
                    held.len() > before
                }
            {}
            assert!(budget.free() >= 1000 / (sessions + 1), "{sessions}");
            assert!(session(&budget).take(10).is_some(), "{sessions}");
        }
    }

    #[test]
    fn what_is_dropped_is_free_again() {
        let budget = Arc::new(DescriptorBudget::new(10));
        let session = session(&budget);
        assert!(session.take(6).is_none());
        let held = session.take(5).unwrap();
        assert!(session.take(1).is_none());
        drop(held);
        assert_eq!(budget.free(), 10);
        assert!(session.take(5).is_some());
    }
}
