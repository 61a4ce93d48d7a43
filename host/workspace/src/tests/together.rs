//! One commit of several decisions has all their ids and notes, or none.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::from_environment;
use super::model::kept;
use super::script::{Subject, Viewed, script, tree};
use super::undo::{Folder, put};
use crate::fault::{Fault, with};
use crate::{CommitError, Outcome, Ticket};

const IDS: [&str; 3] = ["one", "two", "three"];

fn ticket() -> Ticket {
    let others = IDS[1..].iter().map(|id| Outcome {
        id: (*id).to_owned(),
        note: format!("note of {id}"),
    });
    Ticket {
        others: others.collect(),
        ..kept("one")
    }
}

/// Asserts that exactly these ids are committed, with their notes.
fn check_ids(folder: &Folder, expected: &[&str], at: &str) {
    let workspace = folder.workspace();
    let committed = IDS.iter().filter(|id| workspace.is_committed(id).unwrap());
    assert_eq!(committed.copied().collect::<Vec<_>>(), expected, "{at}");
    let outcomes = workspace.outcomes().unwrap();
    let mut noted: Vec<_> = outcomes.iter().map(|it| (&*it.id, &*it.note)).collect();
    noted.sort_unstable();
    let mut expected: Vec<_> = expected
        .iter()
        .map(|id| (*id, format!("note of {id}")))
        .collect();
    expected.sort_unstable();
    let expected: Vec<_> = expected.iter().map(|(id, note)| (*id, &**note)).collect();
    assert_eq!(noted, expected, "{at}");
}

#[test]
fn a_commit_of_several_decisions_that_is_cut_off_anywhere_is_of_all_of_them_or_of_none() {
    let (mut tried, mut old, mut new) = (0, 0, 0);
    let points = from_environment("AIRLOCK_CRASHES").unwrap_or(600);
    for seed in 1.. {
        if tried >= points {
            break;
        }
        let ops = script(seed, 20);
        let mut at = 0;
        loop {
            at += 1;
            let folder = Folder::new();
            let before = tree(&folder.path);
            let workspace = folder.workspace();
            let view = folder.layer(&workspace);
            let mut subject = Viewed::of(&view);
            ops.iter().for_each(|op| drop(subject.run(op)));
            if view.changes().unwrap().is_empty() {
                break;
            }
            let run = || catch_unwind(AssertUnwindSafe(|| view.commit(&workspace, &ticket())));
            let (committed, steps) = with(Some((at, Fault::Stop)), run);
            if at > steps {
                assert!(committed.is_ok());
                break;
            }
            folder.workspace().recover().unwrap();
            let is_old = tree(&folder.path) == before;
            let expected: &[&str] = if is_old { &[] } else { &IDS };
            check_ids(&folder, expected, &format!("seed {seed} step {at}"));
            tried += 1;
            *(if is_old { &mut old } else { &mut new }) += 1;
        }
    }
    assert!(old > tried / 10 && new > tried / 10, "{old} old, {new} new");
}

#[test]
fn any_of_its_ids_names_the_commit_for_an_undo_and_is_refused_for_another_commit() {
    for id in IDS {
        let folder = Folder::new();
        let before = tree(&folder.path);
        folder.run(&[put("a", b"new")], &ticket());
        check_ids(&folder, &IDS, id);
        let workspace = folder.workspace();
        assert_eq!(workspace.originals().unwrap()[0].others, IDS[1..]);
        assert_eq!(workspace.last_committed().unwrap().as_deref(), Some("one"));
        let view = folder.layer(&workspace);
        Viewed::of(&view).run(&put("a", b"newer"));
        let again = view.commit(&workspace, &kept(id)).unwrap_err();
        assert!(matches!(again, CommitError::AlreadyCommitted(_)), "{again}");
        workspace.take_outcome("two").unwrap();
        assert_eq!(workspace.outcomes().unwrap().len(), 2);
        folder.undo(id, &kept("undo")).unwrap();
        assert_eq!(tree(&folder.path), before);
    }
}
