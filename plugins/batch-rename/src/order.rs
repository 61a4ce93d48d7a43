//! The order in which no rename finds its new name in use.

use std::collections::HashMap;

use crate::nesting;
use crate::plan::Rename;
use crate::workspace::{join, split};

/// A call of `rename`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The index of the plan's rename that the step belongs to.
    pub(crate) rename: usize,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// A temporary name of a file, so that the others of its cycle can move.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Temporary {
    /// The index of the plan's rename that the name belongs to.
    pub(crate) rename: usize,
    pub(crate) path: String,
}

/// The steps of a plan.
#[derive(Debug, Default)]
pub(crate) struct Order {
    pub(crate) steps: Vec<Step>,
    /// The temporary names, one for each cycle.
    pub(crate) temporaries: Vec<Temporary>,
    /// The renames that are part of a cycle. All their paths exist before as well as after.
    pub(crate) cyclic: Vec<usize>,
}

impl Order {
    /// Orders renames. No two of them share a `from`, or a `to`. Temporary names are derived from
    /// `action_id`, so that a later attempt at the same action finds those of an earlier one.
    pub(crate) fn of(renames: &[Rename], action_id: &str) -> Self {
        let index = |path: fn(&Rename) -> &str| -> HashMap<&str, usize> {
            renames
                .iter()
                .enumerate()
                .map(|(index, rename)| (path(rename), index))
                .collect()
        };
        let leaving = index(|rename| &rename.from);
        let arriving = index(|rename| &rename.to);
        // Returns the rename that waits for this one to free its name.
        let waiting = |rename: usize| arriving.get(renames[rename].from.as_str()).copied();

        let mut order = Self::default();
        let mut is_ordered = vec![false; renames.len()];
        for level in nesting::levels(renames) {
            // Chains start from the end whose target is free.
            let is_end = |index: &&usize| !leaving.contains_key(renames[**index].to.as_str());
            for end in level.iter().filter(is_end) {
                let mut next = Some(*end);
                while let Some(rename) = next {
                    order.push(rename, &renames[rename].from, &renames[rename].to);
                    is_ordered[rename] = true;
                    next = waiting(rename);
                }
            }
            // The others are cycles, in which every target is in use.
            for first in level {
                if is_ordered[first] {
                    continue;
                }
                let Rename { from, to } = &renames[first];
                let temporary = temporary(from, action_id, order.temporaries.len() + 1);
                order.push(first, from, &temporary);
                let mut next = waiting(first).filter(|next| *next != first);
                is_ordered[first] = true;
                order.cyclic.push(first);
                while let Some(rename) = next {
                    order.push(rename, &renames[rename].from, &renames[rename].to);
                    is_ordered[rename] = true;
                    order.cyclic.push(rename);
                    next = waiting(rename).filter(|next| *next != first);
                }
                order.push(first, &temporary, to);
                order.temporaries.push(Temporary {
                    rename: first,
                    path: temporary,
                });
            }
        }
        order
    }

    fn push(&mut self, rename: usize, from: &str, to: &str) {
        self.steps.push(Step {
            rename,
            from: from.to_owned(),
            to: to.to_owned(),
        });
    }
}

/// Returns a hidden name next to `path`.
fn temporary(path: &str, action_id: &str, number: usize) -> String {
    let id = action_id.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    join(split(path).0, &format!(".batch-rename-{id}-{number}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::plan::tests::renames;

    #[test]
    fn chains_start_at_their_end_and_cycles_take_a_detour() {
        let check = |text, expected: &str| {
            let order = Order::of(&renames(text), "7");
            let steps: Vec<_> = order
                .steps
                .iter()
                .map(|step| format!("{}>{}", step.from, step.to))
                .collect();
            assert_eq!(steps.join(" "), expected);
        };
        check("", "");
        check("a>b c>d", "a>b c>d");
        check("a>b b>c c>d", "c>d b>c a>b");
        check("a>b b>a", "a>.batch-rename-7-1 b>a .batch-rename-7-1>b");
        check(
            "x/a>x/b x/b>x/a",
            "x/a>x/.batch-rename-7-1 x/b>x/a x/.batch-rename-7-1>x/b",
        );
        check(
            "a>b b>c c>a",
            "a>.batch-rename-7-1 c>a b>c .batch-rename-7-1>b",
        );
        check(
            "a>b b>a p>q c>d d>c q>r",
            "q>r p>q a>.batch-rename-7-1 b>a .batch-rename-7-1>b c>.batch-rename-7-2 d>c .batch-rename-7-2>d",
        );
        check(
            "a>b b>a a/x>a/y a/y>a/x b/c>b/d",
            "b/c>b/d a/x>a/.batch-rename-7-1 a/y>a/x a/.batch-rename-7-1>a/y \
             a>.batch-rename-7-2 b>a .batch-rename-7-2>b",
        );
    }

    #[test]
    fn every_file_arrives_and_none_is_overwritten() {
        let check = |renames: Vec<Rename>, cycles| {
            let order = Order::of(&renames, "id");
            assert_eq!(order.temporaries.len(), cycles);
            let mut files: HashMap<String, usize> = renames
                .iter()
                .enumerate()
                .map(|(index, rename)| (rename.from.clone(), index))
                .collect();
            for Step { rename, from, to } in order.steps {
                assert_eq!(files.remove(&from), Some(rename), "{from} is not there");
                assert_eq!(
                    files.insert(to.clone(), rename),
                    None,
                    "{to} is overwritten"
                );
            }
            let expected = renames
                .iter()
                .enumerate()
                .map(|(index, rename)| (rename.to.clone(), index))
                .collect();
            assert_eq!(files, expected);
        };
        let shifted = |files: usize, by: usize, modulus: usize| {
            let rename = |file| Rename {
                from: file_name(file),
                to: file_name((file + by) % modulus),
            };
            (0..files).map(rename).collect::<Vec<_>>()
        };
        fn file_name(number: usize) -> String {
            format!("{number}")
        }
        check(shifted(10_000, 1, usize::MAX), 0);
        check(shifted(10_000, 1, 10_000), 1);
        check(shifted(10_000, 4, 10_000), 4);
        check(shifted(10_000, 5_000, 10_000), 5_000);
        let mut backwards = shifted(1_000, 1, 1_000);
        backwards.reverse();
        backwards.extend(renames("p>q q>r"));
        check(backwards, 1);
    }
}
