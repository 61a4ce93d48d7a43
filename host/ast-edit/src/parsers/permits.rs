//! How many processes may parse at one time, over all calls and sessions: a semaphore.
//!
//! A call may hold several permits, and uses one again for as long as nobody else waits. Where
//! another call waits that has none, a call gives one up after an answer if it holds more than one
//! or has held this one for a while; one that is idle is taken from it. Permits are given in the
//! order in which calls began to wait. So a call waits for what others parse, and for nothing else
//! that they do.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use crate::parallel::{cores, lock};

/// How long is waited before it is asked whether the call has to end.
const PATIENCE: Duration = Duration::from_millis(20);

/// How long a call may keep its only permit from others. Each new process reads the ops anew, so
/// that much shorter would be mostly that.
const TURN: Duration = Duration::from_millis(500);

/// After how long what holds a permit counts as idle: a call that goes from file to file asks
/// sooner.
const IDLE: Duration = Duration::from_millis(50);

/// The permits of all calls.
#[derive(Debug)]
pub(crate) struct Permits {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// The calls that hold none and wait for one, by their tickets.
    queue: VecDeque<u64>,
    next_ticket: u64,
    /// All calls, to find what is idle in others.
    calls: Vec<Weak<dyn Idle>>,
}

/// What a call has: changed and read under the lock of all permits alone.
#[derive(Debug, Default)]
struct Account {
    held: usize,
    /// Its place in the queue, while it holds none and waits.
    ticket: Option<u64>,
}

/// The permits of one call, and what holds them and is idle: a `T` has a [`Permit`].
#[derive(Debug)]
pub(super) struct CallPermits<T> {
    all: Arc<Permits>,
    account: Arc<Mutex<Account>>,
    idle: Mutex<Vec<(Instant, T)>>,
}

/// One permit. Free again once it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    all: Arc<Permits>,
    account: Arc<Mutex<Account>>,
    since: Instant,
}

/// What was waited for.
pub(super) enum Taken<T> {
    Idle(T),
    /// A permit for a new one.
    Permit(Permit),
}

/// A call of which what is idle can be taken.
trait Idle: std::fmt::Debug + Send + Sync {
    fn take_idle(&self) -> Option<Box<dyn Send>>;
}

impl<T: std::fmt::Debug + Send + 'static> Idle for CallPermits<T> {
    fn take_idle(&self) -> Option<Box<dyn Send>> {
        let mut idle = lock(&self.idle);
        let at = idle.iter().position(|(since, _)| since.elapsed() > IDLE)?;
        Some(Box::new(idle.swap_remove(at)))
    }
}

