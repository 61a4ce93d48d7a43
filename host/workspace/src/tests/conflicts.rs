//! Another program changes the folder at any step of a commit, or between one that was cut off and
//! its recovery: nothing of it is lost, and nothing of ours is half there.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::io::Errno;
use tempfile::TempDir;

use super::from_environment;
use super::model::{kept, open, scratch};
use super::script::{Random, tree};
use crate::fault::{Fault, while_another, with};
use crate::{
    CommitError, Committed, LayerOptions, OpenOptions, Opened, RecoverError, View, Workspace,
};

type Tree = BTreeMap<String, String>;

/// What is changed: a file is written to, one moves to a name that is free, one replaces another,
/// one is new, a directory goes with what is in it, and one is made, into which a file moves.
fn change(view: &View) {
    let root = view.root();
    let put = |path: &str, text: &str| {
        let options = OpenOptions {
            write: true,
            create: true,
            truncate: true,
            ..OpenOptions::default()
        };
        match root.open(path, options).unwrap() {
            Opened::File(file) => file.write_at(text.as_bytes(), 0).unwrap(),
            Opened::Directory(_) => panic!("{path} is a directory"),
        }
    };
    put("written", "ours");
    root.rename("moved", &root, "to").unwrap();
    root.rename("replacing", &root, "replaced").unwrap();
    put("new", "ours");
    root.remove_file("gone/a").unwrap();
    root.remove_directory("gone").unwrap();
    put("deep/er/written", "ours");
    root.create_directory("made").unwrap();
    put("made/inner", "ours");
    root.rename("coming", &root, "made/came").unwrap();
}

/// All that a change came near to.
const TARGETS: [&str; 14] = [
    "written",
    "moved",
    "to",
    "replacing",
    "replaced",
    "new",
    "gone",
    "gone/a",
    "deep",
    "deep/er/written",
    "made",
    "made/inner",
    "coming",
    "made/came",
];

/// What another program does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interference {
    /// Writes to the file, or puts one into the directory.
    Change,
    /// Renames another file over it.
    Replace,
    /// Moves it aside, and makes a directory with a file.
    ByDirectory,
    /// Moves it aside, and makes a link that leads outside.
    ByLink,
    Remove,
    /// Makes a file, where nothing is.
    Appear,
}

const INTERFERENCES: [Interference; 6] = [
    Interference::Change,
    Interference::Replace,
    Interference::ByDirectory,
    Interference::ByLink,
    Interference::Remove,
    Interference::Appear,
];

/// Where another program puts what was in its way.
const ASIDE: &str = "aside";

impl Interference {
    /// Where it can't be done, nothing is. Whether the folder has a word of the other program's
    /// then, which must never be lost.
    fn be_done(self, folder: &Path, target: &str) -> bool {
        let path = folder.join(target);
        let kind = path.symlink_metadata().map(|found| found.file_type()).ok();
        let is_directory = kind.is_some_and(|kind| kind.is_dir());
        let aside = || fs::rename(&path, folder.join(ASIDE)).is_ok();
        match (self, kind) {
            (Interference::Change, Some(_)) if is_directory => {
                fs::write(path.join("theirs"), "theirs").is_ok()
            }
            (Interference::Change, Some(_)) => {
                let file = fs::OpenOptions::new().append(true).open(path);
                file.and_then(|mut file| file.write_all(b"theirs")).is_ok()
            }
            (Interference::Replace, Some(_)) if !is_directory => {
                fs::write(folder.join("next"), "theirs").unwrap();
                fs::rename(folder.join("next"), path).is_ok()
            }
            (Interference::ByDirectory, Some(_)) if aside() => {
                fs::create_dir(&path).unwrap();
                fs::write(path.join("theirs"), "theirs").is_ok()
            }
            (Interference::ByLink, Some(_)) if aside() => {
                symlink(folder.parent().unwrap().join("outside"), path).unwrap();
                false
            }
            (Interference::Remove, Some(_)) => {
                let removed = if is_directory {
                    fs::remove_dir_all(path)
                } else {
                    fs::remove_file(path)
                };
                removed.is_err()
            }
            (Interference::Appear, None) => fs::write(path, "theirs").is_ok(),
            _ => false,
        }
    }
}

