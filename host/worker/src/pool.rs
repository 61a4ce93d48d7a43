//! A semaphore that bounds the number of working processes over all pools.
//!
//! A pool may hold several permits, each with its process, and reuses a process while no other pool
//! waits. If a pool without a permit waits, another pool gives one up after an answer, provided
//! that it holds more than one or has held this one for a while. Permits of idle processes are
//! taken away. Pools get permits in the order in which they began to wait, so a pool waits only for
//! the processes of other pools.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::Worker;

/// The time to wait for a permit before asking the caller whether to continue.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The time for which a pool may keep its only permit from others. A new process must get its
/// instructions again, so much shorter turns would leave little time for work.
const TURN: Duration = Duration::from_millis(500);

/// The time after which a process counts as idle. A pool that goes from file to file asks sooner.
const IDLE: Duration = Duration::from_millis(50);

/// The permits that several pools share.
#[derive(Debug)]
pub struct Permits {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// The pools that wait without a permit, by address.
    queue: VecDeque<usize>,
    /// The pools, to find their idle processes.
    pools: Vec<Weak<Shared>>,
}

/// The processes for one piece of work. There are as many as its threads need at one time, within
/// the permits. Dropping the pool ends idle processes.
#[derive(Debug)]
pub struct Pool(Arc<Shared>);

/// A pool's permits and its idle processes, which other pools may take.
#[derive(Debug)]
struct Shared {
    all: Arc<Permits>,
    /// The number of permits held. Access it only under the lock of all permits.
    held: AtomicUsize,
    idle: Mutex<Vec<(Instant, Pooled)>>,
}

/// A process of a pool.
#[derive(Debug)]
pub struct Pooled {
    /// The process.
    pub worker: Worker,
    /// The permit. Declared after the process, so that it is released only once the process is
    /// gone.
    permit: Permit,
}

/// A permit, released on drop.
#[derive(Debug)]
struct Permit {
    pool: Arc<Shared>,
    since: Instant,
}

