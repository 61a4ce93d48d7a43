//! The deadline of a comparison of contents.

use std::io;
use std::time::{Duration, Instant};

/// A deadline that is checked before each piece of contents is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    pub const NONE: Self = Self(None);

    /// Returns a deadline counted from now; `None` means no limit.
    pub fn within(time: Option<Duration>) -> Self {
        Self(time.and_then(|time| Some((Instant::now().checked_add(time)?, time))))
    }

    /// Checks the deadline.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if the deadline has passed.
    pub fn check(self) -> io::Result<()> {
        match self.0 {
            Some((until, time)) if Instant::now() > until => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("comparing files took longer than {} s", time.as_secs_f64()),
            )),
            _ => Ok(()),
        }
    }
}
