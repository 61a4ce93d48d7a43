//! The hunks of a changed text file. Some can be applied without the others.

use std::collections::BTreeSet;

use diffy::{Line, Patch};

use super::Change;
use crate::digest::Digest;

/// The lines that are removed and added at one place of a file, without unchanged lines between
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hunk {
    /// The index of the section of the diff, which begins with `@@`. A section has several hunks if
    /// there are only a few lines between them.
    pub section: usize,
    /// The line at which it begins before the change, from 1.
    pub line: usize,
    /// The unchanged lines that the diff has above it, up to another hunk. All lines have their
    /// line ends.
    pub above: Vec<String>,
    /// The removed lines.
    pub removed: Vec<String>,
    /// The added lines.
    pub added: Vec<String>,
    /// The unchanged lines that the diff has below it, up to another hunk.
    pub below: Vec<String>,
}

impl Change {
    /// Returns the hunks of the file, by its diff. Returns none if the change has no diff, or one
    /// that can't be split.
    pub fn hunks(&self) -> Vec<Hunk> {
        let Some(patch) = self.patch() else {
            return Vec::new();
        };
        let sections = patch.hunks().iter().enumerate();
        sections
            .flat_map(|(section, lines)| hunks_of(section, lines))
            .collect()
    }

    /// Returns the contents of the file after some of its hunks, by index. `before` is the file
    /// before the change. Returns `None` if the diff does not lead from these contents to those
    /// after the change.
    pub fn text_after(&self, before: &str, hunks: &BTreeSet<usize>) -> Option<String> {
        let all = self.hunks();
        let whole = replaced(before, all.iter().map(Hunk::replacement))?;
        let after = self.after.as_ref()?.digest.as_deref()?;
        let is_right = !all.is_empty() && Digest::of(whole.as_bytes()).to_hex() == after;
        let chosen = hunks.iter().filter_map(|at| all.get(*at));
        is_right.then(|| replaced(before, chosen.map(Hunk::replacement)))?
    }

    fn patch(&self) -> Option<Patch<'_, str>> {
        let diff = self.diff.as_deref()?;
        // The lines with the names, which are quoted, are not needed.
        let names = diff.split_inclusive('\n');
        let names = names.take_while(|line| !line.starts_with("@@ "));
        let body = names.map(str::len).sum::<usize>();
        Patch::from_str(&diff[body..]).ok()
    }
}

fn hunks_of(section: usize, lines: &diffy::Hunk<'_, str>) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut line = first_line(lines) + 1;
    let mut same = Vec::new();
    let mut is_open = false;
    for one in lines.lines() {
        if let Line::Context(text) = one {
            same.push((*text).to_owned());
            if let Some(hunk) = hunks.last_mut() {
                hunk.below.push((*text).to_owned());
            }
            (line, is_open) = (line + 1, false);
            continue;
        }
        if !is_open {
            hunks.push(Hunk {
                section,
                line,
                above: std::mem::take(&mut same),
                removed: Vec::new(),
                added: Vec::new(),
                below: Vec::new(),
            });
            is_open = true;
        }
        let Some(hunk) = hunks.last_mut() else {
            continue;
        };
        match one {
            Line::Insert(text) => hunk.added.push((*text).to_owned()),
            Line::Delete(text) | Line::Context(text) => {
                hunk.removed.push((*text).to_owned());
                line += 1;
            }
        }
    }
    hunks
}

/// Returns the number of lines before a hunk of a patch.
fn first_line(hunk: &diffy::Hunk<'_, str>) -> usize {
    let range = hunk.old_range();
    // A range without lines begins at the line before it.
    if range.is_empty() {
        range.start()
    } else {
        range.start().saturating_sub(1)
    }
}

impl Hunk {
    /// Returns the lines of the file that it replaces, and those in their place.
    pub fn replacement(&self) -> Replacement<'_> {
        Replacement {
            line: self.line,
            removed: &self.removed,
            added: &self.added,
        }
    }
}

/// Lines of a text, and those in their place.
#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    /// The first line, from 1.
    pub line: usize,
    /// The lines, with their line ends.
    pub removed: &'a [String],
    /// The lines in their place, with their line ends.
    pub added: &'a [String],
}

