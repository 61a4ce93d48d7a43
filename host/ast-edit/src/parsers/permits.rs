//! How many processes may parse at one time, over all calls and sessions: a semaphore.
//!
//! A call may hold several permits. None waits for the end of another call: after an answer a call
//! gives a permit up where another waits, and it holds more than one or has held this one for a
//! while. Permits are given in the order in which calls began to wait.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use airlock_host::native::Stop;

/// How long is waited before it is asked whether the call has to end.
const PATIENCE: Duration = Duration::from_millis(20);

/// How long a call may keep its only permit from others. Each new process reads the ops anew, so that
/// much shorter would be mostly that.
const TURN: Duration = Duration::from_millis(500);

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
}

/// The permits of one call.
#[derive(Debug)]
pub(super) struct CallPermits {
    all: Arc<Permits>,
    /// Changed and read under the lock of all permits alone.
    held: Mutex<usize>,
}

/// One permit. Free again once it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    call: Arc<CallPermits>,
    since: Instant,
}

/// What was waited for.
pub(super) enum Taken<T> {
    /// It is there already, with its permit.
    Idle(T),
    /// A permit for a new one.
    Permit(Permit),
}

impl Permits {
    /// So many, and at least one.
    pub fn new(count: usize) -> Self {
        Self {
            state: Mutex::new(State {
                free: count.max(1),
                queue: VecDeque::new(),
                next_ticket: 0,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallPermits {
    pub fn new(all: &Arc<Permits>) -> Arc<Self> {
        Arc::new(Self {
            all: Arc::clone(all),
            held: Mutex::new(0),
        })
    }

    /// To be called where something became idle in this call.
    pub fn wake(&self) {
        // Who is about to wait has looked already, or looks after this.
        drop(self.all.lock());
        self.all.changed.notify_all();
    }

    fn held(&self) -> MutexGuard<'_, usize> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for what is idle in this call, or for a permit. None where the call has to end.
    pub fn take<T>(
        self: &Arc<Self>,
        stop: &Stop,
        mut idle: impl FnMut() -> Option<T>,
    ) -> Option<Taken<T>> {
        let mut state = self.all.lock();
        let mut ticket = None;
        let taken = loop {
            if let Some(idle) = idle() {
                break Some(Taken::Idle(idle));
            }
            let is_first = match ticket {
                Some(_) => state.queue.front() == ticket.as_ref(),
                None => state.queue.is_empty(),
            };
            if state.free > 0 && is_first {
                state.free -= 1;
                *self.held() += 1;
                break Some(Taken::Permit(Permit {
                    call: Arc::clone(self),
                    since: Instant::now(),
                }));
            }
            if stop.is_due() {
                break None;
            }
            if ticket.is_none() && *self.held() == 0 {
                let last = state.next_ticket;
                state.queue.push_back(last);
                state.next_ticket += 1;
                ticket = Some(last);
            }
            let waited = self.all.changed.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        if let Some(ticket) = ticket {
            state.queue.retain(|other| *other != ticket);
            drop(state);
            self.all.changed.notify_all();
        }
        taken
    }
}

impl Permit {
    /// Whether it is another call's turn.
    pub fn is_to_be_given_up(&self) -> bool {
        let state = self.call.all.lock();
        !state.queue.is_empty() && (*self.call.held() > 1 || self.since.elapsed() > TURN)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.call.all.lock();
        state.free += 1;
        *self.call.held() -= 1;
        drop(state);
        self.call.all.changed.notify_all();
    }
}
