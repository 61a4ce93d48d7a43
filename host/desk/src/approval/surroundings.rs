//! The folder on disk that the rules ask about.

use std::cell::{Cell, OnceCell};
use std::env;
use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use airlock_host::effects::ObjectKind;
use airlock_rules::{Entry, Inside, Led, Links, OfGit, Surroundings};

use super::git::{of_git, real, repository};

/// The maximum number of objects inspected in the directories that an action moves or links to.
const MOST_INSIDE: usize = 20_000;

/// The maximum number of objects among which links are searched for.
const MOST_IN_ALL: usize = 1_000_000;

/// A folder on this machine. Links are read at once, everything else when the rules ask.
pub struct Folder {
    root: PathBuf,
    above: String,
    links: Links,
    /// Directories that git may take for repositories.
    repositories: Vec<PathBuf>,
    of_git: OnceCell<OfGit>,
    /// The number of objects inside directories that may still be inspected.
    room: Cell<usize>,
}

impl Folder {
    /// Creates the folder and finds its links, which takes as long as listing all of it.
    pub fn at(root: &Path) -> Self {
        let (links, repositories) = links(root, MOST_IN_ALL);
        Self {
            root: root.to_owned(),
            above: above(root, env::var_os("HOME").as_deref().map(Path::new)),
            links,
            repositories,
            of_git: OnceCell::new(),
            room: Cell::new(MOST_INSIDE),
        }
    }
}

impl Surroundings for Folder {
    fn inside(&self, directory: &str) -> Inside {
        let mut inside = Inside::default();
        let mut room = self.room.get();
        let directory = self.root.join(directory);
        let seen = walk(&directory, &mut room, |path, entry, object| {
            let executable = object == ObjectKind::File && is_executable(entry);
            inside.entries.push(Entry {
                path,
                object,
                executable,
            });
        });
        inside.is_all = seen == Seen::All;
        self.room.set(room);
        inside
    }

    fn links(&self) -> &Links {
        &self.links
    }

    fn led(&self, outside: &Path) -> Led {
        let path = real(outside);
        match path.strip_prefix(real(&self.root)) {
            Ok(below) => Led::Inside(below.to_string_lossy().into_owned()),
            Err(_) => Led::Outside(path),
        }
    }

    fn of_git(&self) -> &OfGit {
        let asking = || of_git(&self.root, &self.repositories);
        self.of_git.get_or_init(asking)
    }

    fn has(&self, path: &str) -> bool {
        fs::symlink_metadata(self.root.join(path)).is_ok()
    }

    fn above(&self) -> &str {
        &self.above
    }
}

/// Returns true if the file is executable, or if its mode can't be read.
fn is_executable(entry: &DirEntry) -> bool {
    let mode = entry.metadata().map(|it| it.permissions().mode());
    mode.map_or(true, |mode| mode & 0o111 != 0)
}

/// Returns a folder's path below the top of its repository, else below the user's home, else below
/// the root.
fn above(root: &Path, home: Option<&Path>) -> String {
    let is_top = |folder: &&Path| fs::symlink_metadata(folder.join(".git")).is_ok();
    let top = root.ancestors().find(is_top).or(home);
    let below = top.and_then(|top| root.strip_prefix(top).ok());
    let below = below.unwrap_or(root).to_string_lossy();
    below.trim_start_matches('/').to_owned()
}

/// Returns the links in a folder, and the repositories in it.
fn links(root: &Path, most: usize) -> (Links, Vec<PathBuf>) {
    let mut links = Links::default();
    let mut repositories = Vec::new();
    let mut room = most;
    let seen = walk(root, &mut room, |path, entry, object| {
        repositories.extend(repository(&path).map(PathBuf::from));
        if object != ObjectKind::Link {
            return;
        }
        // A link that can't be read may lead anywhere.
        let target = fs::read_link(entry.path()).unwrap_or_else(|_| "/".into());
        links
            .links
            .push((path, target.to_string_lossy().into_owned()));
    });
    // Links in directories that this user can't read don't matter to this user's programs.
    links.is_all = seen != Seen::UpTo;
    repositories.sort();
    repositories.dedup();
    (links, repositories)
}

