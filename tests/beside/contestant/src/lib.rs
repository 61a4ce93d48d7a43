//! What the measuring program says to a program that embeds a library, and how that answers: a line
//! `WORK COUNT` on standard input asks for some work so many times, and a line with two numbers on
//! standard output says how long all of it took, by the clock and in processor time.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::time::{ClockId, clock_gettime};

/// What the tool is called.
pub use beside_logic::NAME as TOOL;

/// Params that no file's name fits, as JSON.
pub const NOTHING: &str = r#"{"prefix":"nothing begins so","replacement":""}"#;

/// How long some work took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Took {
    clock: Duration,
    processor: Duration,
}

impl Took {
    /// Does the work, and measures it.
    ///
    /// # Errors
    /// Those of the work.
    pub fn of<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(Self, T)> {
        let (clock, processor) = (Instant::now(), processor_time());
        let made = work()?;
        let took = Self {
            clock: clock.elapsed(),
            processor: processor_time() - processor,
        };
        Ok((took, made))
    }

    /// The same, so many times.
    ///
    /// # Errors
    /// Those of the work.
    pub fn of_all(
        count: u32,
        mut work: impl FnMut() -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let all = || (0..count).try_for_each(|_| work());
        Ok(Self::of(all)?.0)
    }
}

impl std::ops::AddAssign for Took {
    fn add_assign(&mut self, other: Self) {
        self.clock += other.clock;
        self.processor += other.processor;
    }
}

/// Answers until nobody asks any more.
///
/// # Errors
/// Those of the work, and where standard input is not what it should be.
pub fn answer(mut work: impl FnMut(&str, u32) -> anyhow::Result<Took>) -> anyhow::Result<()> {
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (what, count) = line.split_once(' ').context("WORK COUNT")?;
        let took = work(what, count.parse()?).with_context(|| line.clone())?;
        let nanoseconds = [took.clock, took.processor].map(|it| it.as_nanos());
        writeln!(answers, "{} {}", nanoseconds[0], nanoseconds[1])?;
        answers.flush()?;
    }
    Ok(())
}

fn processor_time() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(spent.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(spent.tv_nsec).unwrap_or_default())
}
