//! An undo brings back what was there before a commit, and nothing that came later is lost.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::from_environment;
use super::model::{kept, open, scratch};
use super::script::{Op, Subject, Viewed, fill, script, tree};
use crate::fault::{Fault, with};
use crate::{
    Committed, Conflict, ConflictKind, LayerOptions, RestoreError, Restored, Ticket, View,
    Workspace,
};

/// A folder with some files, and a place for layers.
pub(super) struct Folder {
    _folders: TempDir,
    pub path: PathBuf,
    spill: PathBuf,
}

impl Folder {
    pub fn new() -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        let [path, spill] = ["folder", "spill"].map(|name| folders.path().join(name));
        fs::create_dir(&path).unwrap();
        fs::create_dir(&spill).unwrap();
        fill(&path);
        let file = fs::File::open(path.join("b")).unwrap();
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::fsetxattr(file, "user.note", b"kept", flags).unwrap();
        Self {
            _folders: folders,
            path,
            spill,
        }
    }

    pub fn workspace(&self) -> Workspace {
        open(&self.path)
    }

    pub fn layer(&self, workspace: &Workspace) -> View {
        let view = workspace.view(100).unwrap();
        view.begin(&LayerOptions::new(&self.spill)).unwrap();
        view
    }

    pub fn run(&self, ops: &[Op], ticket: &Ticket) -> Committed {
        let workspace = self.workspace();
        let view = self.layer(&workspace);
        let mut subject = Viewed::of(&view);
        for op in ops {
            subject.run(op);
        }
        view.commit(&workspace, ticket).unwrap()
    }

    pub fn undo(&self, id: &str, ticket: &Ticket) -> Result<Restored, RestoreError> {
        self.undo_or_skip(id, ticket, false)
    }

    pub fn undo_or_skip(
        &self,
        id: &str,
        ticket: &Ticket,
        skip_changed: bool,
    ) -> Result<Restored, RestoreError> {
        let workspace = self.workspace();
        let view = self.layer(&workspace);
        let restored = view.restore(&workspace, id, skip_changed)?;
        view.commit(&workspace, ticket).unwrap();
        Ok(restored)
    }
}

/// How many scripts are tried; more by `AIRLOCK_UNDOS`.
fn rounds() -> u64 {
    from_environment("AIRLOCK_UNDOS").unwrap_or(600)
}

#[test]
fn an_undo_brings_everything_back_and_an_undo_of_it_does_it_again() {
    let mut undone = 0;
    for seed in 1..=rounds() {
        let folder = Folder::new();
        let before = tree(&folder.path);
        let committed = folder.run(&script(seed, 30), &kept("one"));
        if committed.changes.is_empty() {
            continue;
        }
        let after = tree(&folder.path);
        let restored = folder.undo("one", &kept("undo"));
        let expected = Restored {
            title: "title of one".to_owned(),
            ..Restored::default()
        };
        assert_eq!(restored.unwrap(), expected, "seed {seed}");
        assert_eq!(tree(&folder.path), before, "seed {seed}");
        folder.undo("undo", &kept("redo")).unwrap();
        assert_eq!(tree(&folder.path), after, "seed {seed}: done again");
        undone += 1;
    }
    assert!(undone > rounds() / 2, "{undone}");
}

#[test]
fn an_undo_that_is_cut_off_anywhere_is_whole_or_never_was() {
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
            if folder.run(&ops, &kept("one")).changes.is_empty() {
                break;
            }
            let after = tree(&folder.path);
            let workspace = folder.workspace();
            let view = folder.layer(&workspace);
            view.restore(&workspace, "one", false).unwrap();
            let run = || catch_unwind(AssertUnwindSafe(|| view.commit(&workspace, &kept("undo"))));
            let (undone, steps) = with(Some((at, Fault::Stop)), run);
            if at > steps {
                assert!(undone.is_ok());
                break;
            }
            folder.workspace().recover().unwrap();
            let found = tree(&folder.path);
            let is_undone = found == before;
            assert!(is_undone || found == after, "seed {seed} step {at}");
            // It can still be undone, or be done again.
            let id = if is_undone { "undo" } else { "one" };
            folder.undo(id, &kept("again")).unwrap();
            let expected = if is_undone { &after } else { &before };
            assert_eq!(&tree(&folder.path), expected, "seed {seed} step {at}");
            tried += 1;
            *(if is_undone { &mut new } else { &mut old }) += 1;
        }
    }
    assert!(old > tried / 10 && new > tried / 10, "{old} old, {new} new");
}

