//! Summaries of effects, without the changes themselves.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ChangeKind, Effects, Facts, ObjectKind, is_false};

/// The number of changes of each kind. Serializes as a list in the order of [`ChangeKind::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts(pub(super) [u64; ChangeKind::ALL.len()]);

impl Counts {
    /// Returns the number of changes of one kind.
    pub fn of(&self, kind: ChangeKind) -> u64 {
        self.0[kind as usize]
    }

    /// Returns the number of changes of all kinds.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Formats the counts, as in `2 renamed, 1 created`, or `nothing` if there are none.
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

/// A summary of an action's effects, for listings. Serializes as a part of the action's row in a
/// store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EffectsSummary {
    /// True if the host saw the effects, see [`Effects::verified`](super::Effects::verified).
    pub verified: bool,
    /// The reason why the host could not see the effects, see
    /// [`Effects::problem`](super::Effects::problem).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The number of changes of each kind.
    pub counts: Counts,
    /// True if the tool read the clock, see [`Effects::uses_time`](super::Effects::uses_time).
    #[serde(default, skip_serializing_if = "is_false")]
    pub uses_time: bool,
    /// True if the tool asked for random bytes, see
    /// [`Effects::uses_randomness`](super::Effects::uses_randomness).
    #[serde(default, skip_serializing_if = "is_false")]
    pub uses_randomness: bool,
    /// True if other lines of the files have changed, see
    /// [`Effects::moved`](super::Effects::moved).
    #[serde(default, skip_serializing_if = "is_false")]
    pub moved: bool,
    /// True if it can't be undone, see [`Effects::beyond_undo`](super::Effects::beyond_undo).
    #[serde(default, skip_serializing_if = "is_false")]
    pub beyond_undo: bool,
}

impl Effects {
    /// Returns the total size of the files that an apply replaces or removes, in bytes.
    pub fn replaced_bytes(&self) -> u64 {
        let replaced = self.changes.iter().filter_map(|change| {
            let before = change.before.as_ref()?;
            let is_kept =
                |after: &Facts| (&after.digest, after.mode) == (&before.digest, before.mode);
            let is_replaced = !change.after.as_ref().is_some_and(is_kept);
            (is_replaced && before.object == ObjectKind::File).then_some(before.size)
        });
        replaced.sum()
    }
}

/// Formats the summary as a clause.
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
            )?;
        }
        if self.beyond_undo {
            f.write_str(" (too large to be undone)")
        } else {
            Ok(())
        }
    }
}
