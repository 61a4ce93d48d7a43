//! The choice of a part of an action's reviewed effects.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Change, ChangeKind, Effects};

/// A part of the reviewed effects of an action. A decision to apply with a selection
/// [names](crate::pending::Resolution::review) the review, too: the selection refers to its
/// [changes](Effects::changes) by their indices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection(BTreeMap<usize, Choice>);

/// The choice of what to apply of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// Nothing.
    LeaveOut,
    /// Some of the [hunks](Change::hunks) of the file, by their indices.
    Hunks(BTreeSet<usize>),
    /// Other contents of the file, which a person wrote.
    Text(String),
}

impl Selection {
    /// Creates a selection of all changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the choice for the change with this index.
    pub fn choose(&mut self, change: usize, choice: Choice) {
        self.0.insert(change, choice);
    }

    /// Leaves out these changes.
    pub fn leave_out(&mut self, changes: impl IntoIterator<Item = usize>) {
        let choices = changes.into_iter().map(|at| (at, Choice::LeaveOut));
        self.0.extend(choices);
    }

    /// Returns the choice for a change. Without one, it is applied whole.
    pub fn choice(&self, change: usize) -> Option<&Choice> {
        self.0.get(&change)
    }

    /// Returns all choices, by the index of the change.
    pub fn choices(&self) -> impl Iterator<Item = (usize, &Choice)> {
        self.0.iter().map(|(at, choice)| (*at, choice))
    }

    /// Returns the indices of the changes that are left out.
    pub fn left_out(&self) -> impl Iterator<Item = usize> {
        let left = self.0.iter();
        left.filter_map(|(at, choice)| (*choice == Choice::LeaveOut).then_some(*at))
    }

    /// Returns whether all changes are applied whole.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether no change of these effects is applied.
    pub fn is_nothing(&self, effects: &Effects) -> bool {
        self.left_out().count() >= effects.changes.len()
    }

    /// Returns the effects without the changes that are left out.
    #[must_use]
    pub fn of(&self, effects: &Effects) -> Effects {
        let kept = effects.changes.iter().enumerate();
        let kept = kept.filter(|(at, _)| self.choice(*at) != Some(&Choice::LeaveOut));
        Effects {
            changes: kept.map(|(_, change)| change.clone()).collect(),
            ..effects.clone()
        }
    }
}

/// The reviewed changes that an apply left out, and those that a person edited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AppliedPart {
    /// The changes that were not made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The files with only some of their hunks applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partly: Vec<PartlyApplied>,
    /// The files that got contents that a person wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<EditedFile>,
}

/// A change that was not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// The kind of change.
    pub kind: ChangeKind,
    /// The path below the workspace.
    pub path: String,
    /// The previous path, if the file was to be moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A file with only some of its hunks applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PartlyApplied {
    /// The path below the workspace.
    pub path: String,
    /// The number of hunks.
    pub hunks: usize,
    /// The numbers of the hunks that were left out, from 1.
    pub left_out: Vec<usize>,
    /// The lines before the change at which these begin, from 1.
    pub lines: Vec<usize>,
}

/// A file that got contents that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EditedFile {
    /// The path below the workspace.
    pub path: String,
    /// A unified diff from the reviewed contents to those that were written.
    pub diff: String,
}

impl AppliedPart {
    /// Lists the changes that a selection leaves out of these effects. Edited files have no diff
    /// yet.
    pub fn of(selection: &Selection, effects: &Effects) -> Self {
        let mut part = Self::default();
        for (at, choice) in selection.choices() {
            let Some(change) = effects.changes.get(at) else {
                continue;
            };
            match choice {
                Choice::LeaveOut => part.left_out.push(LeftOut {
                    kind: change.kind,
                    path: change.path.clone(),
                    from: change.from.clone(),
                }),
                Choice::Hunks(taken) => part.partly.push(PartlyApplied::of(change, taken)),
                Choice::Text(_) => part.edited.push(EditedFile {
                    path: change.path.clone(),
                    diff: String::new(),
                }),
            }
        }
        part
    }

    /// Returns one line for each file, for a model or a person.
    pub fn lines(&self) -> Vec<String> {
        let left_out = self.left_out.iter().map(|it| {
            let mut change = Change::new(it.kind, &*it.path);
            change.from.clone_from(&it.from);
            format!("not {change}")
        });
        let partly = self.partly.iter().map(|it| {
            let numbers = |numbers: &[usize]| {
                let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
                numbers.join(", ")
            };
            let (hunks, at) = match it.left_out.len() {
                1 => ("hunk", "line"),
                _ => ("hunks", "lines"),
            };
            format!(
                "{} without {hunks} {} of {} (at {at} {} of the file before the change)",
                super::plain_path(&it.path),
                numbers(&it.left_out),
                it.hunks,
                numbers(&it.lines),
            )
        });
        let edited = self.edited.iter();
        let edited = edited.map(|it| format!("{} as edited", super::plain_path(&it.path)));
        left_out.chain(partly).chain(edited).collect()
    }
}

impl PartlyApplied {
    fn of(change: &Change, taken: &BTreeSet<usize>) -> Self {
        let hunks = change.hunks();
        let left = (0..hunks.len()).filter(|at| !taken.contains(at));
        let (left_out, lines) = left.map(|at| (at + 1, hunks[at].line)).unzip();
        Self {
            path: change.path.clone(),
            hunks: hunks.len(),
            left_out,
            lines,
        }
    }
}
