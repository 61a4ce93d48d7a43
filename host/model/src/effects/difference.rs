//! How what an action does now differs from what was reviewed.

use std::fmt;

use serde::Serialize;

use super::Effects;

/// What an action was seen to do, and does now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// What was decided about.
    pub reviewed: Effects,
    /// What it does now.
    pub now: Effects,
    /// Whether it was applied, and not committed. If not, what it depends on had changed, and it
    /// was rehearsed again.
    #[serde(skip)]
    pub applied: bool,
}

impl Difference {
    /// Between what was reviewed and what is done now.
    pub fn new(reviewed: Effects, now: Effects, applied: bool) -> Self {
        Self {
            reviewed,
            now,
            applied,
        }
    }
}

/// A sentence without its end, which counts and names nothing.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.applied {
            "nothing was changed: its effects differ from the review"
        } else {
            "nothing was applied: its surroundings have changed, and its effects would differ from the review"
        })?;
        let reviewed = self.reviewed.counts();
        match &self.now.problem {
            Some(problem) => write!(f, " (unknown, since {problem}"),
            None => write!(f, " ({}", self.now.counts()),
        }?;
        if self.now.counts() == reviewed {
            f.write_str(", as before, but not the same)")
        } else {
            write!(f, "; reviewed: {reviewed})")
        }
    }
}
