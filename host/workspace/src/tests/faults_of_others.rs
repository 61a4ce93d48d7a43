//! What layers above a folder are known to get wrong elsewhere: each is a row here, with what the
//! layer shows, what it says that it changes, and what the folder has after the commit.

mod names;
mod objects;
mod seen;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, RenameFlags};
use rustix::io::Errno;
use tempfile::TempDir;

use super::changes::kind;
use super::model::{open, scratch, ticket};
use crate::{
    Change, CommitError, ConflictKind, Directory, LayerOptions, OpenOptions, Opened, View,
    Workspace,
};

const TO_READ: OpenOptions = OpenOptions {
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
    directory: false,
    follow: false,
};

const TO_WRITE: OpenOptions = OpenOptions {
    write: true,
    create: true,
    ..TO_READ
};

struct Fixture {
    folders: TempDir,
    workspace: Workspace,
    view: View,
}

impl Fixture {
    /// A folder, in which a layer is open.
    fn new(fill: impl Fn(&Path)) -> Self {
        let place = Self::without_layer(fill);
        place.begin();
        place
    }

    fn without_layer(fill: impl Fn(&Path)) -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        for name in ["folder", "spill", "outside"] {
            fs::create_dir(folders.path().join(name)).unwrap();
        }
        fs::write(folders.path().join("outside/a"), "outside").unwrap();
        let folder = folders.path().join("folder");
        fill(&folder);
        let workspace = open(&folder);
        let view = workspace.view(1000).unwrap();
        Self {
            folders,
            workspace,
            view,
        }
    }

    fn begin(&self) {
        let spill = self.folders.path().join("spill");
        self.view.begin(&LayerOptions::new(spill)).unwrap();
    }

    fn folder(&self) -> PathBuf {
        self.folders.path().join("folder")
    }

    fn outside(&self) -> PathBuf {
        self.folders.path().join("outside")
    }

    fn commit(&self) -> Result<Vec<String>, CommitError> {
        let committed = self.view.commit(&self.workspace, &ticket("it"))?;
        assert!(committed.not_cleaned_up.is_none());
        Ok(told(&committed.changes))
    }

    /// A layer that can't be committed, since another program was here.
    fn check_conflict(&self, path: &str, what: ConflictKind) {
        match self.view.commit(&self.workspace, &ticket("it")) {
            Err(CommitError::Conflict(conflicts)) => {
                let found = conflicts
                    .iter()
                    .any(|it| it.path == path && it.what == what);
                assert!(found, "{conflicts:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}

fn told(changes: &[Change]) -> Vec<String> {
    let told = changes.iter().map(|change| {
        let from = change.from.as_ref().map(|from| format!(" from {from}"));
        let (kind, path) = (kind(change), &change.path);
        format!("{kind} {path}{}", from.unwrap_or_default())
    });
    told.collect()
}

/// All that is in a folder, with contents and targets.
fn seen(folder: &Path) -> Vec<String> {
    let mut seen: Vec<_> = super::script::paths(folder)
        .into_iter()
        .map(|path| match fs::symlink_metadata(folder.join(&path)) {
            Ok(found) if found.is_dir() => format!("{path}/"),
            Ok(found) if found.is_symlink() => {
                let target = fs::read_link(folder.join(&path)).unwrap();
                format!("{path} -> {}", target.display())
            }
            Ok(found) if found.is_file() => {
                let text = fs::read_to_string(folder.join(&path)).unwrap();
                format!("{path}: {text}")
            }
            _ => format!("{path} is special"),
        })
        .collect();
    seen.sort();
    seen
}

fn file(directory: &Directory, path: &str, options: OpenOptions) -> crate::OpenFile {
    match directory.open(path, options).unwrap() {
        Opened::File(file) => file,
        Opened::Directory(_) => panic!("{path} is a directory"),
    }
}

fn directory(directory: &Directory, path: &str) -> Directory {
    match directory.open(path, TO_READ).unwrap() {
        Opened::Directory(directory) => directory,
        Opened::File(_) => panic!("{path} is a file"),
    }
}

fn put(directory: &Directory, path: &str, text: &str) {
    let options = OpenOptions {
        truncate: true,
        ..TO_WRITE
    };
    file(directory, path, options)
        .write_at(text.as_bytes(), 0)
        .unwrap();
}

fn text(directory: &Directory, path: &str) -> String {
    let mut bytes = [0; 1000];
    let read = file(directory, path, TO_READ).read_at(&mut bytes, 0);
    String::from_utf8(bytes[..read.unwrap()].to_vec()).unwrap()
}

fn code<T>(result: io::Result<T>) -> Option<Errno> {
    let error = result.err()?;
    Some(Errno::from_io_error(&error).unwrap_or_else(|| panic!("{error}")))
}

/// `a` with `b` in it and `f`.
fn fill(folder: &Path) {
    fs::create_dir(folder.join("a")).unwrap();
    fs::write(folder.join("a/b"), "old b").unwrap();
    fs::write(folder.join("f"), "old f").unwrap();
}

/// What is done to `a/b` and `f`, what it says that it changes, and what is there after the commit.
fn check(act: impl Fn(&Directory), changes: &[&str], after: &[&str]) {
    let place = Fixture::new(fill);
    let before = seen(&place.folder());
    act(&place.view.root());
    assert_eq!(told(&place.view.changes().unwrap()), changes);
    assert_eq!(seen(&place.folder()), before, "before the commit");
    assert_eq!(place.commit().unwrap(), changes);
    assert_eq!(seen(&place.folder()), after);
    // Who looks through the view sees the same.
    let fresh = place.workspace.view(0).unwrap();
    for line in after.iter().filter(|line| line.contains(": ")) {
        let (path, holds) = line.split_once(": ").unwrap();
        assert_eq!(text(&fresh.root(), path), holds);
    }
}

#[test]
fn what_was_moved_away_is_not_lost_when_its_name_is_taken_again() {
    // A directory made where one was moved away hides nothing of it, and shows nothing of it.
    check(
        |root| {
            root.rename("a", root, "c").unwrap();
            root.create_directory("a").unwrap();
            assert_eq!(directory(root, "a").list().unwrap().entries, []);
            assert_eq!(text(root, "c/b"), "old b");
        },
        &["created a", "renamed c from a"],
        &["a/", "c/", "c/b: old b", "f: old f"],
    );
    check(
        |root| {
            root.rename("a", root, "c").unwrap();
            root.create_directory("a").unwrap();
            root.rename("c/b", root, "a/b").unwrap();
            root.remove_directory("c").unwrap();
        },
        // A directory of the same permissions under the same name is no change, and its file is
        // where it was.
        &[],
        &["a/", "a/b: old b", "f: old f"],
    );
    check(
        |root| {
            root.rename("f", root, "g").unwrap();
            put(root, "f", "new f");
            root.rename("a", root, "f2").unwrap();
            put(root, "a", "a file");
        },
        &[
            "created a",
            "created f",
            "renamed f2 from a",
            "renamed g from f",
        ],
        &["a: a file", "f2/", "f2/b: old b", "f: new f", "g: old f"],
    );
    // Round in a circle.
    check(
        |root| {
            root.rename("f", root, "t").unwrap();
            root.rename("a/b", root, "f").unwrap();
            root.rename("t", root, "a/b").unwrap();
        },
        &["renamed a/b from f", "renamed f from a/b"],
        &["a/", "a/b: old f", "f: old b"],
    );
}

#[test]
fn what_was_written_goes_along_when_it_is_moved() {
    check(
        |root| {
            let open = file(root, "f", TO_WRITE);
            open.append(b", new").unwrap();
            root.rename("f", root, "g").unwrap();
            assert_eq!(text(root, "g"), "old f, new");
            // By who has it open, also after it was moved.
            open.append(b", more").unwrap();
            root.rename("g", root, "a/g").unwrap();
        },
        &["renamed a/g from f"],
        &["a/", "a/b: old b", "a/g: old f, new, more"],
    );
    // In a directory that is moved then.
    check(
        |root| {
            put(root, "a/b", "new b");
            root.rename("a", root, "c").unwrap();
            put(root, "c/d", "new d");
        },
        &["renamed c from a", "modified c/b from a/b", "created c/d"],
        &["c/", "c/b: new b", "c/d: new d", "f: old f"],
    );
    // Over another one, and what was written to that is gone.
    check(
        |root| {
            put(root, "a/b", "lost");
            put(root, "f", "new f");
            root.rename("f", root, "a/b").unwrap();
        },
        &["deleted a/b", "renamed a/b from f"],
        &["a/", "a/b: new f"],
    );
    // Removed and made again: the old contents don't come back.
    check(
        |root| {
            root.remove_file("f").unwrap();
            assert_eq!(code(root.open("f", TO_READ)), Some(Errno::NOENT));
            file(root, "f", TO_WRITE).append(b"x").unwrap();
            root.remove_file("a/b").unwrap();
            root.remove_directory("a").unwrap();
            root.create_directory("a").unwrap();
            assert_eq!(code(root.open("a/b", TO_READ)), Some(Errno::NOENT));
        },
        &["deleted a/b", "modified f"],
        &["a/", "f: x"],
    );
}

#[test]
fn a_change_of_only_permissions_leaves_contents_and_a_link_is_told_as_one() {
    let place = Fixture::new(fill);
    let root = place.view.root();
    root.set_mode_at("f", 0o600).unwrap();
    root.create_link("f", "link").unwrap();
    let changes = place.view.changes().unwrap();
    let kinds: Vec<_> = changes.iter().map(kind).collect();
    assert_eq!(kinds, ["mode", "link"]);
    place.commit().unwrap();
    let seen = seen(&place.folder());
    assert_eq!(seen, ["a/", "a/b: old b", "f: old f", "link -> f"]);
}