/// What came of a commit.
struct Came {
    /// None where it was cut off.
    result: Option<Result<Committed, CommitError>>,
    steps: u64,
    /// Whether the other program wrote something.
    has_word: bool,
}

struct Fixture {
    folders: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        let folder = folders.path().join("folder");
        for name in [
            "written",
            "moved",
            "replacing",
            "replaced",
            "gone/a",
            "deep/er/written",
            "coming",
            "untouched",
        ] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        for name in ["spill", "outside"] {
            fs::create_dir(folders.path().join(name)).unwrap();
        }
        Self { folders }
    }

    fn folder(&self) -> PathBuf {
        self.folders.path().join("folder")
    }

    fn changed(&self) -> (Workspace, View) {
        let workspace = open(&self.folder());
        let view = workspace.view(0).unwrap();
        let spill = self.folders.path().join("spill");
        view.begin(&LayerOptions::new(spill)).unwrap();
        change(&view);
        (workspace, view)
    }

    /// Commits, while another program does something at a step, and a step is cut off or fails.
    fn commit(
        &self,
        other: Option<(u64, Interference, &'static str)>,
        fault: Option<(u64, Fault)>,
    ) -> Came {
        let (workspace, view) = self.changed();
        let folder = self.folder();
        let has_word = Rc::new(Cell::new(false));
        let word = Rc::clone(&has_word);
        let (at, other) = match other {
            Some((at, what, target)) => (at, Some((what, target))),
            None => (0, None),
        };
        let other = move || {
            if let Some((what, target)) = other {
                word.set(what.be_done(&folder, target));
            }
        };
        let commit = || while_another(at, other, || view.commit(&workspace, &kept("it")));
        let (result, steps) = with(fault, || catch_unwind(AssertUnwindSafe(commit)));
        Came {
            result: result.ok(),
            steps,
            has_word: has_word.get(),
        }
    }

    /// Whether another program's word is in the folder, or in the private one.
    fn has_theirs(&self, with_private: bool) -> bool {
        has_theirs(&self.folder(), with_private)
    }

    fn is_outside_untouched(&self) -> bool {
        let outside = fs::read_dir(self.folders.path().join("outside"));
        outside.unwrap().count() == 0
    }

    /// The folder without what another program did: to an object, under the name that it has before
    /// and after, with all that is below it.
    fn rest(&self, target: &str) -> Tree {
        let is_below = |path: &str, top: &str| {
            let below = path.strip_prefix(top);
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        };
        let mut rest = tree(&self.folder());
        let names = [
            ["moved", "to"],
            ["replacing", "replaced"],
            ["coming", "made/came"],
        ];
        let names = names.into_iter().find(|names| names.contains(&target));
        let names = names.unwrap_or([target, ASIDE]);
        rest.retain(|path, _| {
            !names.iter().any(|name| is_below(path, name)) && !is_below(path, ASIDE)
        });
        rest
    }
}

fn has_theirs(folder: &Path, with_private: bool) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if entry.file_name() == ".airlock" && !with_private {
            return false;
        }
        match kind.is_dir() {
            true => has_theirs(&entry.path(), with_private),
            false if kind.is_file() => {
                fs::read_to_string(entry.path()).is_ok_and(|text| text.ends_with("theirs"))
            }
            false => false,
        }
    })
}

/// How a folder may be afterwards.
struct Expected {
    before: Fixture,
    after: Fixture,
    steps: u64,
}

impl Expected {
    fn new() -> Self {
        let (before, after) = (Fixture::new(), Fixture::new());
        let came = after.commit(None, None);
        came.result.unwrap().unwrap();
        let moved = fs::read_to_string(after.folder().join("made/came"));
        assert_eq!(moved.unwrap(), "coming");
        Self {
            before,
            after,
            steps: came.steps,
        }
    }

