//! The directories whose names a plan changes, by their paths after all steps are done or undone: a
//! directory can move after something left it. Also the order in which they must reach the disk.

use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Included};

use super::step::{Name, Step};
use crate::path::parent_and_name;

/// The direction of steps: done or undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// Returns the paths of these directories below the workspace, once all steps are done or undone.
pub(super) fn touched(steps: &[Step], direction: Direction) -> BTreeSet<String> {
    match direction {
        Direction::Forward => of(steps.iter().map(|step| (step, &step.from, &step.to))),
        Direction::Backward => of(steps.iter().rev().map(|step| (step, &step.to, &step.from))),
    }
}

fn of<'a>(renames: impl Iterator<Item = (&'a Step, &'a Name, &'a Name)>) -> BTreeSet<String> {
    let mut touched = BTreeSet::new();
    for (step, from, to) in renames {
        touched.extend(parents(from, to));
        if !is_directory(step) {
            continue;
        }
        for name in at_or_below(&touched, from) {
            let rest = &text(&name)[text(from).len()..];
            let now = format!("{}{rest}", text(to));
            touched.remove(&name);
            touched.insert(match to {
                Name::Path(_) => Name::Path(now),
                Name::Slot(_) => Name::Slot(now),
            });
        }
    }
    // The rest is in slots, and is removed with them.
    paths(touched)
}

/// Directories with changed names that may not be on the disk yet.
///
/// Recovery takes a step as done if its object is no longer at its old path. So on the disk,
/// objects must leave a directory before the directory moves. When steps are undone, a directory
/// must be back before anything returns to it.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    touched: BTreeSet<Name>,
    /// Directories, by the names that they have now and had before.
    moved: BTreeSet<Name>,
}

impl Unsynced {
    /// Returns the directories to sync before a step is done or undone.
    pub fn before(&mut self, step: &Step, direction: Direction) -> Option<BTreeSet<String>> {
        let (from, to) = (&step.from, &step.to);
        let moved = match direction {
            Direction::Forward => from,
            Direction::Backward => to,
        };
        let leaves = is_directory(step) && !at_or_below(&self.touched, moved).is_empty();
        let comes = direction == Direction::Backward
            && parents(from, to).any(|parent| self.is_moved(&parent));
        if !leaves && !comes {
            return None;
        }
        self.moved.clear();
        Some(paths(std::mem::take(&mut self.touched)))
    }

    pub fn note(&mut self, step: &Step) {
        let (from, to) = (&step.from, &step.to);
        self.touched.extend(parents(from, to));
        if is_directory(step) {
            self.moved.extend([from.clone(), to.clone()]);
        }
    }

    /// Returns whether a directory has moved, or lies in one that has.
    fn is_moved(&self, directory: &Name) -> bool {
        let Name::Path(path) = directory else {
            return false;
        };
        let mut above = Some(&**path).filter(|path| !path.is_empty());
        while let Some(path) = above {
            if self.moved.contains(&Name::Path(path.to_owned())) {
                return true;
            }
            above = Some(parent_and_name(path).0).filter(|path| !path.is_empty());
        }
        false
    }
}

/// Returns whether the object is a directory. Returns true for objects that the commit has made,
/// too.
fn is_directory(step: &Step) -> bool {
    step.object.contents.is_none()
}

fn parents(from: &Name, to: &Name) -> impl Iterator<Item = Name> {
    let parent = |name: &Name| match name {
        Name::Path(path) => Some(Name::Path(parent_and_name(path).0.to_owned())),
        Name::Slot(_) => None,
    };
    [parent(from), parent(to)].into_iter().flatten()
}

fn paths(names: BTreeSet<Name>) -> BTreeSet<String> {
    let paths = names.into_iter().filter_map(|name| match name {
        Name::Path(path) => Some(path),
        Name::Slot(_) => None,
    });
    paths.collect()
}

fn text(name: &Name) -> &str {
    match name {
        Name::Path(text) | Name::Slot(text) => text,
    }
}

fn at_or_below(names: &BTreeSet<Name>, name: &Name) -> Vec<Name> {
    let with = |end: &str| match name {
        Name::Path(path) => Name::Path(format!("{path}{end}")),
        Name::Slot(slot) => Name::Slot(format!("{slot}{end}")),
    };
    // `0` comes after `/`.
    let below = names.range((Included(with("/")), Excluded(with("0"))));
    names.get(name).into_iter().chain(below).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::step::Object;

    fn step(from: &str, to: &str) -> Step {
        let name = |text: &str| match text.strip_prefix('#') {
            Some(slot) => Name::Slot(slot.to_owned()),
            None => Name::Path(text.to_owned()),
        };
        Step {
            from: name(from),
            to: name(to),
            object: Object {
                inode: 1,
                contents: None,
            },
            displaced: None,
            empty: false,
            made: None,
        }
    }

    #[test]
    fn a_directory_that_moves_after_something_left_it_is_found_where_it_is_then() {
        let check = |renames: &[(&str, &str)], done: &[&str], undone: &[&str]| {
            let steps: Vec<_> = renames.iter().map(|(from, to)| step(from, to)).collect();
            for (direction, expected) in [(Direction::Forward, done), (Direction::Backward, undone)]
            {
                let found = touched(&steps, direction);
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{direction:?}");
            }
        };
        check(&[("d/e/a", "#p1"), ("d", "c")], &["", "c/e"], &["", "d/e"]);
        check(
            &[("d/e/a", "#p1"), ("d/e0", "c")],
            &["", "d", "d/e"],
            &["", "d", "d/e"],
        );
        check(
            &[("a/b/x", "a/y"), ("a", "#p1"), ("#n1", "a"), ("#p1", "a/a")],
            &["", "a", "a/a", "a/a/b"],
            &["", "a", "a/b"],
        );
        check(&[("a/x", "#p1"), ("a", "#p2")], &[""], &["", "a"]);
    }
}
