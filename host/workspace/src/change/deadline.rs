//! Until when contents may be compared.

use std::io;
use std::time::{Duration, Instant};

/// Contents are read in pieces, and this is asked before each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    pub const NONE: Self = Self(None);

    /// From now on; none for as long as it takes.
    pub fn within(time: Option<Duration>) -> Self {
        Self(time.and_then(|time| Some((Instant::now().checked_add(time)?, time))))
    }

    /// # Errors
    /// [`io::ErrorKind::TimedOut`] once it has passed.
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
