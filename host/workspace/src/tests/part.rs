//! A part of the changes of a layer lands as if the others had not been made.

use std::collections::{BTreeMap, BTreeSet};

use super::from_environment;
use super::model::kept;
use super::script::{Op, Random, Subject, Viewed, script, tree};
use super::undo::{Folder, make, put, remove, rename};
use crate::{Change, Needs, Outline};

/// How many random parts are tried; more by `AIRLOCK_PARTS`.
fn rounds() -> u64 {
    from_environment("AIRLOCK_PARTS").unwrap_or(1_500)
}

type Tree = BTreeMap<String, String>;

fn needs(changes: &[Change]) -> Needs {
    Needs::of(&changes.iter().map(Outline::from).collect::<Vec<_>>())
}

/// Returns the folder after these changes alone, worked out from the paths of the changes and the
/// state after all of them.
fn expected(before: &Tree, after: &Tree, taken: &[&Change]) -> Tree {
    let moved: BTreeMap<&str, &str> = taken
        .iter()
        .filter(|change| change.is_moved)
        .map(|change| (change.from.as_deref().unwrap(), &*change.path))
        .collect();
    let removed: BTreeSet<&str> = taken
        .iter()
        .filter(|change| change.after.is_none())
        .map(|change| &*change.path)
        .collect();
    let mut found = Tree::new();
    for (path, what) in before {
        if removed.contains(&**path) {
            continue;
        }
        let cuts = path.match_indices('/').map(|(at, _)| at).rev();
        let place = std::iter::once(path.len())
            .chain(cuts)
            .find_map(|at| Some(format!("{}{}", moved.get(&path[..at])?, &path[at..])));
        found.insert(place.unwrap_or_else(|| path.clone()), what.clone());
    }
    for change in taken {
        // A directory that was only moved has the same state.
        if change.after.is_some() {
            found.insert(change.path.clone(), after[&change.path].clone());
        }
    }
    found
}

/// Compares the changes after the choice with those that were chosen.
fn check(ops: &[Op], leave: impl FnOnce(&[Change]) -> Vec<usize>) -> Option<usize> {
    let folder = Folder::new();
    let before = tree(&folder.path);
    let whole = Folder::new();
    whole.run(ops, &kept("all"));
    let after = tree(&whole.path);
    let workspace = folder.workspace();
    let view = folder.layer(&workspace);
    let mut subject = Viewed::of(&view);
    for op in ops {
        subject.run(op);
    }
    let all = view.changes().unwrap();
    let left = needs(&all).with_dependent(leave(&all));
    if left.is_empty() || left.len() == all.len() {
        return None;
    }
    view.keep_part(&all, &left, &BTreeMap::new()).unwrap();
    let taken: Vec<&Change> = (0..all.len())
        .filter(|at| !left.contains(at))
        .map(|at| &all[at])
        .collect();
    let found = view.changes().unwrap();
    assert_eq!(
        found.iter().collect::<Vec<_>>(),
        taken,
        "left out: {left:?} of {all:#?}"
    );
    view.commit(&workspace, &kept("part")).unwrap();
    let expected = expected(&before, &after, &taken);
    assert_eq!(
        tree(&folder.path),
        expected,
        "left out: {left:?} of {all:#?}"
    );
    folder.undo("part", &kept("undo")).unwrap();
    assert_eq!(tree(&folder.path), before);
    Some(left.len())
}

#[test]
fn any_part_lands_as_if_the_rest_had_not_been_made_and_can_be_undone() {
    let mut parts = 0;
    for seed in 1..=rounds() {
        let random = &mut Random::new(seed ^ 0x5eed);
        let choose = |all: &[Change]| (0..all.len()).filter(|_| random.below(3) == 0).collect();
        parts += u64::from(check(&script(seed, 40), choose).is_some());
    }
    assert!(parts > rounds() / 3, "{parts}");
}

#[test]
fn what_a_change_needs_is_taken_with_it_and_what_needs_a_dropped_one_goes_too() {
    /// The paths to leave out, and the paths that are then left out.
    type Case<'a> = (&'a str, Vec<Op>, &'a [&'a str], &'a [&'a str]);
    let cases: Vec<Case<'_>> = vec![
        (
            "a new file needs its new directory",
            vec![
                make("n"),
                put("n/x", b"1"),
                put("n/y", b"2"),
                put("a", b"3"),
            ],
            &["n"],
            &["n", "n/x", "n/y"],
        ),
        (
            "a new directory needs no file in it",
            vec![make("n"), put("n/x", b"1"), put("a", b"3")],
            &["n/x"],
            &["n/x"],
        ),
        (
            "a name that was swapped needs the other",
            vec![
                rename("a", "t"),
                rename("b", "a"),
                rename("t", "b"),
                put("n", b""),
            ],
            &["a"],
            &["a", "b"],
        ),
        (
            "a new file in an old place needs the move away",
            vec![rename("a", "t"), make("a"), put("a/x", b"")],
            &["t"],
            &["a", "a/x", "t"],
        ),
    ];
    for (name, ops, leave, expected) in cases {
        let folder = Folder::new();
        let workspace = folder.workspace();
        let view = folder.layer(&workspace);
        let mut subject = Viewed::of(&view);
        ops.iter().for_each(|op| drop(subject.run(op)));
        let all = view.changes().unwrap();
        let named = |all: &[Change]| -> Vec<usize> {
            (0..all.len())
                .filter(|at| leave.contains(&&*all[*at].path))
                .collect()
        };
        let left = needs(&all).with_dependent(named(&all));
        let paths: BTreeSet<&str> = left.iter().map(|at| &*all[*at].path).collect();
        assert_eq!(
            paths,
            expected.iter().copied().collect(),
            "{name}: {all:#?}"
        );
        check(&ops, named);
    }
}

#[test]
fn a_file_can_be_given_other_contents_and_nothing_else_can() {
    let folder = Folder::new();
    let workspace = folder.workspace();
    let view = folder.layer(&workspace);
    let mut subject = Viewed::of(&view);
    for op in [
        rename("a", "moved"),
        put("moved", b"new"),
        make("n"),
        remove("b"),
    ] {
        subject.run(&op);
    }
    let all = view.changes().unwrap();
    let at = |path: &str| all.iter().position(|change| change.path == path).unwrap();
    let give = |at: usize, bytes: &[u8]| {
        let contents = BTreeMap::from([(at, bytes.to_vec())]);
        view.keep_part(&all, &BTreeSet::from([self::at(&all, "b")]), &contents)
    };
    give(at("n"), b"text").unwrap_err();
    give(at("moved"), b"chosen").unwrap();
    view.commit(&workspace, &kept("part")).unwrap();
    assert_eq!(std::fs::read(folder.path.join("moved")).unwrap(), b"chosen");
    assert!(folder.path.join("b").exists() && !folder.path.join("a").exists());
}

fn at(all: &[Change], path: &str) -> usize {
    all.iter().position(|change| change.path == path).unwrap()
}
