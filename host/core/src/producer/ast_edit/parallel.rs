//! Threads of one call, and what they share.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls `work` with each item, from as many threads as there are cores, until it says to stop.
pub(super) fn in_parallel<'a, T: Sync>(
    items: &'a [T],
    work: impl Fn(&'a T) -> ControlFlow<()> + Sync,
) {
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if work(item).is_break() {
                next.store(items.len(), Ordering::Relaxed);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..cores.min(items.len()) {
            scope.spawn(worker);
        }
        worker();
    });
}

/// What a thread holds even where another panicked with it: a panic anywhere ends the call.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is left when all threads are done.
pub(super) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
