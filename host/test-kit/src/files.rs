//! The files of a workspace: the initial ones of a try, and the changes to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

/// Size limits of a fixture, which is copied for each try.
const MAX_BYTES: u64 = 64 << 20;
const MAX_ENTRIES: usize = 10_000;

/// An object at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file's contents. They are shared, because a workspace is copied for each try.
    File(Arc<[u8]>),
    /// A folder, possibly empty.
    Folder,
    /// A symbolic link with its target.
    Link(PathBuf),
}

/// The contents of a workspace by path. Paths are relative and separated by `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<String, Entry>);

/// The reason why a folder can't be a fixture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// An object in the folder can't be read.
    #[error("can't read {}: {source}", .path.display())]
    Read {
        /// The object's path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The folder contains a pipe, a socket or a device.
    #[error("{} is neither a file nor a folder nor a symbolic link", .0.display())]
    Special(PathBuf),
    /// The folder contains a name that is not UTF-8.
    #[error("the name of {} is not UTF-8", .0.display())]
    Name(PathBuf),
    /// The folder is too large to copy for each try.
    #[error("{} holds more than {} MiB, or more than {MAX_ENTRIES} files", .0.display(), MAX_BYTES >> 20)]
    TooLarge(PathBuf),
}

impl Files {
    /// Reads a folder recursively. Links are not followed.
    ///
    /// # Errors
    /// If an object can't be read or copied, or the folder is too large.
    pub(crate) fn read(folder: &Path) -> Result<Self, FolderError> {
        let mut files = Self::default();
        let mut bytes = 0;
        files.read_folder(folder, folder, "", &mut bytes)?;
        Ok(files)
    }

    fn read_folder(
        &mut self,
        root: &Path,
        folder: &Path,
        below: &str,
        bytes: &mut u64,
    ) -> Result<(), FolderError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| FolderError::Read { path, source }
        };
        for entry in fs::read_dir(folder).map_err(failed(folder))? {
            let path = entry.map_err(failed(folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.ok_or_else(|| FolderError::Name(path.clone()))?;
            // The host's commit data is not the tool's work.
            if below.is_empty() && name == airlock_host::PRIVATE_FOLDER {
                continue;
            }
            let name = format!("{below}{name}");
            let metadata = fs::symlink_metadata(&path).map_err(failed(&path))?;
            *bytes += metadata.len();
            if *bytes > MAX_BYTES || self.0.len() >= MAX_ENTRIES {
                return Err(FolderError::TooLarge(root.to_owned()));
            }
            if metadata.is_dir() {
                self.0.insert(name.clone(), Entry::Folder);
                self.read_folder(root, &path, &format!("{name}/"), bytes)?;
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).map_err(failed(&path))?;
                self.0.insert(name, Entry::Link(target));
            } else if metadata.is_file() {
                let contents = fs::read(&path).map_err(failed(&path))?;
                self.0.insert(name, Entry::File(contents.into()));
            } else {
                return Err(FolderError::Special(path));
            }
        }
        Ok(())
    }

    /// Adds a file and the folders above it.
    pub(crate) fn add_file(&mut self, path: &str, contents: impl AsRef<[u8]>) {
        for (end, _) in path.match_indices('/') {
            self.0
                .entry(path[..end].to_owned())
                .or_insert(Entry::Folder);
        }
        self.0
            .insert(path.to_owned(), Entry::File(contents.as_ref().into()));
    }

    /// Adds an empty top-level folder.
    pub(crate) fn add_folder(&mut self, name: &str) {
        self.0.insert(name.to_owned(), Entry::Folder);
    }

    /// Returns a path that conflicts with a file at `path`: a parent that is not a folder, or a
    /// folder at the path itself.
    pub(crate) fn in_the_way_of<'a>(&self, path: &'a str) -> Option<&'a str> {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        let is_folder = |path: &str| self.0.get(path).map(|entry| *entry == Entry::Folder);
        folders
            .into_iter()
            .find(|folder| is_folder(folder) == Some(false))
            .or_else(|| (is_folder(path) == Some(true)).then_some(path))
    }

    /// Returns all entries, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.0.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a copy without a path and everything below it.
    pub(crate) fn without(&self, path: &str) -> Self {
        let inside = format!("{path}/");
        let kept = self
            .0
            .iter()
            .filter(|(other, _)| *other != path && !other.starts_with(&inside));
        Self(
            kept.map(|(path, entry)| (path.clone(), entry.clone()))
                .collect(),
        )
    }

    /// Returns a copy with other contents of one file.
    pub(crate) fn with_contents(&self, path: &str, contents: &[u8]) -> Self {
        let mut files = self.clone();
        files
            .0
            .insert(path.to_owned(), Entry::File(contents.into()));
        files
    }

    /// Writes these files to a temporary folder, which is removed when the returned value is
    /// dropped.
    ///
    /// # Errors
    /// System errors.
    pub(crate) fn lay_out(&self) -> io::Result<TempDir> {
        let folder = tempfile::Builder::new().prefix("airlock-test-").tempdir()?;
        for (path, entry) in &self.0 {
            let path = folder.path().join(path);
            match entry {
                Entry::Folder => fs::create_dir(path)?,
                Entry::File(contents) => fs::write(path, contents)?,
                Entry::Link(target) => link(target, &path)?,
            }
        }
        Ok(folder)
    }

    /// Returns the differences between these files and `after`.
    pub(crate) fn changes(&self, after: &Files) -> Changes {
        let paths: BTreeSet<&String> = self.0.keys().chain(after.0.keys()).collect();
        let changed = paths.into_iter().filter_map(|path| {
            let (before, after) = (self.0.get(path), after.0.get(path));
            let change = Change {
                before: before.cloned(),
                after: after.cloned(),
            };
            (before != after).then(|| (path.clone(), change))
        });
        Changes(changed.collect())
    }
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &Path, path: &Path) -> io::Result<()> {
    let message = format!("{}: no symbolic links on this system", path.display());
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

/// A change at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub before: Option<Entry>,
    pub after: Option<Entry>,
}

