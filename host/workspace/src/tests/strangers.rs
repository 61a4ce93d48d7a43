//! What lies in a folder may come from strangers, say in a repository that was cloned: it is never
//! believed, followed or removed, and commits go on beside it.

use std::fs;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::model::{open, scratch, ticket};
use super::script::tree;
use crate::fault::{Fault, with};
use crate::{CommitError, Key, LayerOptions, Workspace};

struct Fixture {
    folders: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        for name in ["folder", "other", "spill", "outside"] {
            fs::create_dir(folders.path().join(name)).unwrap();
        }
        let place = Self { folders };
        for name in ["folder", "other"] {
            fs::write(place.path(name).join("a"), "before").unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folders.path().join(name)
    }

    /// Renames `a` to `b`; cut off at a step where one is given.
    fn commit(&self, workspace: &Workspace, id: &str, stop: Option<u64>) -> Option<String> {
        let view = workspace.view(0).unwrap();
        view.begin(&LayerOptions::new(self.path("spill"))).unwrap();
        let root = view.root();
        root.rename("a", &root, "b").unwrap();
        let fault = stop.map(|at| (at, Fault::Stop));
        let run = || catch_unwind(AssertUnwindSafe(|| view.commit(workspace, &ticket(id))));
        match with(fault, run).0 {
            Ok(Ok(_)) => Some("committed".to_owned()),
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => None,
        }
    }

    /// Cuts a commit off right behind its journal: the rename is still to be done.
    fn cut_off(&self, name: &str) {
        let workspace = open(&self.path(name));
        for at in 1.. {
            assert_eq!(self.commit(&workspace, "cut", Some(at)), None);
            if journal_of(&self.path(name)).is_some() {
                break;
            }
            workspace.recover().unwrap();
        }
        assert!(self.path(name).join("a").exists());
    }
}

fn journal_of(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder.join(".airlock")).ok()?;
    let mut paths = entries.map(|entry| entry.unwrap().path());
    paths.find(|path| path.join("journal").exists())
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.unwrap().success());
}

#[test]
fn a_journal_is_believed_only_by_its_own_folder_under_its_own_key() {
    // What is cut off is finished, so that what follows is no matter of a journal that is wrong.
    let place = Fixture::new();
    place.cut_off("folder");
    let finished = open(&place.path("folder")).recover().unwrap();
    assert_eq!(finished.finished, ["cut"]);
    assert!(place.path("folder").join("b").exists());

    let place = Fixture::new();
    place.cut_off("folder");
    let before = tree(&place.path("folder"));
    let stranger = Workspace::open(&place.path("folder"), &Key::new([8; 32])).unwrap();
    assert_eq!(stranger.recover().unwrap().not_ours.len(), 1);
    assert_eq!(tree(&place.path("folder")), before);

    // Copied into another folder, or with the folder, under the same key.
    let journal = journal_of(&place.path("folder")).unwrap();
    let copies = [place.path("other"), place.path("copied")];
    fs::create_dir(copies[0].join(".airlock")).unwrap();
    copy(&journal, &copies[0].join(".airlock"));
    copy(&place.path("folder"), &copies[1]);
    for copied in copies {
        let workspace = open(&copied);
        let before = tree(&copied);
        let recovered = workspace.recover().unwrap();
        assert_eq!((recovered.not_ours.len(), recovered.finished.len()), (1, 0));
        assert_eq!(tree(&copied), before, "{}", copied.display());
        assert!(journal_of(&copied).is_some(), "it is left alone");
        let committed = place.commit(&workspace, "beside", None);
        assert_eq!(committed.as_deref(), Some("committed"));
        assert!(journal_of(&copied).is_some(), "it is left alone");
    }
}

#[test]
fn a_journal_that_comes_back_after_its_commit_is_not_carried_out_again() {
    let place = Fixture::new();
    place.cut_off("folder");
    let folder = place.path("folder");
    let (journal, saved) = (journal_of(&folder).unwrap(), place.path("saved"));
    copy(&journal, &saved);
    let workspace = open(&folder);
    assert_eq!(workspace.recover().unwrap().finished, ["cut"]);
    // Its user takes it back, and a backup is put back.
    fs::rename(folder.join("b"), folder.join("a")).unwrap();
    let before = tree(&folder);
    copy(&saved, &journal);
    workspace.recover().unwrap();
    assert_eq!(tree(&folder), before);
    assert!(journal_of(&folder).is_none());
    let committed = place.commit(&workspace, "next", None);
    assert_eq!(committed.as_deref(), Some("committed"));
}