impl Permits {
    /// Creates `count` permits, at least one.
    pub fn new(count: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: count.max(1),
                queue: VecDeque::new(),
                pools: Vec::new(),
            }),
            changed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Pool {
    /// Creates a pool without processes.
    pub fn new(all: &Arc<Permits>) -> Self {
        let pool = Arc::new(Shared {
            all: Arc::clone(all),
            held: AtomicUsize::new(0),
            idle: Mutex::default(),
        });
        let mut state = all.lock();
        state.pools.retain(|pool| pool.strong_count() > 0);
        state.pools.push(Arc::downgrade(&pool));
        drop(state);
        Self(pool)
    }

    /// Waits for an idle process of this pool, or for a permit to start one. Returns `None` if
    /// `is_due` says to stop.
    ///
    /// # Errors
    /// The errors of `start`.
    pub fn take<E>(
        &self,
        is_due: impl Fn() -> bool,
        start: impl FnOnce() -> Result<Worker, E>,
    ) -> Result<Option<Pooled>, E> {
        let (pool, all) = (&self.0, &self.0.all);
        let mut state = all.lock();
        loop {
            if let Some((_, idle)) = lock(&pool.idle).pop() {
                return Ok(Some(idle));
            }
            if is_due() {
                state.leave(pool);
                drop(state);
                all.changed.notify_all();
                return Ok(None);
            }
            let has_none = pool.held.load(Relaxed) == 0;
            let is_next = if has_none {
                state.enter(pool)
            } else {
                state.queue.is_empty()
            };
            if is_next && state.free > 0 {
                state.free -= 1;
                pool.held.fetch_add(1, Relaxed);
                state.leave(pool);
                drop(state);
                // More permits may be free for the next pools in the queue.
                all.changed.notify_all();
                let permit = Permit {
                    pool: Arc::clone(pool),
                    since: Instant::now(),
                };
                let worker = start()?;
                return Ok(Some(Pooled { worker, permit }));
            }
            if is_next && has_none {
                let pools: Vec<_> = state.pools.iter().filter_map(Weak::upgrade).collect();
                // Dropping a process that was taken drops its permit, which locks the state.
                drop(state);
                let was_one_idle = pools.iter().any(|pool| pool.take_idle().is_some());
                state = all.lock();
                if was_one_idle {
                    continue;
                }
            }
            let waited = all.changed.wait_timeout(state, POLL_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Keeps a process for the next question after its answer, unless it is another pool's turn.
    pub fn keep(&self, answered: Pooled) {
        if answered.permit.is_to_be_given_up() {
            return;
        }
        lock(&self.0.idle).push((Instant::now(), answered));
        // A pool about to wait has either checked already or checks after this.
        drop(self.0.all.lock());
        self.0.all.changed.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Idle processes hold references to the pool.
        let idle = mem::take(&mut *lock(&self.0.idle));
        drop(idle);
    }
}

impl Shared {
    fn take_idle(&self) -> Option<Pooled> {
        let mut idle = lock(&self.idle);
        let at = idle.iter().position(|(since, _)| since.elapsed() > IDLE)?;
        Some(idle.swap_remove(at).1)
    }
}

impl State {
    /// Adds the pool to the queue. Returns true if it is first.
    fn enter(&mut self, pool: &Arc<Shared>) -> bool {
        let address = Arc::as_ptr(pool).addr();
        if !self.queue.contains(&address) {
            self.queue.push_back(address);
        }
        self.queue.front() == Some(&address)
    }

    fn leave(&mut self, pool: &Arc<Shared>) {
        let address = Arc::as_ptr(pool).addr();
        self.queue.retain(|other| *other != address);
    }
}

impl Permit {
    /// Returns true if it is another pool's turn.
    fn is_to_be_given_up(&self) -> bool {
        let state = self.pool.all.lock();
        let held = self.pool.held.load(Relaxed);
        !state.queue.is_empty() && (held > 1 || self.since.elapsed() > TURN)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.pool.all.lock();
        state.free += 1;
        self.pool.held.fetch_sub(1, Relaxed);
        drop(state);
        self.pool.all.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::{Bounds, Part};

    fn never() -> bool {
        false
    }

    /// A process that does nothing for a minute.
    fn start() -> io::Result<Worker> {
        let part = Part {
            argument: "60",
            version: "1",
        };
        let bounds = Bounds {
            memory: 0,
            processor_seconds: 0,
        };
        Worker::start(Path::new("/bin/sleep"), &part, bounds, &[])
    }

    fn started(pool: &Pool) -> Pooled {
        pool.take(never, start).unwrap().unwrap()
    }

    /// Takes one that is idle.
    fn idle(pool: &Pool) -> Pooled {
        let start = || -> Result<Worker, ()> { panic!("none is idle") };
        pool.take(never, start).unwrap().unwrap()
    }

    #[test]
    fn what_is_idle_in_one_pool_keeps_no_other_waiting() {
        let all = Permits::new(2);
        let (one, other) = (Pool::new(&all), Pool::new(&all));
        let workers = [started(&one), started(&one)];
        for worker in workers {
            one.keep(worker);
        }
        // The first pool goes on with something else, and has not ended.
        let worker = started(&other);
        one.keep(idle(&one));
        drop(worker);
        drop(one);
        assert_eq!(all.lock().free, 2);
    }

    #[test]
    fn a_pool_with_several_gives_one_up_where_another_waits() {
        let all = Permits::new(2);
        let (one, other) = (Pool::new(&all), Pool::new(&all));
        let (first, second) = (started(&one), started(&one));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| started(&other));
            while all.lock().queue.is_empty() {
                std::thread::yield_now();
            }
            one.keep(first);
            waiting.join().unwrap();
            // The other one stays: it is the only one, and its turn has just begun.
            one.keep(second);
            idle(&one);
        });
        assert_eq!(all.lock().free, 2);
    }

    #[test]
    fn a_pool_waits_once_whatever_its_threads_and_leaves_the_queue_with_its_end() {
        let all = Permits::new(1);
        let (one, other) = (Pool::new(&all), Pool::new(&all));
        let worker = started(&one);
        let ends = AtomicBool::new(false);
        let is_due = || ends.load(Ordering::Relaxed);
        std::thread::scope(|scope| {
            let wait = || other.take(is_due, start).unwrap().is_none();
            let waiting = [(); 3].map(|()| scope.spawn(wait));
            while all.lock().queue.is_empty() {
                std::thread::yield_now();
            }
            assert_eq!(all.lock().queue.len(), 1);
            ends.store(true, Ordering::Relaxed);
            assert!(
                waiting
                    .map(|thread| thread.join().unwrap())
                    .iter()
                    .all(|ended| *ended)
            );
        });
        assert!(all.lock().queue.is_empty());
        drop(worker);
    }
}
