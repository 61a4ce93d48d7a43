//! What can be told of effects without the changes themselves.

use std::fmt;

use super::ChangeKind;

/// How many changes there are of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts(pub(super) [u64; ChangeKind::ALL.len()]);

impl Counts {
    /// Of one kind.
    pub fn of(&self, kind: ChangeKind) -> u64 {
        self.0[kind as usize]
    }

    /// Of all kinds.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// As in `2 renamed, 1 created`; `nothing` where there are none.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.total() == 0 {
            return f.write_str("nothing");
        }
        let kinds = ChangeKind::ALL.into_iter().filter(|it| self.of(*it) > 0);
        for (index, kind) in kinds.enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{} {}", self.of(kind), kind.counted())?;
        }
        Ok(())
    }
}

/// What a listing tells of an action's effects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectsSummary {
    /// As [`Effects::verified`](super::Effects::verified).
    pub verified: bool,
    /// As [`Effects::problem`](super::Effects::problem).
    pub problem: Option<String>,
    /// How many changes there are.
    pub counts: Counts,
    /// As [`Effects::uses_time`](super::Effects::uses_time).
    pub uses_time: bool,
    /// As [`Effects::uses_randomness`](super::Effects::uses_randomness).
    pub uses_randomness: bool,
    /// As [`Effects::moved`](super::Effects::moved).
    pub moved: bool,
}

/// A clause.
impl fmt::Display for EffectsSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            _ if self.verified => write!(f, "Verified by the host: {}", self.counts)?,
            Some(problem) => write!(
                f,
                "The tool's own word, not verified by the host: {problem}"
            )?,
            None => f.write_str("The tool's own word, not verified by the host")?,
        }
        match (self.uses_time, self.uses_randomness) {
            (false, false) => {}
            (true, false) => f.write_str(" (uses the time of the preview)")?,
            (false, true) => f.write_str(" (uses randomness)")?,
            (true, true) => f.write_str(" (uses the time of the preview, and randomness)")?,
        }
        if self.moved {
            f.write_str(
                " (other lines of these files have changed since the preview; the edits are the same)",
            )
        } else {
            Ok(())
        }
    }
}
