//! The size of an action's changes.

use std::fmt;

use airlock_model::effects::{Change, ChangeKind, ObjectKind};
use airlock_model::store::Spending;

use crate::size::Size;

/// The size of an action's changes, as budgets and rules count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Files, directories and links that change in any way, including by a move of a directory
    /// above them.
    pub files: u64,
    /// Bytes written or removed. For each file whose contents change, the larger of its sizes
    /// before and after counts.
    pub bytes: u64,
    /// The number of deletions.
    pub deletions: u64,
}

impl Totals {
    /// Adds a change, which moves this many objects in a directory.
    pub(crate) fn add(&mut self, change: &Change, moved_within: u64) {
        self.files = self.files.saturating_add(1).saturating_add(moved_within);
        self.bytes = self.bytes.saturating_add(bytes(change));
        if change.kind == ChangeKind::Deleted {
            self.deletions = self.deletions.saturating_add(1);
        }
    }
}

/// Converts totals for a store.
impl From<Totals> for Spending {
    fn from(totals: Totals) -> Self {
        Self {
            files: totals.files,
            bytes: totals.bytes,
            deletions: totals.deletions,
        }
    }
}

impl From<Spending> for Totals {
    fn from(spending: Spending) -> Self {
        Self {
            files: spending.files,
            bytes: spending.bytes,
            deletions: spending.deletions,
        }
    }
}

fn bytes(change: &Change) -> u64 {
    let facts = [&change.before, &change.after].map(Option::as_ref);
    let digest = |at: usize| facts[at].and_then(|it| it.digest.as_ref());
    // A large file that is only renamed has no digest.
    let identity = |at: usize| facts[at].and_then(|it| it.identity.as_deref());
    let is_same = match facts {
        [Some(_), Some(_)] => {
            digest(0).is_some() && digest(0) == digest(1)
                || identity(0).is_some() && identity(0) == identity(1)
        }
        _ => false,
    };
    let sizes = facts.into_iter().flatten();
    let files = sizes.filter(|it| it.object == ObjectKind::File);
    if is_same {
        0
    } else {
        files.map(|it| it.size).max().unwrap_or(0)
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = if self.files == 1 { "file" } else { "files" };
        write!(f, "{} {files}, {}", self.files, Size(self.bytes))?;
        match self.deletions {
            0 => Ok(()),
            1 => f.write_str(", 1 deletion"),
            more => write!(f, ", {more} deletions"),
        }
    }
}

#[cfg(test)]
mod tests {
    use airlock_model::effects::Facts;

    use super::*;

    fn facts(size: u64, digest: &str) -> Option<Facts> {
        let mut facts = Facts::new(ObjectKind::File);
        facts.size = size;
        facts.digest = Some(digest.to_owned());
        Some(facts)
    }

    #[test]
    fn bytes_are_those_of_contents_that_differ_and_not_of_what_is_moved() {
        let check = |kind, before, after, expected| {
            let mut change = Change::new(kind, "a");
            (change.before, change.after) = (before, after);
            let mut totals = Totals::default();
            totals.add(&change, 0);
            let deletions = u64::from(kind == ChangeKind::Deleted);
            assert_eq!((totals.bytes, totals.deletions), (expected, deletions));
        };
        check(ChangeKind::Created, None, facts(7, "x"), 7);
        check(ChangeKind::Deleted, facts(7, "x"), None, 7);
        check(ChangeKind::Modified, facts(7, "x"), facts(3, "y"), 7);
        check(ChangeKind::Renamed, facts(7, "x"), facts(7, "x"), 0);
        check(ChangeKind::Renamed, facts(7, "x"), facts(9, "y"), 9);
        let directory = Some(Facts::new(ObjectKind::Directory));
        check(ChangeKind::Renamed, directory.clone(), directory, 0);
    }

    #[test]
    fn nothing_overflows() {
        let mut change = Change::new(ChangeKind::Created, "a");
        change.after = facts(u64::MAX, "x");
        let mut totals = Totals::default();
        totals.add(&change, u64::MAX);
        totals.add(&change, 1);
        assert_eq!((totals.files, totals.bytes), (u64::MAX, u64::MAX));
    }
}