impl Permits {
    /// So many, and at least one.
    pub fn new(count: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: count.max(1),
                queue: VecDeque::new(),
                next_ticket: 0,
                calls: Vec::new(),
            }),
            changed: Condvar::new(),
        })
    }

    /// Those of the process: two for each core, so that one call leaves as many for others.
    pub fn of_process() -> Arc<Self> {
        static PERMITS: LazyLock<Arc<Permits>> = LazyLock::new(|| Permits::new(2 * cores()));
        Arc::clone(&PERMITS)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl<T: std::fmt::Debug + Send + 'static> CallPermits<T> {
    pub fn new(all: &Arc<Permits>) -> Arc<Self> {
        let call = Arc::new(Self {
            all: Arc::clone(all),
            account: Arc::default(),
            idle: Mutex::default(),
        });
        let own: Weak<dyn Idle> = Arc::<Self>::downgrade(&call);
        let mut state = all.lock();
        state.calls.retain(|call| call.strong_count() > 0);
        state.calls.push(own);
        call
    }

    /// Waits for what is idle in this call, or for a permit. None where the call has to end.
    pub fn take(&self, is_due: impl Fn() -> bool) -> Option<Taken<T>> {
        let mut state = self.all.lock();
        loop {
            if let Some((_, idle)) = lock(&self.idle).pop() {
                return Some(Taken::Idle(idle));
            }
            let mut account = lock(&self.account);
            if is_due() {
                state.leave(&mut account);
                drop((account, state));
                self.all.changed.notify_all();
                return None;
            }
            let is_next = match account.held {
                0 => state.enter(&mut account),
                _ => state.queue.is_empty(),
            };
            if is_next && state.free > 0 {
                state.free -= 1;
                account.held += 1;
                state.leave(&mut account);
                drop((account, state));
                // There may be more, for those behind.
                self.all.changed.notify_all();
                return Some(Taken::Permit(Permit {
                    all: Arc::clone(&self.all),
                    account: Arc::clone(&self.account),
                    since: Instant::now(),
                }));
            }
            let has_none = account.held == 0;
            drop(account);
            if is_next && has_none {
                let calls = state.calls();
                // What is taken has a permit, as a call may whose last owner this is: their drop
                // locks the state.
                drop(state);
                let was_one_idle = calls.iter().any(|call| call.take_idle().is_some());
                drop(calls);
                state = self.all.lock();
                if was_one_idle {
                    continue;
                }
            }
            let waited = self.all.changed.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    /// Keeps what has answered for the next question, unless it is another call's turn.
    pub fn keep(&self, answered: T, permit: impl Fn(&T) -> &Permit) {
        if permit(&answered).is_to_be_given_up() {
            return;
        }
        lock(&self.idle).push((Instant::now(), answered));
        // Who is about to wait has looked already, or looks after this.
        drop(self.all.lock());
        self.all.changed.notify_all();
    }

    /// Ends all that is idle.
    pub fn clear(&self) {
        let idle = mem::take(&mut *lock(&self.idle));
        drop(idle);
    }
}

impl State {
    /// Whether the call is the first in the queue, where it stands from now on.
    fn enter(&mut self, account: &mut Account) -> bool {
        let ticket = *account.ticket.get_or_insert_with(|| {
            let last = self.next_ticket;
            self.next_ticket += 1;
            self.queue.push_back(last);
            last
        });
        self.queue.front() == Some(&ticket)
    }

    fn leave(&mut self, account: &mut Account) {
        if let Some(ticket) = account.ticket.take() {
            self.queue.retain(|other| *other != ticket);
        }
    }

    fn calls(&self) -> Vec<Arc<dyn Idle>> {
        self.calls.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Permit {
    /// Whether it is another call's turn.
    fn is_to_be_given_up(&self) -> bool {
        let state = self.all.lock();
        let held = lock(&self.account).held;
        !state.queue.is_empty() && (held > 1 || self.since.elapsed() > TURN)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.all.lock();
        state.free += 1;
        lock(&self.account).held -= 1;
        drop(state);
        self.all.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Worker(Permit);

    fn never() -> bool {
        false
    }

    fn started(taken: Option<Taken<Worker>>) -> Worker {
        match taken {
            Some(Taken::Permit(permit)) => Worker(permit),
            Some(Taken::Idle(_)) => panic!("an idle one"),
            None => panic!("the call has to end"),
        }
    }

    #[test]
    fn what_is_idle_in_one_call_keeps_no_other_waiting() {
        let all = Permits::new(2);
        let (one, other) = (CallPermits::new(&all), CallPermits::new(&all));
        let workers = [started(one.take(never)), started(one.take(never))];
        for worker in workers {
            one.keep(worker, |worker| &worker.0);
        }
        // The call goes on with something else, and has not ended.
        let worker = started(other.take(never));
        assert!(matches!(one.take(never), Some(Taken::Idle(_))));
        drop(worker);
        drop(one);
        assert_eq!(all.lock().free, 2);
    }

    #[test]
    fn a_call_with_several_gives_one_up_where_another_waits() {
        let all = Permits::new(2);
        let (one, other) = (CallPermits::new(&all), CallPermits::new(&all));
        let (first, second) = (started(one.take(never)), started(one.take(never)));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| started(other.take(never)));
            while all.lock().queue.is_empty() {
                std::thread::yield_now();
            }
            one.keep(first, |worker| &worker.0);
            waiting.join().unwrap();
            // The other one stays: it is the only one, and its turn has just begun.
            one.keep(second, |worker| &worker.0);
            assert!(matches!(one.take(never), Some(Taken::Idle(_))));
        });
        assert_eq!(all.lock().free, 2);
    }

    #[test]
    fn a_call_waits_once_whatever_its_threads_and_leaves_the_queue_with_its_end() {
        let all = Permits::new(1);
        let (one, other) = (CallPermits::new(&all), CallPermits::<Worker>::new(&all));
        let worker = started(one.take(never));
        let ends = std::sync::atomic::AtomicBool::new(false);
        let is_due = || ends.load(std::sync::atomic::Ordering::Relaxed);
        std::thread::scope(|scope| {
            let waiting = [(); 3].map(|()| scope.spawn(|| other.take(is_due).is_none()));
            while all.lock().queue.is_empty() {
                std::thread::yield_now();
            }
            assert_eq!(all.lock().queue.len(), 1);
            ends.store(true, std::sync::atomic::Ordering::Relaxed);
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