pub(super) fn put(path: &str, bytes: &[u8]) -> Op {
    Op::Put {
        start: 0,
        path: path.to_owned(),
        bytes: super::script::Bytes(bytes.to_vec()),
    }
}

pub(super) fn rename(path: &str, new_path: &str) -> Op {
    Op::Rename {
        start: 0,
        path: path.to_owned(),
        to: 0,
        new_path: new_path.to_owned(),
    }
}

pub(super) fn remove(path: &str) -> Op {
    Op::RemoveFile {
        start: 0,
        path: path.to_owned(),
    }
}

pub(super) fn make(path: &str) -> Op {
    Op::CreateDirectory {
        start: 0,
        path: path.to_owned(),
    }
}

#[test]
fn nothing_that_came_later_is_overwritten_or_removed() {
    /// Something that another program does after the commit.
    type Later = fn(&Path);
    type Case<'a> = (&'a str, Vec<Op>, Later, (&'a str, ConflictKind));
    let changed = ConflictKind::Changed;
    let cases: Vec<Case<'_>> = vec![
        (
            "a file was edited again",
            vec![put("a", b"new")],
            |at| fs::write(at.join("a"), "newer").unwrap(),
            ("a", ConflictKind::Overlap { first: 1, last: 1 }),
        ),
        (
            "a new file was edited",
            vec![put("new", b"new")],
            |at| fs::write(at.join("new"), "newer").unwrap(),
            ("new", changed),
        ),
        (
            "a new file was removed",
            vec![put("new", b"new")],
            |at| fs::remove_file(at.join("new")).unwrap(),
            ("new", changed),
        ),
        (
            "the permissions were changed",
            vec![put("a", b"new")],
            |at| {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(at.join("a"), fs::Permissions::from_mode(0o600)).unwrap()
            },
            ("a", changed),
        ),
        (
            "a file is where one was removed",
            vec![remove("a")],
            |at| fs::write(at.join("a"), "other").unwrap(),
            ("a", ConflictKind::Appeared),
        ),
        (
            "a file is where one was moved away",
            vec![rename("d", "f")],
            |at| fs::write(at.join("d"), "other").unwrap(),
            ("d", ConflictKind::Appeared),
        ),
        (
            "a file was moved on",
            vec![rename("a", "z")],
            |at| fs::rename(at.join("z"), at.join("y")).unwrap(),
            ("z", changed),
        ),
        (
            "the directory of a removed file is a link now",
            vec![remove("d/e/a")],
            |at| {
                fs::rename(at.join("d/e"), at.join("elsewhere")).unwrap();
                std::os::unix::fs::symlink("../elsewhere", at.join("d/e")).unwrap();
            },
            ("d/e", changed),
        ),
    ];
    for (name, ops, later, (path, what)) in cases {
        let folder = Folder::new();
        folder.run(&ops, &kept("one"));
        later(&folder.path);
        let before = tree(&folder.path);
        let undone = folder.undo("one", &kept("undo"));
        let expected = vec![Conflict {
            path: path.to_owned(),
            what,
        }];
        let Err(RestoreError::Changed(conflicts)) = undone else {
            panic!("{name}: {undone:?}");
        };
        assert_eq!(conflicts, expected, "{name}");
        assert_eq!(tree(&folder.path), before, "{name}: nothing was written");
    }
}

/// As in the report of an undo that deleted a gigabyte of unrelated files with the directory that
/// it had created.
#[test]
fn a_created_directory_with_other_files_in_it_stays_with_them() {
    let folder = Folder::new();
    folder.run(&[make("new"), put("new/ours", b"x")], &kept("one"));
    fs::write(folder.path.join("new/theirs"), "a gigabyte").unwrap();
    let restored = folder.undo("one", &kept("undo")).unwrap();
    assert_eq!(restored.left, ["new"]);
    assert!(!folder.path.join("new/ours").exists());
    let theirs = fs::read_to_string(folder.path.join("new/theirs")).unwrap();
    assert_eq!(theirs, "a gigabyte");
}

#[test]
fn a_change_between_the_undo_and_its_commit_is_a_conflict() {
    for (path, later) in [("a", "newer"), ("d/e/a", "again")] {
        let folder = Folder::new();
        folder.run(&[put("a", b"new"), remove("d/e/a")], &kept("one"));
        let workspace = folder.workspace();
        let view = folder.layer(&workspace);
        view.restore(&workspace, "one", false).unwrap();
        fs::write(folder.path.join(path), later).unwrap();
        let refused = view.commit(&workspace, &kept("undo"));
        assert!(refused.is_err(), "{path}: {refused:?}");
        let found = fs::read_to_string(folder.path.join(path)).unwrap();
        assert_eq!(found, later);
    }
}
