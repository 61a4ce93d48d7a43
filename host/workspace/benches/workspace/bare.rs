//! A commit as a careful program would write it by hand, with nothing but system calls, for the
//! same guarantee: all of it or nothing, whatever crashes meanwhile, and nothing is overwritten
//! that has changed since it was read.
//!
//! 1. `fstatat` of each file that is changed: is it still what was read?
//! 2. A folder for what is new; each new content is written to a file in it.
//! 3. The files are synced, one by one or by one `syncfs` ([`SYNC_ALL`]), and so is their folder.
//! 4. The journal, a line for each rename, is written under another name, synced, renamed, and its
//!    folder synced. From here on a crash is recovered by doing the renames.
//! 5. Each file is renamed into its place.
//! 6. The directories are synced, one by one or by one `syncfs`.
//! 7. The journal is removed, its folder synced, and then removed as well.
//!
//! Parents are kept open while the next file has the same. What it doesn't do, and the crate does:
//! say what is changed, with digests of before and after; keep a file's owner, permissions and
//! extended attributes; note the commit's id so that none is done twice, and the note of its user;
//! check after each rename that it has moved what it was meant to; park what it replaces until all
//! is done, to be able to go back; hold a lock; make its journal impossible to forge.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;

use rustix::fs::{AtFlags, Mode, OFlags};

/// From how many on one `syncfs` is taken, as the crate does.
const SYNC_ALL: usize = 16;

/// One change.
pub enum Change {
    /// New contents for a file that is there, with its inode and size.
    Modified(String, Vec<u8>, (u64, i64)),
    /// A new file.
    Created(String, Vec<u8>),
    /// A file gets another name; its inode and size.
    Renamed(String, String, (u64, i64)),
}

pub fn commit(root: &File, changes: &[Change]) {
    let mut parents = Parents::new(root);
    for change in changes {
        if let Change::Modified(path, _, seen) | Change::Renamed(path, _, seen) = change {
            assert_eq!(&parents.look(path), seen, "{path} has changed");
        }
    }
    rustix::fs::mkdirat(root, ".commit", Mode::from_raw_mode(0o700)).unwrap();
    let folder = directory(root, ".commit");
    let (mut journal, mut files) = (String::new(), Vec::new());
    for (number, change) in changes.iter().enumerate() {
        match change {
            Change::Modified(path, contents, _) | Change::Created(path, contents) => {
                let mut file = create(&folder, &number.to_string());
                file.write_all(contents).unwrap();
                files.push(file);
                if files.len() == SYNC_ALL {
                    files.clear();
                }
                let _ = writeln!(journal, "{number} {path}");
            }
            Change::Renamed(from, to, (inode, _)) => {
                let _ = writeln!(journal, "{inode} {from} {to}");
            }
        }
    }
    let staged = changes.iter();
    let staged = staged.filter(|change| !matches!(change, Change::Renamed(..)));
    if staged.count() >= SYNC_ALL {
        rustix::fs::syncfs(&folder).unwrap()
    } else {
        for file in &files {
            file.sync_all().unwrap();
        }
        folder.sync_all().unwrap();
        root.sync_all().unwrap();
    }
    let mut new = create(&folder, "journal.new");
    new.write_all(journal.as_bytes()).unwrap();
    new.sync_all().unwrap();
    rustix::fs::renameat(&folder, "journal.new", &folder, "journal").unwrap();
    folder.sync_all().unwrap();

    let mut touched = BTreeSet::new();
    for (number, change) in changes.iter().enumerate() {
        match change {
            Change::Modified(path, ..) | Change::Created(path, _) => {
                let (parent, name) = parents.of(path);
                rustix::fs::renameat(&folder, number.to_string(), parent, name).unwrap();
                touched.insert(split(path).0);
            }
            Change::Renamed(from, to, _) => {
                let (parent, name) = parents.of(from);
                // Into the same directory, as all that is measured.
                rustix::fs::renameat(parent, name, parent, split(to).1).unwrap();
                touched.insert(split(from).0);
            }
        }
    }
    if touched.len() >= SYNC_ALL {
        rustix::fs::syncfs(root).unwrap()
    } else {
        for path in touched {
            directory(root, path).sync_all().unwrap();
        }
    }
    rustix::fs::unlinkat(&folder, "journal", AtFlags::empty()).unwrap();
    folder.sync_all().unwrap();
    rustix::fs::unlinkat(root, ".commit", AtFlags::REMOVEDIR).unwrap();
}

/// What a name stands for: inode and size.
pub fn look(root: &File, path: &str) -> (u64, i64) {
    Parents::new(root).look(path)
}

fn create(folder: &File, name: &str) -> File {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o644);
    rustix::fs::openat(folder, name, flags, mode)
        .unwrap()
        .into()
}

fn directory(root: &File, path: &str) -> File {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(root, path, flags, Mode::empty());
    opened.unwrap().into()
}

/// The directory that was used last.
struct Parents<'a> {
    root: &'a File,
    last: Option<(String, File)>,
}

impl<'a> Parents<'a> {
    fn new(root: &'a File) -> Self {
        Self { root, last: None }
    }

    fn of<'p>(&mut self, path: &'p str) -> (&File, &'p str) {
        let (parent, name) = split(path);
        let last = self.last.take().filter(|(known, _)| known == parent);
        let last = last.unwrap_or_else(|| (parent.to_owned(), directory(self.root, parent)));
        (&self.last.insert(last).1, name)
    }

    fn look(&mut self, path: &str) -> (u64, i64) {
        let (parent, name) = self.of(path);
        let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).unwrap();
        (stat.st_ino, stat.st_size)
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap()
}
