//! The steps of a search within one source. They are counted, to check regularly whether the call
//! has to end.

use std::cell::Cell;
use std::sync::Arc;

use airlock_host::native::Stop;

/// The number of steps between two checks of the clock. A step takes less than a microsecond,
/// except for a `$$$` that has matched a lot: its matches are copied.
const STEPS_PER_LOOK: u32 = 64;

/// The progress on one thread.
#[derive(Clone)]
pub(crate) struct Steps {
    stop: Arc<Stop>,
    until_look: Cell<u32>,
    stopped: Cell<bool>,
}

impl Steps {
    pub fn new(stop: &Arc<Stop>) -> Self {
        Self {
            stop: Arc::clone(stop),
            until_look: Cell::new(STEPS_PER_LOOK),
            stopped: Cell::new(false),
        }
    }

    /// Counts a step. Returns true if the call has to end, and from then on for all further steps.
    pub fn step(&self) -> bool {
        if self.stopped.get() {
            return true;
        }
        let left = self.until_look.get();
        if left > 0 {
            self.until_look.set(left - 1);
            return false;
        }
        self.until_look.set(STEPS_PER_LOOK);
        self.stopped.set(self.stop.is_due());
        self.stopped.get()
    }

    pub fn was_stopped(&self) -> bool {
        self.stopped.get()
    }
}
