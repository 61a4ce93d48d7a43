//! A commit that is cut off at any system call, or has one fail, leaves the folder as it was or as
//! it was to be.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::from_environment;
use super::model::{kept, open, scratch, ticket};
use super::script::{Op, Random, Subject, Viewed, fill, script, tree};
use crate::fault::{Fault, with};
use crate::{CommitError, Committed, LayerOptions, Outcome};

type Tree = BTreeMap<String, String>;

/// How many points are tried at least; more by `AIRLOCK_CRASHES`.
fn points() -> u64 {
    from_environment("AIRLOCK_CRASHES").unwrap_or(2_000)
}

/// A folder in which a script's changes are committed again and again.
pub struct Stage {
    _folders: TempDir,
    pub folder: PathBuf,
    spill: PathBuf,
    pub before: Tree,
}

impl Stage {
    pub fn new() -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        let [folder, spill] = ["folder", "spill"].map(|name| folders.path().join(name));
        fs::create_dir(&spill).unwrap();
        let mut stage = Self {
            _folders: folders,
            folder,
            spill,
            before: Tree::new(),
        };
        stage.reset();
        stage.before = tree(&stage.folder);
        stage
    }

    pub fn reset(&mut self) {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).unwrap();
        }
        fs::create_dir(&self.folder).unwrap();
        fill(&self.folder);
        // Kept by a commit, in system calls of their own.
        let file = fs::File::open(self.folder.join("b")).unwrap();
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::fsetxattr(file, "user.note", b"kept", flags).unwrap();
    }

    /// Commits what a script changes, with a fault; `None` where the commit was cut off.
    pub fn commit(
        &self,
        ops: &[Op],
        fault: Option<(u64, Fault)>,
    ) -> (Option<Result<Committed, CommitError>>, u64) {
        let workspace = open(&self.folder);
        let view = workspace.view(0).unwrap();
        view.begin(&LayerOptions::new(&self.spill)).unwrap();
        let mut subject = Viewed::of(&view);
        for op in ops {
            subject.run(op);
        }
        let run = || catch_unwind(AssertUnwindSafe(|| view.commit(&workspace, &kept("it"))));
        let (committed, steps) = with(fault, run);
        (committed.ok(), steps)
    }

    /// Recovers, now and then cut off again; what is in the folder then.
    pub fn recover(&self, random: &mut Random) -> Tree {
        let workspace = open(&self.folder);
        for _ in 0..random.below(3) {
            let at = 1 + random.below(12) as u64;
            let run = || catch_unwind(AssertUnwindSafe(|| workspace.recover()));
            let _ = with(Some((at, Fault::Stop)), run);
        }
        let recovered = workspace.recover().unwrap();
        assert_eq!(recovered.not_ours, Vec::<String>::new());
        tree(&self.folder)
    }

    /// Whether the id is known as committed exactly where the files are those of after.
    pub fn check_settled(&self, is_after: bool) {
        let workspace = open(&self.folder);
        assert_eq!(workspace.is_committed("it").unwrap(), is_after);
        let outcomes = if is_after {
            vec![Outcome {
                id: "it".to_owned(),
                note: "note of it".to_owned(),
            }]
        } else {
            Vec::new()
        };
        assert_eq!(workspace.outcomes().unwrap(), outcomes);
        check_nothing_left(&self.folder);
        if is_after {
            workspace.take_outcome("it").unwrap();
            assert_eq!(workspace.outcomes().unwrap(), []);
            let again = workspace.view(0).unwrap();
            again.begin(&LayerOptions::new(&self.spill)).unwrap();
            again.root().create_directory("other").unwrap_or_default();
            let again = again.commit(&workspace, &ticket("it"));
            assert!(
                matches!(again, Err(CommitError::AlreadyCommitted(_))),
                "{again:?}"
            );
        }
    }
}

pub fn check_nothing_left(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder.join(".airlock")) else {
        return;
    };
    for entry in entries {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let kept = ["committed", "outcomes", ".gitignore", "lock", "originals"];
        assert!(kept.contains(&&*name), "{name} is left");
    }
}

/// Scripts that change something, with how many steps their commits take, and what comes of them.
fn changing() -> impl Iterator<Item = (u64, Vec<Op>, u64, Tree)> {
    (1..).filter_map(|seed| {
        let mut stage = Stage::new();
        stage.reset();
        let ops = script(seed, 30);
        let (committed, steps) = stage.commit(&ops, None);
        let committed = committed.unwrap().unwrap();
        let after = tree(&stage.folder);
        (!committed.changes.is_empty()).then_some((seed, ops, steps, after))
    })
}

#[test]
fn a_commit_that_is_cut_off_anywhere_is_whole_or_never_was() {
    let (mut tried, mut old, mut new) = (0, 0, 0);
    for (seed, ops, steps, after) in changing() {
        let random = &mut Random::new(seed);
        let mut stage = Stage::new();
        for at in 1..=steps {
            stage.reset();
            let (committed, _) = stage.commit(&ops, Some((at, Fault::Stop)));
            assert!(committed.is_none(), "seed {seed} has no step {at}");
            let found = stage.recover(random);
            let is_after = found == after;
            assert!(
                is_after || found == stage.before,
                "seed {seed} step {at}: before {:#?}\nafter {after:#?}\nfound {found:#?}",
                stage.before
            );
            stage.check_settled(is_after);
            tried += 1;
            *(if is_after { &mut new } else { &mut old }) += 1;
        }
        if tried >= points() {
            break;
        }
    }
    println!("{tried} points: {old} as before, {new} as after");
    assert!(old > tried / 10 && new > tried / 10, "{old} old, {new} new");
}

#[test]
fn a_commit_in_which_a_system_call_fails_says_what_became_of_it() {
    let codes = [rustix::io::Errno::NOSPC, rustix::io::Errno::IO];
    let (mut tried, mut failed) = (0, 0);
    for (seed, ops, steps, after) in changing() {
        let random = &mut Random::new(seed);
        let mut stage = Stage::new();
        for at in 1..=steps {
            stage.reset();
            let code = codes[random.below(codes.len())].raw_os_error();
            let (committed, _) = stage.commit(&ops, Some((at, Fault::Error(code))));
            let told = committed.expect("nothing was cut off");
            // What it says holds before anybody has recovered anything.
            let found = tree(&stage.folder);
            let is_after = told.is_ok();
            let expected = if is_after { &after } else { &stage.before };
            assert_eq!(&found, expected, "seed {seed} step {at}: {told:?}");
            assert_eq!(
                stage.recover(random),
                found,
                "seed {seed} step {at}: {told:?}"
            );
            stage.check_settled(is_after);
            tried += 1;
            failed += u64::from(!is_after);
        }
        if tried >= points() / 2 {
            break;
        }
    }
    println!("{tried} points: {failed} failed commits");
    assert!(failed > tried / 4, "{failed} of {tried} failed");
}
