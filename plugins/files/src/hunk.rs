//! A hunk of a patch: where it belongs in a file, and what it changes there.

use similar::DiffOp;

use crate::closest;
use crate::diff;
use crate::text::Change;
use crate::tolerance::{Tolerance, carry, indent, reindent};

/// Lines that belong together: some stay, and others are replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Lines before the hunk, of which each comes after the one before it.
    pub(crate) headers: Vec<String>,
    /// The number of its first line, from 1, if the patch has it.
    pub(crate) line: Option<usize>,
    pub(crate) lines: Vec<Line>,
    /// The hunk reaches to the end of the file.
    pub(crate) at_end: bool,
    /// True if the last line of the new file ends in a newline, if the patch tells that.
    pub(crate) final_newline: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Keep(String),
    Remove(String),
    Add(String),
}

/// The place of a hunk in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The index of the first line.
    pub(crate) at: usize,
    pub(crate) tolerance: Tolerance,
}

/// The lines of a file, without the newlines between them.
pub(crate) struct Lines<'a> {
    body: &'a str,
    pub(crate) lines: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(body: &'a str) -> Self {
        let lines = match body.strip_suffix('\n').unwrap_or(body) {
            "" if body.is_empty() => Vec::new(),
            text => text.split('\n').collect(),
        };
        Self { body, lines }
    }

    /// Returns the offset of a line, or the end of the text.
    fn start(&self, line: usize) -> usize {
        let before: usize = self.lines[..line].iter().map(|it| it.len() + 1).sum();
        before.min(self.body.len())
    }

    /// Returns the change that replaces lines with others.
    fn change(&self, at: usize, removed: usize, added: &[String]) -> Change {
        let (mut start, mut end) = (self.start(at), self.start(at + removed));
        let mut new = added.join("\n");
        let reaches_end = at + removed == self.lines.len() && !self.body.ends_with('\n');
        if added.is_empty() {
            if reaches_end && start > 0 {
                start -= 1;
            }
        } else if !reaches_end || self.body.is_empty() {
            new.push('\n');
        } else if removed == 0 {
            new.insert(0, '\n');
        }
        end = end.max(start);
        Change {
            range: start..end,
            new,
        }
    }
}

impl Hunk {
    /// Returns the hunk that replaces an old text with a new one.
    pub(crate) fn between(old: &str, new: &str) -> Self {
        let (old, new) = (Lines::of(old).lines, Lines::of(new).lines);
        let mut lines = Vec::new();
        for op in diff::ops(&old, &new) {
            let removed = old[op.old_range()].iter().map(|it| (*it).to_owned());
            if matches!(op, DiffOp::Equal { .. }) {
                lines.extend(removed.map(Line::Keep));
            } else {
                lines.extend(removed.map(Line::Remove));
                lines.extend(
                    new[op.new_range()]
                        .iter()
                        .map(|it| Line::Add((*it).to_owned())),
                );
            }
        }
        Self {
            lines,
            ..Self::default()
        }
    }

    /// Returns the lines that the file must have.
    fn old(&self) -> Vec<&str> {
        let old = |line| match line {
            &Line::Keep(ref text) | &Line::Remove(ref text) => Some(text.as_str()),
            Line::Add(_) => None,
        };
        self.lines.iter().filter_map(old).collect()
    }

    /// Returns all places where the hunk fits, with the least tolerance with which there are any.
    pub(crate) fn places(&self, lines: &[&str]) -> Vec<Place> {
        let old = self.old();
        if old.iter().all(|line| line.trim().is_empty()) {
            return Vec::new();
        }
        for tolerance in Tolerance::ALL {
            let found = places(lines, &old, tolerance);
            if !found.is_empty() {
                return found
                    .into_iter()
                    .map(|at| Place { at, tolerance })
                    .collect();
            }
        }
        Vec::new()
    }

    /// Returns the place of the hunk, after the hunk before it, which ends before line `from` and
    /// was found `drift` lines after the place that its patch gave.
    ///
    /// # Errors
    /// Returns the reason if there is no such place, or more than one.
    pub(crate) fn place(&self, lines: &[&str], from: usize, drift: isize) -> Result<Place, String> {
        let old = self.old();
        let header = self.header(lines, from)?;
        let exact = |at| {
            Ok(Place {
                at,
                tolerance: Tolerance::None,
            })
        };
        if old.is_empty() {
            return exact(match (header, self.line) {
                (Some(header), _) => header + 1,
                (None, Some(line)) if !self.at_end => {
                    line.saturating_add_signed(drift).min(lines.len())
                }
                _ => lines.len(),
            });
        }
        let mut several = Vec::new();
        for tolerance in Tolerance::ALL {
            let found = places(lines, &old, tolerance);
            let place = |at: usize| Ok(Place { at, tolerance });
            let end = lines.len().wrapping_sub(old.len());
            if self.at_end && found.contains(&end) {
                return place(end);
            }
            if let Some(header) = header {
                match found.iter().find(|at| **at >= header) {
                    Some(at) => return place(*at),
                    None => continue,
                }
            }
            let expected = self
                .line
                .map(|line| (line - 1).saturating_add_signed(drift));
            if let Some(at) = expected.filter(|at| found.contains(at)) {
                return place(at);
            }
            let after: Vec<usize> = found.iter().copied().filter(|at| *at >= from).collect();
            match (after.as_slice(), found.as_slice()) {
                ([at], _) | ([], [at]) => return place(*at),
                ([], []) => {}
                _ => {
                    several = found;
                    break;
                }
            }
        }
        Err(match several.as_slice() {
            [] => format!(
                "its lines aren't in the file. {}",
                closest::advice(lines, &old)
            ),
            places => format!(
                "its lines occur {} times, at lines {}; add lines around the change, or a line `@@ …` with the function or class that it is in",
                places.len(),
                numbers(places)
            ),
        })
    }

