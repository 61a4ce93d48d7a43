//! How long something took: by the clock, or in processor time, which other processes can't make
//! much longer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

static PROCESSOR_TIME: AtomicBool = AtomicBool::new(false);

/// From now on, all stopwatches count the time that this process spent on all processors.
pub fn count_processor_time() {
    PROCESSOR_TIME.store(true, Ordering::Relaxed);
}

/// What stopwatches count.
pub fn unit() -> &'static str {
    if PROCESSOR_TIME.load(Ordering::Relaxed) {
        "processor time"
    } else {
        "clock time"
    }
}

pub enum Stopwatch {
    Clock(Instant),
    Processor(Duration),
}

impl Stopwatch {
    pub fn start() -> Self {
        if PROCESSOR_TIME.load(Ordering::Relaxed) {
            Self::Processor(processor_time())
        } else {
            Self::Clock(Instant::now())
        }
    }

    pub fn elapsed(&self) -> Duration {
        match self {
            Self::Clock(began) => began.elapsed(),
            Self::Processor(before) => processor_time() - *before,
        }
    }
}

fn processor_time() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(spent.tv_sec).unwrap();
    Duration::new(seconds, u32::try_from(spent.tv_nsec).unwrap())
}
