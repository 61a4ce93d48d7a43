//! The monotonic clock of a reproducible run: its time depends on what the guest does, not on the
//! speed of the machine.
//!
//! Reading the clock takes a microsecond, so that a loop that polls for a time ends. Waiting takes
//! as long as on the machine's own clock, and advances this clock by exactly the time waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep_until};
use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::clocks::WasiClocksCtxView;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::{self, Host};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};

use super::State;

/// Nanoseconds that reading the clock takes.
const LOOK: u64 = 1000;

/// Nanoseconds since the guest started.
#[derive(Debug, Clone, Default)]
pub struct OwnClock(Arc<AtomicU64>);

impl OwnClock {
    fn look(&self) -> u64 {
        self.0.fetch_add(LOOK, Ordering::Relaxed)
    }

    /// Advances the clock to this time, unless it is later already.
    fn reach(&self, time: u64) {
        self.0.fetch_max(time, Ordering::Relaxed);
    }
}

pub struct HasMonotonic;

impl HasData for HasMonotonic {
    type Data<'a> = MonotonicView<'a>;
}

/// Wraps WASI's own clock.
pub struct MonotonicView<'a> {
    /// `None` to use WASI's own clock.
    pub clock: Option<&'a OwnClock>,
    pub inner: WasiClocksCtxView<'a>,
}

pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    monotonic_clock::add_to_linker::<State, HasMonotonic>(linker, State::monotonic)
}

impl Host for MonotonicView<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        match self.clock {
            Some(clock) => Ok(clock.look()),
            None => self.inner.now(),
        }
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        match self.clock {
            Some(_) => Ok(LOOK),
            None => self.inner.resolution(),
        }
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        match self.clock {
            Some(clock) => {
                let now = clock.look();
                self.wait(clock, when, when.saturating_sub(now))
            }
            None => self.inner.subscribe_instant(when),
        }
    }

    fn subscribe_duration(&mut self, wait: u64) -> wasmtime::Result<Resource<DynPollable>> {
        match self.clock {
            Some(clock) => {
                let now = clock.look();
                self.wait(clock, now.saturating_add(wait), wait)
            }
            None => self.inner.subscribe_duration(wait),
        }
    }
}

impl MonotonicView<'_> {
    fn wait(
        &mut self,
        clock: &OwnClock,
        until: u64,
        wait: u64,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        let waiting = Waiting {
            clock: clock.clone(),
            until,
            ends: Instant::now().checked_add(Duration::from_nanos(wait)),
            yields: wait == 0,
        };
        let waiting = self.inner.table.push(waiting)?;
        subscribe(self.inner.table, waiting)
    }
}

/// A guest's wait for a time on its clock.
struct Waiting {
    clock: OwnClock,
    until: u64,
    /// `None` if the time is out of range for any clock.
    ends: Option<Instant>,
    /// True to yield once before the wait is ready, because a guest that polls without waiting must
    /// not block other tasks.
    yields: bool,
}

#[async_trait]
impl Pollable for Waiting {
    async fn ready(&mut self) {
        if std::mem::take(&mut self.yields) {
            tokio::task::yield_now().await;
        }
        match self.ends {
            Some(ends) => sleep_until(ends).await,
            None => std::future::pending().await,
        }
        self.clock.reach(self.until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_looks_until_some_time_is_over_comes_to_an_end() {
        let clock = OwnClock::default();
        let looks = (1..).find(|_| clock.look() >= 5_000_000);
        assert_eq!(looks, Some(5001));
    }

    #[tokio::test]
    async fn after_a_wait_it_is_as_late_as_was_waited_for_and_never_earlier() {
        let clock = OwnClock::default();
        let waiting = |until| Waiting {
            clock: clock.clone(),
            until,
            ends: Some(Instant::now()),
            yields: until == 0,
        };
        for (until, then) in [(7_000, 7_000), (0, 8_000), (3_000, 9_000)] {
            waiting(until).ready().await;
            assert_eq!(clock.look(), then);
        }
    }
}
