//! The stop state of a call: when it has to end, and whether its effects may still begin.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use airlock_model::error::Error;
use tokio_util::sync::CancellationToken;

/// The stop state of a call: its deadline, and its stage, which determines if effects may still
/// begin. The call's threads query it, and the waiting caller controls it.
#[derive(Debug)]
pub struct Stop {
    started: Instant,
    call_time: Duration,
    cancel: Option<CancellationToken>,
    stage: AtomicU8,
}

/// The call is running and has had no visible effect so far.
const WORKING: u8 = 0;
/// The call was abandoned: nothing waits for its answer, and no effect may begin.
const LEFT: u8 = 1;
/// Effects outside the workspace have begun: the caller has to wait for their end.
const ACTING: u8 = 2;
/// The work has returned, and no effect may begin any more.
const ENDED: u8 = 3;

impl Stop {
    /// Creates an independent stop state that is due after this time, for work outside a call, such
    /// as a test.
    pub fn after(time: Duration) -> Self {
        Self::new(time, None)
    }

    pub(super) fn new(call_time: Duration, cancel: Option<CancellationToken>) -> Self {
        Self {
            started: Instant::now(),
            call_time,
            cancel,
            stage: AtomicU8::new(WORKING),
        }
    }

    /// Returns whether the work has to end: its time is up, it was cancelled, or it was abandoned.
    /// Always false once effects have begun.
    pub fn is_due(&self) -> bool {
        match self.stage.load(Ordering::Relaxed) {
            LEFT | ENDED => true,
            ACTING => false,
            _ => self.is_over(),
        }
    }

    /// Returns how much of the call's time is left, so that work can do less when time is short.
    pub fn time_left(&self) -> Duration {
        self.call_time.saturating_sub(self.started.elapsed())
    }

    /// Returns whether the call's time is up or it was cancelled, even after effects have begun.
    pub(super) fn is_over(&self) -> bool {
        self.was_left() || self.is_cancelled() || self.started.elapsed() >= self.call_time
    }

    /// Returns whether the work was abandoned.
    pub(super) fn was_left(&self) -> bool {
        self.stage.load(Ordering::SeqCst) == LEFT
    }

    /// Notes that effects outside the workspace begin. Returns false if the work was abandoned.
    pub(super) fn begin_effects(&self) -> bool {
        self.move_on(ACTING) || self.is_acting()
    }

    fn is_acting(&self) -> bool {
        self.stage.load(Ordering::SeqCst) == ACTING
    }

    /// Notes that the work has returned.
    pub(super) fn end(&self) {
        // Abandoned work stays abandoned.
        if !self.move_on(ENDED) {
            let order = Ordering::SeqCst;
            let _ = self.stage.compare_exchange(ACTING, ENDED, order, order);
        }
    }

    fn is_cancelled(&self) -> bool {
        let cancel = self.cancel.as_ref();
        cancel.is_some_and(CancellationToken::is_cancelled)
    }

    /// Waits until the call is cancelled or its time is up.
    pub(super) async fn due(&self) {
        let time = tokio::time::sleep(self.time_left());
        match &self.cancel {
            None => time.await,
            Some(cancel) => tokio::select! {
                () = time => {}
                () = cancel.cancelled() => {}
            },
        }
    }

    /// Abandons running work: it can't begin an effect after this. Returns false if it has begun
    /// one, in which case the caller must wait for its end.
    pub(super) fn leave(&self) -> bool {
        self.move_on(LEFT)
    }

    fn move_on(&self, stage: u8) -> bool {
        let order = Ordering::SeqCst;
        let moved = self.stage.compare_exchange(WORKING, stage, order, order);
        moved.is_ok()
    }

    /// Returns why the work had to end, with the time that it took.
    pub(super) fn reason(&self, tool: &str) -> Error {
        let elapsed = self.started.elapsed();
        if elapsed >= self.call_time && !self.is_cancelled() {
            Error::timed_out_after(tool, self.call_time, elapsed)
        } else {
            Error::Cancelled
        }
    }

    /// Returns a guard that abandons the work when it is dropped.
    pub(super) fn leave_on_drop(self: &Arc<Self>) -> Leaving {
        Leaving(Arc::clone(self))
    }
}

/// Abandons a call's work when the future of the call is dropped; its threads stop at their next
/// check.
pub(super) struct Leaving(Arc<Stop>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_was_left_begins_no_effect_and_what_began_is_not_left() {
        let long = Duration::from_secs(3600);
        let stop = Stop::new(long, None);
        assert!(!stop.is_due());
        assert!(stop.leave());
        assert!(stop.is_due());
        assert!(!stop.move_on(ACTING));

        let stop = Stop::new(long, None);
        assert!(stop.move_on(ACTING));
        assert!(!stop.leave());
        assert!(!stop.is_due());
        stop.end();
        assert!(!stop.is_acting());

        // Effects that have begun are not interrupted, even if the time is up.
        let stop = Stop::new(Duration::ZERO, None);
        assert!(stop.is_due());
        let stop = Stop::new(Duration::from_millis(1), None);
        assert!(stop.move_on(ACTING));
        std::thread::sleep(Duration::from_millis(2));
        assert!(stop.is_over() && !stop.is_due());
    }

    #[test]
    fn the_reason_has_the_time_that_it_took() {
        let reason = |call_time, elapsed| {
            Error::timed_out_after(
                "t",
                Duration::from_millis(call_time),
                Duration::from_millis(elapsed),
            )
            .to_string()
        };
        assert_eq!(
            reason(3000, 3040),
            "tool `t` was stopped after 3 s, the limit for a call"
        );
        assert_eq!(
            reason(50, 700),
            "tool `t` was stopped after 0.7 s; the limit for a call is 0.05 s"
        );
    }
}