    /// What must hold of a folder that says what became of a commit.
    fn check(&self, place: &Fixture, target: &str, came: &Came) -> &'static str {
        assert!(place.is_outside_untouched());
        let rest = place.rest(target);
        let (told, expected) = match &came.result {
            Some(Ok(_)) => ("committed", &self.after),
            Some(Err(CommitError::Conflict(_) | CommitError::Io { .. })) => {
                ("refused", &self.before)
            }
            // Another program is in the way also of undoing it: that is told, with the path.
            Some(Err(CommitError::Unrecovered(_))) => {
                assert!(!came.has_word || place.has_theirs(true));
                return "blocked";
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(rest, expected.rest(target));
        assert!(!came.has_word || place.has_theirs(false));
        told
    }

    /// The same after a recovery, which says less.
    fn check_recovered(&self, place: &Fixture, target: &str, came: &Came) -> &'static str {
        assert!(place.is_outside_untouched());
        if let Err(error) = open(&place.folder()).recover() {
            assert!(matches!(error, RecoverError::Blocked { .. }), "{error}");
            assert!(!came.has_word || place.has_theirs(true));
            return "blocked";
        }
        assert!(place.is_outside_untouched());
        let rest = place.rest(target);
        assert!(!came.has_word || place.has_theirs(false));
        if rest == self.after.rest(target) {
            "committed"
        } else {
            assert_eq!(rest, self.before.rest(target));
            "refused"
        }
    }
}

/// How many interferences each test tries at most: all of them, or fewer by `AIRLOCK_CONFLICTS`.
fn at_most() -> usize {
    from_environment("AIRLOCK_CONFLICTS").unwrap_or(usize::MAX)
}

/// Runs something with each interference at each step, or with one of so many; says which it was
/// where that fails.
fn with_each(
    one_of: usize,
    steps: u64,
    run: impl Fn(Interference, &'static str, u64) -> &'static str,
) {
    let targets = TARGETS
        .iter()
        .flat_map(|target| INTERFERENCES.map(|what| (*target, what)));
    let all = targets.flat_map(|it| (1..=steps).map(move |at| (it, at)));
    let all: Vec<_> = all.collect();
    let every = one_of.max(all.len().div_ceil(at_most()));
    let mut counts = BTreeMap::new();
    let mut failed = Vec::new();
    for ((target, what), at) in all.into_iter().step_by(every) {
        match catch_unwind(AssertUnwindSafe(|| run(what, target, at))) {
            Ok(told) => *counts.entry(told).or_insert(0) += 1,
            Err(_) => failed.push(format!("{what:?} of {target}, at step {at}")),
        }
    }
    println!("{counts:?}");
    assert!(failed.is_empty(), "{} failed: {failed:#?}", failed.len());
    assert!(counts["refused"] > 0 && counts["committed"] > 0);
}

#[test]
fn what_another_program_does_at_any_step_is_not_overwritten_and_leaves_nothing_half_done() {
    let expected = Expected::new();
    let run = |what, target, at| {
        let place = Fixture::new();
        let came = place.commit(Some((at, what, target)), None);
        expected.check(&place, target, &came)
    };
    with_each(1, expected.steps, run);
}

#[test]
fn what_another_program_does_is_not_lost_where_the_commit_goes_back_later() {
    let expected = Expected::new();
    let run = |what, target, at| {
        let place = Fixture::new();
        let later = at + 1 + Random::new(at).below(1 + (expected.steps - at) as usize) as u64;
        let fault = Fault::Error(Errno::IO.raw_os_error());
        let came = place.commit(Some((at, what, target)), Some((later, fault)));
        expected.check(&place, target, &came)
    };
    with_each(3, expected.steps, run);
}

#[test]
fn what_another_program_does_after_a_crash_is_not_lost_when_the_commit_is_recovered() {
    let expected = Expected::new();
    let run = |what: Interference, target, at| {
        let place = Fixture::new();
        let mut came = place.commit(None, Some((at, Fault::Stop)));
        assert!(came.result.is_none());
        came.has_word = what.be_done(&place.folder(), target);
        expected.check_recovered(&place, target, &came)
    };
    with_each(3, expected.steps, run);
}
