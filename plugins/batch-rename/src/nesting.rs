//! Renames within directories that are renamed by the same plan.
//!
//! A plan contains the paths before the renames, so the deepest ones come first: when a directory
//! is renamed, everything below it is done.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::plan::Rename;
use crate::workspace::{join, split};

/// Groups the renames into levels, which are carried out one after the other. If no rename is below
/// another, there is one level.
pub(crate) fn levels(renames: &[Rename]) -> Vec<Vec<usize>> {
    let moving = moving(renames);
    let is_below = |rename: &Rename| parents(&rename.from).any(|it| moving.contains_key(it));
    if !renames.iter().any(is_below) {
        return vec![(0..renames.len()).collect()];
    }
    let mut levels = BTreeMap::<_, Vec<usize>>::new();
    for (index, rename) in renames.iter().enumerate() {
        let depth = parents(&rename.from).count();
        levels.entry(Reverse(depth)).or_default().push(index);
    }
    levels.into_values().collect()
}

/// Returns the renames with their final paths: if a directory above a path is renamed too, `to` has
/// its new name.
pub(crate) fn arrived(renames: &[Rename]) -> Vec<Rename> {
    let moving = moving(renames);
    let arrived = |Rename { from, .. }: &Rename| {
        let mut new = String::new();
        for parent in parents(from).chain([from.as_str()]) {
            let named = match moving.get(parent) {
                Some(to) => to,
                None => parent,
            };
            new = join(&new, split(named).1);
        }
        Rename {
            from: from.clone(),
            to: new,
        }
    };
    renames.iter().map(arrived).collect()
}

fn moving(renames: &[Rename]) -> HashMap<&str, &str> {
    let pairs = renames.iter().map(|it| (it.from.as_str(), it.to.as_str()));
    pairs.collect()
}

/// Returns the directories that a path is in, the outermost first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::plan::tests::renames;

    /// Paths of files, for property tests.
    pub(crate) const TREE: &str = "[ab]/[ab]/[abc]|[cd]/[abc]|[ef]";

    /// Renames of every entry of a tree to the name of a sibling, or to a new name.
    pub(crate) fn renames_of_all(files: &[&str], shift: usize, to_new: bool) -> Vec<Rename> {
        let mut folders = BTreeMap::<&str, BTreeSet<&str>>::new();
        for file in files {
            let mut path = *file;
            while !path.is_empty() {
                let (folder, name) = split(path);
                folders.entry(folder).or_default().insert(name);
                path = folder;
            }
        }
        let mut all = Vec::new();
        for (folder, names) in &folders {
            let names: Vec<_> = names.iter().collect();
            for (index, name) in names.iter().enumerate() {
                let new = match to_new {
                    true => format!("{name}+"),
                    false => names[(index + shift) % names.len()].to_string(),
                };
                if new != ***name {
                    let (from, to) = (join(folder, name), join(folder, &new));
                    all.push(Rename { from, to });
                }
            }
        }
        all
    }

    #[test]
    fn what_is_below_a_rename_comes_before_it() {
        let check = |text, expected: &[&[usize]]| assert_eq!(levels(&renames(text)), expected);
        check("", &[&[]]);
        check("a>b c/d>c/e", &[&[0, 1]]);
        check("a>b a/x>a/y", &[&[1], &[0]]);
        check("a>b ab/x>ab/y", &[&[0, 1]]);
        check("a>b c/d/e>c/d/f a/x/y>a/x/z q>r", &[&[1, 2], &[0, 3]]);
    }

    #[test]
    fn a_path_arrives_below_the_new_names() {
        let check = |text, expected: &str| {
            let arrived: Vec<_> = arrived(&renames(text))
                .into_iter()
                .map(|Rename { from, to }| format!("{from}>{to}"))
                .collect();
            assert_eq!(arrived.join(" "), expected);
        };
        check("a/b>a/c", "a/b>a/c");
        check("a>b a/x>a/y", "a>b a/x>b/y");
        check("a>b b>a a/b>a/x b/x>b/y", "a>b b>a a/b>b/x b/x>a/y");
        check("a>b a/c/d>a/c/e", "a>b a/c/d>b/c/e");
    }
}
