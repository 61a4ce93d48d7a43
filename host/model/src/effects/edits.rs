//! Comparison of the edits that two runs make to files that differ elsewhere.

use super::{Change, ChangeKind, Effects, Hunk};

impl Effects {
    /// Returns true if both make the same changes, even on other lines because other parts of a
    /// file have changed. The lines next to each edit must be equal, so an edit next to such a
    /// change doesn't match.
    pub fn has_same_edits(&self, other: &Effects) -> bool {
        let pairs = self.changes.iter().zip(&other.changes);
        self.verified
            && other.verified
            && self.changes.len() == other.changes.len()
            && pairs
                .into_iter()
                .all(|(one, other)| one.is_same(other) || one.has_same_edits(other))
    }
}

impl Change {
    /// Returns true if both make the same edits to the same file. Edits without a diff can't be
    /// compared and count as different.
    pub fn has_same_edits(&self, other: &Change) -> bool {
        let mode = |change: &Change| {
            let of = |facts: &Option<super::Facts>| facts.as_ref().map(|it| (it.object, it.mode));
            (of(&change.before), of(&change.after))
        };
        let (one, another) = (self.hunks(), other.hunks());
        let mut pairs = one.iter().zip(&another);
        self.kind == ChangeKind::Modified
            && (self.kind, &self.path, &self.from) == (other.kind, &other.path, &other.from)
            && mode(self) == mode(other)
            && !one.is_empty()
            && one.len() == another.len()
            && pairs.all(|(one, another)| is_same_edit(one, another))
    }
}

/// Returns whether both replace the same lines by the same lines, between the same lines.
fn is_same_edit(one: &Hunk, other: &Hunk) -> bool {
    let around = |hunk: &Hunk| (hunk.above.last().cloned(), hunk.below.first().cloned());
    (&one.removed, &one.added) == (&other.removed, &other.added) && around(one) == around(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::{Facts, ObjectKind};

    fn modified(diff: &str, digest: &str) -> Effects {
        let mut change = Change::new(ChangeKind::Modified, "a.txt");
        let mut facts = Facts::new(ObjectKind::File);
        facts.digest = Some(digest.to_owned());
        change.before = Some(facts.clone());
        change.after = Some(facts);
        change.diff = Some(diff.to_owned());
        Effects::verified(vec![change])
    }

    #[test]
    fn edits_are_the_same_on_other_lines_and_not_where_what_they_touch_has_changed() {
        let diff = "--- a.txt\n+++ a.txt\n@@ -5,3 +5,3 @@\n five\n-six\n+SIX\n seven\n";
        let check = |now: &str, expected: bool| {
            let (then, now) = (modified(diff, "0"), modified(now, "1"));
            assert_eq!(then.has_same_edits(&now), expected, "{now:?}");
        };
        check(diff, true);
        check("@@ -9,3 +9,3 @@\n five\n-six\n+SIX\n seven\n", true);
        check("@@ -9,4 +9,4 @@\n other\n five\n-six\n+SIX\n seven\n", true);
        check("@@ -5,3 +5,3 @@\n FIVE\n-six\n+SIX\n seven\n", false);
        check("@@ -5,2 +5,2 @@\n five\n-six\n+SIX\n", false);
        check("@@ -5,3 +5,3 @@\n five\n-six\n+6\n seven\n", false);
        check("@@ -5,3 +5,3 @@\n five\n-Six\n+SIX\n seven\n", false);
        let twice = format!("{diff}@@ -50,2 +50,1 @@\n fifty\n-more\n");
        check(&twice, false);
        check("", false);
    }

    #[test]
    fn what_is_not_shown_is_not_compared() {
        let mut hidden = modified("", "1");
        hidden.changes[0].diff = None;
        assert!(!hidden.has_same_edits(&modified("", "0")));
        assert!(hidden.has_same_edits(&hidden.clone()));
        let unverified = Effects::unverified("no");
        assert!(!unverified.has_same_edits(&unverified.clone()));
    }
}