#[test]
fn a_journal_of_which_a_byte_is_another_is_not_believed() {
    let place = Fixture::new();
    place.cut_off("folder");
    let journal = journal_of(&place.path("folder")).unwrap().join("journal");
    let whole = fs::read(&journal).unwrap();
    let before = tree(&place.path("folder"));
    let workspace = open(&place.path("folder"));
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        match at % 3 {
            0 => changed[at] ^= 1,
            1 => changed.truncate(at),
            _ => changed.insert(at, b'0'),
        }
        // A hash in capitals is the same hash.
        if changed.eq_ignore_ascii_case(&whole) {
            continue;
        }
        fs::write(&journal, &changed).unwrap();
        let recovered = workspace.recover().unwrap();
        assert_eq!(recovered.not_ours.len(), 1, "byte {at}");
        assert_eq!(tree(&place.path("folder")), before, "byte {at}");
    }
    fs::write(&journal, &whole).unwrap();
    assert_eq!(workspace.recover().unwrap().finished, ["cut"]);
}

#[test]
fn what_stands_where_the_private_folder_should_is_not_followed() {
    let check = |plant: &dyn Fn(&Path, &Path), says: &str| {
        let place = Fixture::new();
        let (folder, outside) = (place.path("folder"), place.path("outside"));
        plant(&folder.join(".airlock"), &outside);
        let workspace = open(&folder);
        let said = place.commit(&workspace, "it", None).unwrap();
        assert!(said.contains(says), "{said}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(folder.join("a").exists(), said != "committed");
    };
    check(
        &|private, _| fs::write(private, "a file").unwrap(),
        ".airlock",
    );
    check(
        &|private, outside| symlink(outside, private).unwrap(),
        ".airlock",
    );
    let inside = |name: &'static str| {
        move |private: &Path, outside: &Path| {
            fs::create_dir(private).unwrap();
            symlink(outside.join("x"), private.join(name)).unwrap();
        }
    };
    check(&inside("committed"), "could not");
    check(&inside("outcomes"), "could not");
    check(&inside("lock"), "could not lock");
    check(&inside(".gitignore"), "committed");
    check(
        &inside("txn-0000000000000000-00000000000000000000000000000000"),
        "committed",
    );
}

#[test]
fn a_record_with_another_name_is_neither_locked_nor_added_to() {
    for name in ["lock", "committed"] {
        let place = Fixture::new();
        let (folder, outside) = (place.path("folder"), place.path("outside/file"));
        fs::create_dir(folder.join(".airlock")).unwrap();
        fs::write(&outside, "kept\n").unwrap();
        fs::hard_link(&outside, folder.join(".airlock").join(name)).unwrap();
        let said = place.commit(&open(&folder), "it", None).unwrap();
        let message = format!(".airlock/{name} has 2 names (hard links); remove it");
        assert!(said.contains(&message), "{said}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), "kept\n");
        assert!(folder.join("a").exists());
    }
}

#[test]
fn an_id_that_somebody_else_noted_as_committed_was_not() {
    let place = Fixture::new();
    let folder = place.path("folder");
    fs::create_dir(folder.join(".airlock")).unwrap();
    fs::write(
        folder.join(".airlock/committed"),
        format!("it {}\nit\n", "0".repeat(64)),
    )
    .unwrap();
    let workspace = open(&folder);
    assert!(!workspace.is_committed("it").unwrap());
    let committed = place.commit(&workspace, "it", None);
    assert_eq!(committed.as_deref(), Some("committed"));
    assert!(workspace.is_committed("it").unwrap());

    // A line of another folder's is none of this one's.
    let theirs = fs::read(folder.join(".airlock/committed")).unwrap();
    fs::create_dir(place.path("other").join(".airlock")).unwrap();
    fs::write(place.path("other").join(".airlock/committed"), theirs).unwrap();
    assert!(!open(&place.path("other")).is_committed("it").unwrap());
}

#[test]
fn an_id_is_no_path() {
    let place = Fixture::new();
    let workspace = open(&place.path("folder"));
    for id in ["", "..", "a/b", "a b", "ü", &"a".repeat(129)] {
        let view = workspace.view(0).unwrap();
        view.begin(&LayerOptions::new(place.path("spill"))).unwrap();
        let refused = view.commit(&workspace, &ticket(id));
        assert!(
            matches!(refused, Err(CommitError::Unsupported { .. })),
            "{id}"
        );
    }
}
