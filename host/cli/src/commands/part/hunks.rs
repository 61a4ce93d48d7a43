//! The hunks of a file, as they are shown, chosen, split and put together.

use std::collections::BTreeSet;

use airlock_host::effects::{Choice, Hunk, Replacement, replaced};

/// Hunks that are shown and chosen together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The indices of its hunks, which are in one section of the diff.
    pub hunks: std::ops::Range<usize>,
}

/// The choice for a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    Taken,
    Left,
    /// These lines in place of those that the group shows of the file before the change.
    Edited(Vec<String>),
}

/// Returns the sections of the diff as groups.
pub fn sections(hunks: &[Hunk]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, hunk) in hunks.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if hunks[group.hunks.start].section == hunk.section => {
                group.hunks.end = at + 1;
            }
            _ => groups.push(Group { hunks: at..at + 1 }),
        }
    }
    groups
}

impl Group {
    /// Returns a group for each hunk.
    pub fn split(&self) -> Vec<Group> {
        let each = self.hunks.clone();
        each.map(|at| Group { hunks: at..at + 1 }).collect()
    }

    /// Returns the number of the first line that it shows of the file before the change, from 1.
    fn first_line(&self, all: &[Hunk]) -> usize {
        let hunk = &all[self.hunks.start];
        hunk.line - hunk.above.len()
    }

    /// Returns its lines, each with its sign.
    pub fn lines<'a>(&self, all: &'a [Hunk]) -> Vec<(char, &'a str)> {
        let mut lines = Vec::new();
        let mut add = |sign, texts: &'a [String]| {
            lines.extend(texts.iter().map(|text| (sign, &**text)));
        };
        for (at, hunk) in all.iter().enumerate() {
            if !self.hunks.contains(&at) {
                continue;
            }
            if at == self.hunks.start {
                add(' ', &hunk.above);
            }
            add('-', &hunk.removed);
            add('+', &hunk.added);
            add(' ', &hunk.below);
        }
        lines
    }

    /// Returns the lines that it shows of the file before the change.
    pub fn before(&self, all: &[Hunk]) -> Vec<String> {
        let lines = self.lines(all).into_iter();
        let lines = lines.filter(|(sign, _)| *sign != '+');
        lines.map(|(_, line)| line.to_owned()).collect()
    }

    /// Returns it in the format of a unified diff, without the names of the files.
    pub fn text(&self, all: &[Hunk]) -> String {
        let lines = self.lines(all);
        let count = |other| lines.iter().filter(|(sign, _)| *sign != other).count();
        let old = self.first_line(all);
        let before = all[..self.hunks.start].iter();
        let shift = before.fold(0, |shift: isize, hunk| {
            shift + hunk.added.len() as isize - hunk.removed.len() as isize
        });
        let new = old.saturating_add_signed(shift);
        let mut text = format!("@@ -{old},{} +{new},{} @@\n", count('+'), count('-'));
        for (sign, line) in lines {
            text.push(sign);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
        text
    }
}

/// Returns the choice for the file. `None` if it is applied whole. `before` is the file before the
/// change, which edited hunks need.
pub fn choice(all: &[Hunk], chosen: &[(Group, Chosen)], before: Option<&str>) -> Option<Choice> {
    let is_edited = chosen.iter().any(|(_, it)| matches!(it, Chosen::Edited(_)));
    if let (true, Some(before)) = (is_edited, before) {
        let text = text(all, chosen, before);
        return Some(text.map_or(Choice::LeaveOut, Choice::Text));
    }
    let taken = chosen.iter().filter(|(_, it)| *it == Chosen::Taken);
    let taken: BTreeSet<usize> = taken.flat_map(|(group, _)| group.hunks.clone()).collect();
    match taken.len() {
        0 => Some(Choice::LeaveOut),
        some if some == all.len() => None,
        _ => Some(Choice::Hunks(taken)),
    }
}

/// Returns the contents of the file after the choices; `None` if `before` is another version of it.
fn text(all: &[Hunk], chosen: &[(Group, Chosen)], before: &str) -> Option<String> {
    let shown: Vec<Vec<String>> = chosen.iter().map(|(group, _)| group.before(all)).collect();
    let replacements =
        chosen
            .iter()
            .zip(&shown)
            .flat_map(|((group, chosen), shown)| match chosen {
                Chosen::Left => Vec::new(),
                Chosen::Edited(added) => vec![Replacement {
                    line: group.first_line(all),
                    removed: shown,
                    added,
                }],
                Chosen::Taken => {
                    let hunks = all[group.hunks.clone()].iter();
                    hunks.map(Hunk::replacement).collect()
                }
            });
    replaced(before, replacements)
}

#[cfg(test)]
mod tests {
    use airlock_host::effects::{Change, ChangeKind};

    use super::*;

    const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1,5 +1,6 @@\n 1\n-2\n+two\n+and\n 3\n-4\n+four\n 5\n@@ -9,2 +10,1 @@\n 9\n-10\n";

    fn all() -> Vec<Hunk> {
        let mut change = Change::new(ChangeKind::Modified, "x");
        change.diff = Some(DIFF.to_owned());
        change.hunks()
    }

    #[test]
    fn a_section_is_shown_as_one_until_it_is_split() {
        let all = all();
        let groups = sections(&all);
        assert_eq!(groups.len(), 2);
        let shown: Vec<_> = groups.iter().map(|group| group.text(&all)).collect();
        assert_eq!(format!("--- a/x\n+++ b/x\n{}", shown.concat()), DIFF);
        let split: Vec<_> = groups[0].split().iter().map(|it| it.text(&all)).collect();
        assert_eq!(split[0], "@@ -1,3 +1,4 @@\n 1\n-2\n+two\n+and\n 3\n");
        assert!(split[1].contains("-4\n+four\n 5\n"), "{}", split[1]);
    }

    #[test]
    fn choices_become_the_contents_of_the_file() {
        let all = all();
        let [first, last] = sections(&all).try_into().unwrap();
        let check = |chosen: &[(Group, Chosen)], expected: Option<Choice>| {
            assert_eq!(choice(&all, chosen, Some(BEFORE)), expected);
        };
        let both = |one: Chosen, other: Chosen| [(first.clone(), one), (last.clone(), other)];
        check(&both(Chosen::Taken, Chosen::Taken), None);
        check(&both(Chosen::Left, Chosen::Left), Some(Choice::LeaveOut));
        check(
            &both(Chosen::Left, Chosen::Taken),
            Some(Choice::Hunks([2].into())),
        );
        let edited = Chosen::Edited(["1\n", "II\n", "3\n", "5\n"].map(str::to_owned).into());
        let expected = "1\nII\n3\n5\n6\n7\n8\n9\n";
        check(
            &both(edited.clone(), Chosen::Taken),
            Some(Choice::Text(expected.to_owned())),
        );
        let expected = "1\nII\n3\n5\n6\n7\n8\n9\n10\n";
        check(
            &both(edited, Chosen::Left),
            Some(Choice::Text(expected.to_owned())),
        );
    }
}