    /// Returns the index of the last header's line.
    fn header(&self, lines: &[&str], from: usize) -> Result<Option<usize>, String> {
        let mut last = None;
        for header in &self.headers {
            let is_it = |line: &str| {
                let (line, header) = (line.trim(), header.trim());
                line == header || line.starts_with(header)
            };
            let start = last.map_or(from, |last| last + 1);
            let find = |start: usize| (start..lines.len()).find(|at| is_it(lines[*at]));
            let found = find(start).or_else(|| find(last.map_or(0, |last| last + 1)));
            let missing = || format!("the line of `@@ {header}` isn't in the file");
            last = Some(found.ok_or_else(missing)?);
        }
        Ok(last)
    }

    /// Returns the number of lines that the hunk takes in the old file.
    pub(crate) fn old_len(&self) -> usize {
        self.old().len()
    }

    /// Returns the changes that the hunk makes at its place.
    pub(crate) fn changes(&self, lines: &Lines<'_>, place: Place) -> Vec<Change> {
        let pairs = self.indents(&lines.lines, place);
        let mut changes = Vec::new();
        let mut at = place.at;
        let mut rest = self.lines.iter().peekable();
        while let Some(line) = rest.peek() {
            if matches!(line, Line::Keep(_)) {
                rest.next();
                at += 1;
                continue;
            }
            let (mut removed, mut added) = (Vec::new(), Vec::new());
            while let Some(line) = rest.next_if(|line| !matches!(line, Line::Keep(_))) {
                match line {
                    Line::Add(text) => added.push(text.as_str()),
                    Line::Keep(text) | Line::Remove(text) => removed.push(text.as_str()),
                }
            }
            let there = &lines.lines[at..at + removed.len()];
            let new = replacement(there, &removed, &added, place.tolerance, &pairs);
            changes.push(lines.change(at, removed.len(), &new));
            at += removed.len();
        }
        changes
    }

    /// Returns the indentations that the hunk has, each with the one that the file has.
    fn indents<'a>(&'a self, lines: &[&'a str], place: Place) -> Vec<(&'a str, &'a str)> {
        let old = self.old();
        let there = lines.iter().skip(place.at);
        let pairs = old
            .iter()
            .zip(there)
            .filter(|(old, _)| !old.trim().is_empty());
        pairs
            .map(|(old, there)| (indent(old), indent(there)))
            .collect()
    }
}

/// Returns the new lines as they fit the file.
fn replacement(
    there: &[&str],
    removed: &[&str],
    added: &[&str],
    tolerance: Tolerance,
    pairs: &[(&str, &str)],
) -> Vec<String> {
    if tolerance < Tolerance::Characters {
        return added.iter().map(|it| (*it).to_owned()).collect();
    }
    let fitted = |(index, line): (usize, &&str)| {
        let line = match (there.get(index), removed.get(index)) {
            (Some(there), Some(old)) if removed.len() == added.len() => {
                let new = carry(there.trim(), old.trim(), line.trim_start());
                format!("{}{new}", indent(line))
            }
            _ => (*line).to_owned(),
        };
        match tolerance {
            Tolerance::Indentation => reindent(&line, pairs),
            _ => line,
        }
    };
    added.iter().enumerate().map(fitted).collect()
}

/// Returns the indexes at which the expected lines are.
fn places(lines: &[&str], expected: &[&str], tolerance: Tolerance) -> Vec<usize> {
    if expected.is_empty() {
        return Vec::new();
    }
    let fits = |window: &[&str]| {
        window
            .iter()
            .zip(expected)
            .all(|(a, b)| tolerance.same(a, b))
    };
    let windows = lines.windows(expected.len()).enumerate();
    windows
        .filter(|(_, window)| fits(window))
        .map(|(at, _)| at)
        .collect()
}

/// Lists the numbers of lines for a message.
pub(crate) fn numbers(indexes: &[usize]) -> String {
    let shown: Vec<_> = indexes
        .iter()
        .take(5)
        .map(|at| (at + 1).to_string())
        .collect();
    let more = indexes.len() - shown.len();
    match more {
        0 => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}
