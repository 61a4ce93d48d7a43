//! The threads of one call, and their shared data.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{Builder, available_parallelism, scope};

use airlock_host::native::STACK_BYTES;

/// Queues an item, from any thread. Returns `Break` once the work is stopped.
pub(crate) type Enqueue<'a, T> = &'a (dyn Fn(T) -> ControlFlow<()> + Sync);

/// Calls `work` with each item, on as many threads as there are cores, until `work` fails. Returns
/// the first error.
pub(crate) fn in_parallel<'a, T: Sync, E: Send>(
    items: &'a [T],
    work: impl Fn(&'a T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let failed = Mutex::new(None);
    let feed = |give: Enqueue<'_, &'a T>| {
        let _ = items.iter().try_for_each(give);
    };
    share_out(items.len(), feed, |item| match work(item) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            lock(&failed).get_or_insert(error);
            ControlFlow::Break(())
        }
    });
    into_inner(failed).map_or(Ok(()), Err)
}

/// Returns the most threads of a call.
pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

/// Calls `work` with each item from `feed`, on at most `max_threads` threads and no more than there
/// are cores, until `work` breaks.
pub(crate) fn share_out<T: Send>(
    max_threads: usize,
    feed: impl FnOnce(Enqueue<'_, T>),
    work: impl Fn(T) -> ControlFlow<()> + Sync,
) {
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let stopped = AtomicBool::new(false);
    let worker = || {
        loop {
            let item = lock(&receiver).recv();
            let Ok(item) = item else {
                return;
            };
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            if work(item).is_break() {
                stopped.store(true, Ordering::Relaxed);
                return;
            }
        }
    };
    scope(|scope| {
        for _ in 1..cores().min(max_threads) {
            let thread = Builder::new().stack_size(STACK_BYTES);
            // Fewer threads can do the same work.
            if thread.spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        feed(&|item| {
            if stopped.load(Ordering::Relaxed) || sender.send(item).is_err() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        drop(sender);
        worker();
    });
}

/// Locks a mutex, even if another thread panicked while it held the lock: a panic ends the call
/// anyway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the value once all threads are done.
pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