/// The differences between two states of a workspace, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes(pub BTreeMap<String, Change>);

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Describes each change in one line, such as `changed a.txt: "old" became "new"`.
    pub fn describe(&self) -> String {
        if self.is_empty() {
            return "nothing changed".to_owned();
        }
        let lines = self.0.iter().map(|(path, change)| match change {
            Change {
                before: None,
                after: Some(after),
            } => format!("created {path}: {}", describe(after)),
            Change {
                before: Some(_),
                after: None,
            } => format!("removed {path}"),
            Change {
                before: Some(before),
                after: Some(after),
            } => format!(
                "changed {path}: {} became {}",
                describe(before),
                describe(after)
            ),
            Change {
                before: None,
                after: None,
            } => path.clone(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Maximum length of displayed file contents, in characters.
const MAX_CONTENTS_CHARS: usize = 120;

pub fn describe(entry: &Entry) -> String {
    match entry {
        Entry::Folder => "a folder".to_owned(),
        Entry::Link(target) => format!("a link to {}", target.display()),
        Entry::File(contents) => match std::str::from_utf8(contents) {
            Ok(text) if text.chars().count() <= MAX_CONTENTS_CHARS => format!("{text:?}"),
            Ok(text) => {
                let start: String = text.chars().take(MAX_CONTENTS_CHARS).collect();
                format!("{start:?}… ({} bytes)", contents.len())
            }
            Err(_) => format!("{} bytes that are not text", contents.len()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> Files {
        let mut files = Files::default();
        for (path, contents) in entries {
            files.add_file(path, *contents);
        }
        files
    }

    #[test]
    fn what_is_laid_out_is_read_back() {
        let mut before = files(&[("a.txt", "one"), ("deep/down/b.txt", "two")]);
        before.0.insert("empty".to_owned(), Entry::Folder);
        before
            .0
            .insert("link".to_owned(), Entry::Link("a.txt".into()));
        let folder = before.lay_out().unwrap();
        assert_eq!(Files::read(folder.path()).unwrap(), before);
    }

    #[test]
    fn changes_are_named_one_by_one() {
        let before = files(&[("same", "s"), ("old", "o"), ("edited", "1")]);
        let after = files(&[("same", "s"), ("new", "n"), ("edited", "2")]);
        let expected = "changed edited: \"1\" became \"2\"\ncreated new: \"n\"\nremoved old";
        assert_eq!(before.changes(&after).describe(), expected);
        assert_eq!(before.changes(&before).describe(), "nothing changed");
    }

    #[test]
    fn a_folder_goes_with_what_is_in_it() {
        let before = files(&[("a/b", ""), ("a/c/d", ""), ("ab", "")]);
        assert_eq!(before.without("a"), files(&[("ab", "")]));
    }

    #[test]
    fn what_can_not_be_copied_is_refused() {
        let folder = TempDir::new().unwrap();
        let pipe = folder.path().join("socket");
        let _listening = std::os::unix::net::UnixListener::bind(&pipe).unwrap();
        let error = Files::read(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("socket is neither a file nor a folder nor a symbolic link"));
        let missing = folder.path().join("missing");
        assert!(matches!(
            Files::read(&missing),
            Err(FolderError::Read { .. })
        ));
    }
}
