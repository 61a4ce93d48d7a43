//! How many processes may work at one time, over all pools: a semaphore.
//!
//! A pool may hold several permits, each with its process, and reuses a process as long as no other
//! pool waits. If a pool without a permit waits, another one gives a permit up after an answer, if
//! it holds more than one or has held this one for a while; an idle one is taken from it. Permits
//! are given in the order in which pools began to wait. So a pool waits for the processes of other
//! pools, and for nothing else that they do.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::Worker;

/// How long a permit is waited for before the caller is asked whether it still waits.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long a pool may keep its only permit from others. Each new process needs its instructions
/// again, and with much shorter turns it would do little else.
const TURN: Duration = Duration::from_millis(500);

/// After how long a process counts as idle: a pool that goes from file to file asks sooner.
const IDLE: Duration = Duration::from_millis(50);

/// The permits of all pools that share them.
#[derive(Debug)]
pub struct Permits {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// The pools that hold none and wait for one, by their addresses.
    queue: VecDeque<usize>,
    /// All pools, to find idle processes in others.
    pools: Vec<Weak<Shared>>,
}

/// Processes that do one piece of work together: as many as its threads ask at one time and as
/// there are permits for. Dropped, it ends those that are idle.
#[derive(Debug)]
pub struct Pool(Arc<Shared>);

/// A pool's permits and its idle processes, which other pools may take.
#[derive(Debug)]
struct Shared {
    all: Arc<Permits>,
    /// How many permits it holds: changed and read under the lock of all permits alone.
    held: AtomicUsize,
    idle: Mutex<Vec<(Instant, Pooled)>>,
}

/// A process of a pool.
#[derive(Debug)]
pub struct Pooled {
    /// The process.
    pub worker: Worker,
    /// Behind the process, so that it is free only once that is gone.
    permit: Permit,
}

/// One permit. Free again once it is dropped.
#[derive(Debug)]
struct Permit {
    pool: Arc<Shared>,
    since: Instant,
}

impl Permits {
    /// So many, and at least one.
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
    /// A pool without processes, under these permits.
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

    /// Waits for a process that is idle in this pool, or for a permit to start one. None if
    /// `is_due` says to stop.
    ///
    /// # Errors
    /// Those of `start`.
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
            let is_next = match has_none {
                true => state.enter(pool),
                false => state.queue.is_empty(),
            };
            if is_next && state.free > 0 {
                state.free -= 1;
                pool.held.fetch_add(1, Relaxed);
                state.leave(pool);
                drop(state);
                // There may be more, for those behind.
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
                // A process that is taken has a permit, whose drop locks the state.
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

    /// Keeps a process that has answered for the next question, unless it is another pool's turn.
    pub fn keep(&self, answered: Pooled) {
        if answered.permit.is_to_be_given_up() {
            return;
        }
        lock(&self.0.idle).push((Instant::now(), answered));
        // Who is about to wait has looked already, or looks after this.
        drop(self.0.all.lock());
        self.0.all.changed.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // They hold the pool.
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
    /// Puts the pool into the queue. Returns whether it is the first there.
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
    /// Whether it is another pool's turn.
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
