//! Differences between the current effects of an action and the reviewed ones.

use std::fmt;

use serde::Serialize;

use super::Effects;

/// The difference between the reviewed effects of an action and its current ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The reviewed effects.
    pub reviewed: Effects,
    /// The current effects.
    pub now: Effects,
    /// True if the action was applied but not committed. Otherwise something that it depends on had
    /// changed, and it was rehearsed again.
    #[serde(skip)]
    pub applied: bool,
}

impl Difference {
    /// Creates a difference between the reviewed effects and the current ones.
    pub fn new(reviewed: Effects, now: Effects, applied: bool) -> Self {
        Self {
            reviewed,
            now,
            applied,
        }
    }
}

/// Formats a sentence without its full stop. It gives the numbers of changes and no names.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = |effects: &Effects| effects.answer.as_ref().map(|it| it.digest);
        let (before, after) = (digest(&self.reviewed), digest(&self.now));
        if after.is_some() && before != after && self.reviewed.is_same(&self.now) {
            return f.write_str("nothing was changed: its answer differs from the review");
        }
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