/// The part of a directory that was searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    All,
    /// Everything but directories that can't be read.
    Readable,
    /// The part that the limit allows.
    UpTo,
}

/// Calls `found` with the contents of a directory, at any depth, by paths relative to it. Doesn't
/// follow links. Anything but a directory is empty.
fn walk(
    directory: &Path,
    room: &mut usize,
    mut found: impl FnMut(String, &DirEntry, ObjectKind),
) -> Seen {
    let mut seen = Seen::All;
    let mut ahead = vec![String::new()];
    while let Some(below) = ahead.pop() {
        let entries = match directory.join(&below).read_dir() {
            Ok(entries) => entries,
            Err(error) => {
                let is_gone =
                    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
                if !is_gone {
                    seen = Seen::Readable;
                }
                continue;
            }
        };
        for entry in entries {
            let (Ok(entry), true) = (entry, *room > 0) else {
                return Seen::UpTo;
            };
            *room -= 1;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = match below.as_str() {
                "" => name.into_owned(),
                below => format!("{below}/{name}"),
            };
            let object = match entry.file_type() {
                Ok(it) if it.is_dir() => ObjectKind::Directory,
                Ok(it) if it.is_symlink() => ObjectKind::Link,
                Ok(it) if it.is_file() => ObjectKind::File,
                _ => ObjectKind::Special,
            };
            if object == ObjectKind::Directory {
                ahead.push(path.clone());
            }
            found(path, &entry, object);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn place() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("x/y/.git/hooks")).unwrap();
        fs::write(at("x/y/.git/hooks/pre-commit"), "").unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        fs::write(at("elsewhere/a"), "").unwrap();
        symlink("../elsewhere", at("x/link")).unwrap();
        folder
    }

    #[test]
    fn all_that_is_in_a_directory_is_found_and_no_link_is_followed() {
        let folder = place();
        let it = Folder::at(folder.path());
        let mut inside = it.inside("x");
        inside.entries.sort_by(|a, b| a.path.cmp(&b.path));
        let paths: Vec<_> = inside.entries.iter().map(|it| &*it.path).collect();
        let expected = [
            "link",
            "y",
            "y/.git",
            "y/.git/hooks",
            "y/.git/hooks/pre-commit",
        ];
        assert_eq!(paths, expected);
        assert!(inside.is_all);
        assert_eq!(inside.entries[0].object, ObjectKind::Link);
        for nothing in ["gone", "elsewhere/a"] {
            let inside = it.inside(nothing);
            assert!(inside.is_all && inside.entries.is_empty(), "{nothing}");
        }
        it.room.set(3);
        let cut = it.inside("x");
        assert!(!cut.is_all && cut.entries.len() == 3);
        let link = ("x/link".to_owned(), "../elsewhere".to_owned());
        assert_eq!(it.links().links, [link]);
        assert!(it.links().is_all);
        assert!(!links(folder.path(), 3).0.is_all);
        assert_eq!(it.repositories, [Path::new("x/y")]);
        assert!(it.has("x/link") && it.has("elsewhere/a") && !it.has("a"));
    }

    #[test]
    fn a_folder_lies_below_its_repository_or_its_users_home() {
        let folder = place();
        let at = |path: &str| folder.path().join(path);
        let home = Some(folder.path());
        assert_eq!(above(&at("x/y/.git/hooks"), home), ".git/hooks");
        assert_eq!(above(&at("x/y"), home), "");
        assert_eq!(above(&at("elsewhere"), home), "elsewhere");
        let root = at("elsewhere").to_string_lossy().into_owned();
        assert_eq!(above(&at("elsewhere"), None), root.trim_start_matches('/'));
    }
}
