//! Another program changes the folder at any step of a commit: nothing of it is lost, and nothing
//! of ours is half there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::model::{open, scratch, ticket};
use crate::fault::{while_another, with};
use crate::{CommitError, LayerOptions, OpenOptions, Opened, View, Workspace};

/// What is changed: a file is written to, one moves to a name that is free, one replaces another,
/// one is new, and a directory goes with what is in it.
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
}

struct Place {
    folders: TempDir,
}

impl Place {
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

    fn is_ours(&self) -> bool {
        let text = |name: &str| fs::read_to_string(self.folder().join(name)).ok();
        let ours = |name: &str, holds: &str| text(name).as_deref() == Some(holds);
        ours("written", "ours")
            && ours("to", "moved")
            && ours("replaced", "replacing")
            && ours("new", "ours")
            && ours("deep/er/written", "ours")
            && !self.folder().join("gone").exists()
    }
}

/// What another program does, and a path below the folder that has its word afterwards.
type Other = (&'static str, fn(&Path), &'static str);

const OTHERS: [Other; 8] = [
    (
        "a file is written to",
        |folder| fs::write(folder.join("written"), "theirs").unwrap(),
        "written",
    ),
    (
        "a file is replaced",
        |folder| {
            fs::write(folder.join("next"), "theirs").unwrap();
            let _ = fs::rename(folder.join("next"), folder.join("written"));
        },
        "written",
    ),
    (
        "a name is taken",
        |folder| {
            if !folder.join("new").exists() {
                fs::write(folder.join("new"), "theirs").unwrap();
            }
        },
        "new",
    ),
    (
        "where something moves to is taken",
        |folder| {
            if !folder.join("to").exists() {
                fs::write(folder.join("to"), "theirs").unwrap();
            }
        },
        "to",
    ),
    (
        "a directory that goes gets a file",
        |folder| {
            let _ = fs::write(folder.join("gone/b"), "theirs");
        },
        "gone/b",
    ),
    (
        "a directory on the way moves",
        |folder| {
            let _ = fs::rename(folder.join("deep"), folder.join("elsewhere"));
        },
        "elsewhere/er/written",
    ),
    (
        "a directory on the way becomes a link that leads outside",
        |folder| {
            let _ = fs::rename(folder.join("deep"), folder.join("elsewhere"));
            let _ = symlink(
                folder.parent().unwrap().join("outside"),
                folder.join("deep"),
            );
        },
        "elsewhere/er/written",
    ),
    (
        "a file that moves is removed",
        |folder| drop(fs::remove_file(folder.join("moved"))),
        "moved",
    ),
];

#[test]
fn what_another_program_does_at_any_step_is_not_overwritten_and_leaves_nothing_half_done() {
    let steps = {
        let place = Place::new();
        let (workspace, view) = place.changed();
        let (committed, steps) = with(None, || view.commit(&workspace, &ticket("it")));
        committed.unwrap();
        assert!(place.is_ours());
        steps
    };
    for (what, other, path) in OTHERS {
        let (mut refused, mut committed) = (0, 0);
        for at in 1..=steps {
            let place = Place::new();
            let folder = place.folder();
            let (workspace, view) = place.changed();
            let before = folder.clone();
            let result = while_another(
                at,
                move || other(&before),
                || view.commit(&workspace, &ticket("it")),
            );
            let told = format!("{what}, at step {at}: {result:?}");
            assert_eq!(
                fs::read_dir(folder.parent().unwrap().join("outside"))
                    .unwrap()
                    .count(),
                0,
                "{told}"
            );
            let theirs = fs::read_to_string(folder.join(path)).ok();
            match &result {
                Ok(_) => committed += 1,
                Err(CommitError::Conflict(_) | CommitError::Io { .. }) => {
                    refused += 1;
                    // Of ours nothing is there.
                    for ours in ["new", "to"] {
                        let found = fs::read_to_string(folder.join(ours)).ok();
                        assert!(found.is_none_or(|found| found == "theirs"), "{told}");
                    }
                    if !what.contains("on the way") {
                        let text = fs::read_to_string(folder.join("deep/er/written"));
                        assert_eq!(text.unwrap(), "deep/er/written", "{told}");
                    }
                    if theirs.is_none() {
                        assert_eq!(path, "moved", "{told}");
                    }
                }
                // Another program is in the way also of undoing it: that is told, with the path.
                Err(CommitError::Unrecovered(_)) => refused += 1,
                Err(error) => panic!("{told}: {error}"),
            }
        }
        println!("{what}: {refused} refused, {committed} committed");
        assert!(refused > 0 && committed > 0, "{what}");
    }
}