/// Replaces lines of a text. The replacements are in the order of the lines. Returns `None` if the
/// text has other lines there.
pub fn replaced<'a>(
    text: &str,
    replacements: impl IntoIterator<Item = Replacement<'a>>,
) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for Replacement {
        line,
        removed,
        added,
    } in replacements
    {
        let first = line.checked_sub(1)?;
        new.extend(lines.get(at..first)?.iter().copied());
        at = first + removed.len();
        if lines.get(first..at)? != removed {
            return None;
        }
        new.extend(added.iter().map(String::as_str));
    }
    new.extend(lines.get(at..)?.iter().copied());
    Some(new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::effects::{ChangeKind, Facts, ObjectKind};

    const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12";
    const AFTER: &str = "0\n1\n2\n3\nfour\n5\n7\n8\n9\n10\n11\ntwelve\n";
    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1,12 +1,12 @@\n+0\n 1\n 2\n 3\n-4\n+four\n 5\n-6\n 7\n 8\n 9\n 10\n 11\n-12\n\\ No newline at end of file\n+twelve\n";

    fn change(diff: &str, after: &str) -> Change {
        let mut change = Change::new(ChangeKind::Modified, "x");
        let mut facts = Facts::new(ObjectKind::File);
        facts.digest = Some(Digest::of(after.as_bytes()).to_hex());
        change.after = Some(facts);
        change.diff = Some(diff.to_owned());
        change
    }

    #[test]
    fn any_hunks_of_a_file_can_be_applied_without_the_others() {
        let change = change(DIFF, AFTER);
        let lines: Vec<_> = change.hunks().iter().map(|hunk| hunk.line).collect();
        assert_eq!(lines, [1, 4, 6, 12]);
        let around = &change.hunks()[1];
        assert_eq!(
            (&around.above[..], &around.below[..]),
            (
                &["1\n", "2\n", "3\n"].map(str::to_owned)[..],
                &["5\n".to_owned()][..]
            )
        );
        let check = |hunks: &[usize], expected: &str| {
            let hunks = hunks.iter().copied().collect();
            assert_eq!(change.text_after(BEFORE, &hunks).as_deref(), Some(expected));
        };
        check(&[], BEFORE);
        check(&[0, 1, 2, 3], AFTER);
        check(&[0], &format!("0\n{BEFORE}"));
        check(&[1], "1\n2\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12");
        check(&[2, 3], "1\n2\n3\n4\n5\n7\n8\n9\n10\n11\ntwelve\n");
    }

    /// A text of few different lines, so that many are alike, without or with a last line end.
    /// Git has its own rules for carriage returns.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof!["[abc]", ""];
        (proptest::collection::vec(line, 0..40), any::<bool>()).prop_map(|(lines, ends)| {
            let text = lines.join("\n");
            if ends && !text.is_empty() {
                text + "\n"
            } else {
                text
            }
        })
    }

    /// Returns the file after `git apply` of these hunks, in sections with all their context, as
    /// `git add -p` makes them.
    fn applied_by_git(before: &str, all: &[Hunk], chosen: &BTreeSet<usize>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, before).unwrap();
        let mut patch = "--- a/x\n+++ b/x\n".to_owned();
        let mut shift = 0;
        for section in all.chunk_by(|one, other| one.section == other.section) {
            let first = all.iter().position(|hunk| hunk == &section[0]).unwrap();
            let mut lines: Vec<(char, &str)> = Vec::new();
            for (at, hunk) in section.iter().enumerate() {
                let above = hunk.above.iter().filter(|_| at == 0);
                lines.extend(above.map(|line| (' ', &**line)));
                let is_chosen = chosen.contains(&(first + at));
                let sign = if is_chosen { '-' } else { ' ' };
                lines.extend(hunk.removed.iter().map(|line| (sign, &**line)));
                let added = hunk.added.iter().filter(|_| is_chosen);
                lines.extend(added.map(|line| ('+', &**line)));
                lines.extend(hunk.below.iter().map(|line| (' ', &**line)));
            }
            let count = |other| lines.iter().filter(|(sign, _)| *sign != other).count();
            let (old, new) = (count('+'), count('-'));
            let line = section[0].line - section[0].above.len();
            let line = if old == 0 { line - 1 } else { line };
            let moved = line.saturating_add_signed(shift) + usize::from(old == 0);
            let moved = if new == 0 { moved - 1 } else { moved };
            shift += new as isize - old as isize;
            if !lines.iter().any(|(sign, _)| *sign != ' ') {
                continue;
            }
            patch += &format!("@@ -{line},{old} +{moved},{new} @@\n");
            for (sign, line) in lines {
                patch.push(sign);
                patch += line;
                if !line.ends_with('\n') {
                    patch += "\n\\ No newline at end of file\n";
                }
            }
        }
        std::fs::write(folder.path().join("patch"), &patch).unwrap();
        let mut git = std::process::Command::new("git");
        git.args(["apply", "--whitespace=nowarn", "patch"]);
        git.current_dir(&folder).env("GIT_CEILING_DIRECTORIES", "/");
        assert!(
            chosen.is_empty() || git.status().unwrap().success(),
            "{patch}"
        );
        std::fs::read_to_string(file).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn some_hunks_are_what_git_applies(before in text(), after in text(), mask in any::<u64>()) {
            let diff = similar::TextDiff::from_lines(&before, &after);
            let diff = diff.unified_diff().header("a/x", "b/x").to_string();
            let change = change(&diff, &after);
            let all = change.hunks();
            let chosen: BTreeSet<usize> = (0..all.len()).filter(|at| mask >> at & 1 == 1).collect();
            // Without a diff there is nothing to split.
            if before != after {
                let found = change.text_after(&before, &chosen);
                prop_assert_eq!(found, Some(applied_by_git(&before, &all, &chosen)));
            }
        }
    }

    #[test]
    fn a_diff_that_does_not_lead_to_what_was_reviewed_is_not_split() {
        let change = change(DIFF, AFTER);
        let all = BTreeSet::from([0]);
        assert_eq!(change.text_after("1\n2\n3\n", &all), None);
        assert_eq!(change.text_after(&BEFORE.replace('4', "IV"), &all), None);
        assert_eq!(self::change(DIFF, "else").text_after(BEFORE, &all), None);
        assert_eq!(self::change("--- a/x\n+++ b/x\n", AFTER).hunks(), []);
        // A line end that a diff doesn't know as one.
        let odd = self::change("--- a\n+++ b\n@@ -1,2 +1,2 @@\n-a\r-b\n+A\r b\n", "A\rb\n");
        assert_eq!(odd.text_after("a\rb\n", &all), None);
    }
}
