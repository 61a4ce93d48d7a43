//! The files of the workspace, by paths that are relative to it.

use std::fmt::{self, Display};
use std::fs::{self, FileType, Metadata};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use airlock_tool::{Context, Error, session};
use serde::{Deserialize, Serialize};

use crate::form;
use crate::name::shown;

/// The directory whose files are renamed.
pub(crate) struct Workspace {
    /// The absolute path of the directory. A relative path whose first directory is named `scratch`
    /// would lead to the plugin's own `/scratch`.
    root: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    File,
    Link,
    Directory,
    Other,
}

/// Properties of a file that can be found out without reading it, and survive a rename.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) kind: Kind,
    size: u64,
    /// Nanoseconds since 1970, if the file system knows.
    modified: Option<u64>,
}

impl Workspace {
    pub(crate) fn of_session() -> Result<Self, Error> {
        let root = session().and_then(|session| session.workspace);
        root.map(Self::at).ok_or_else(|| {
            Error::tool("This session has no workspace, so there are no files to rename.")
        })
    }

    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the stamp of a path, or `None` if there is nothing. A link is not followed.
    pub(crate) fn stamp(&self, path: &str) -> Result<Option<Stamp>, Error> {
        match fs::symlink_metadata(self.root.join(path)) {
            Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error).with_context(|| format!("looking at `{}`", shown(path))),
        }
    }

    /// Returns the names in a directory, and the kind of each. The empty path is the workspace.
    pub(crate) fn list(&self, directory: &str) -> Result<Vec<(String, Kind)>, Error> {
        let read = || {
            let named = |entry: fs::DirEntry| {
                let name = entry.file_name().into_string();
                Ok((
                    name.map_err(|_| io::Error::other("a name is not UTF-8"))?,
                    Kind::of(entry.file_type()?),
                ))
            };
            fs::read_dir(self.root.join(directory))?
                .map(|entry| named(entry?))
                .collect::<io::Result<_>>()
        };
        read().with_context(|| match directory {
            "" => "listing the workspace".to_owned(),
            _ => format!("listing `{}`", shown(directory)),
        })
    }

    /// Checks if renaming `from` to `to` would overwrite something.
    pub(crate) fn is_taken(&self, from: &str, to: &str) -> Result<bool, Error> {
        if self.stamp(to)?.is_none() {
            return Ok(false);
        }
        if !form::may_be_one(from, to) {
            return Ok(true);
        }
        let listed = self.list(split(to).0)?;
        Ok(is_listed(to, &listed))
    }

    /// Renames a file unless that would overwrite another.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        let rename = || -> Result<(), Error> {
            // WASI's rename overwrites. A file may still appear between the check and the rename,
            // but there is no better way.
            if self.is_taken(from, to)? {
                return Err(Error::failed("the new name is taken"));
            }
            Ok(fs::rename(self.root.join(from), self.root.join(to))?)
        };
        rename().with_context(|| format!("renaming `{}` to `{}`", shown(from), shown(to)))
    }
}

impl Kind {
    fn of(file_type: FileType) -> Self {
        match file_type {
            it if it.is_file() => Self::File,
            it if it.is_symlink() => Self::Link,
            it if it.is_dir() => Self::Directory,
            _ => Self::Other,
        }
    }

    pub(crate) fn can_be_renamed(self) -> bool {
        matches!(self, Self::File | Self::Link | Self::Directory)
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Link => "a symbolic link",
            Self::Directory => "a directory",
            Self::Other => "a special file",
        })
    }
}

impl Stamp {
    /// Returns a stamp of which only the kind is known.
    pub(crate) fn of_kind(kind: Kind) -> Self {
        Self {
            kind,
            size: 0,
            modified: None,
        }
    }

    fn of(metadata: &Metadata) -> Self {
        let since = metadata
            .modified()
            .ok()
            .and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
        let modified = since.and_then(|since| since.as_nanos().try_into().ok());
        Self {
            kind: Kind::of(metadata.file_type()),
            size: metadata.len(),
            modified,
        }
    }
}

/// Checks if the file at `path` really has that name. If the file system ignores case or Unicode
/// forms, `A.txt` exists because `a.txt` does, and only a listing of the directory shows the name.
fn is_listed(path: &str, listed: &[(String, Kind)]) -> bool {
    listed.iter().any(|(name, _)| name == split(path).1)
}

/// Returns a path's directory, empty for the workspace itself, and its name.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the path of a name in a directory, which is empty for the workspace itself.
pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
pub(crate) mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A workspace of real files, each of which contains the path that it was made with.
    pub(crate) struct Sandbox(TempDir);

    impl Sandbox {
        pub(crate) fn with(files: &[&str]) -> Self {
            let sandbox = Self(TempDir::new().unwrap());
            for file in files {
                let path = sandbox.0.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, file).unwrap();
            }
            sandbox
        }

        pub(crate) fn workspace(&self) -> Workspace {
            Workspace::at(self.0.path().to_owned())
        }

        #[cfg(unix)]
        pub(crate) fn link(&self, target: &str, path: &str) {
            std::os::unix::fs::symlink(target, self.0.path().join(path)).unwrap();
        }

        pub(crate) fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        /// The files at the root, each as `name:content`, sorted.
        pub(crate) fn files(&self) -> Vec<String> {
            let entries = fs::read_dir(self.0.path())
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let show = |path: PathBuf| {
                let content = fs::read_to_string(&path).unwrap();
                format!("{}:{content}", path.file_name().unwrap().display())
            };
            let mut files: Vec<_> = entries.map(show).collect();
            files.sort();
            files
        }

        /// All files, each as `path:content`, sorted.
        pub(crate) fn tree(&self) -> Vec<String> {
            let mut files = Vec::new();
            let mut open = vec![String::new()];
            while let Some(directory) = open.pop() {
                for (name, kind) in self.workspace().list(&directory).unwrap() {
                    let path = join(&directory, &name);
                    match kind {
                        Kind::Directory => open.push(path),
                        _ => files.push(format!(
                            "{path}:{}",
                            fs::read_to_string(self.path(&path)).unwrap()
                        )),
                    }
                }
            }
            files.sort();
            files
        }
    }

    #[test]
    fn only_a_name_that_is_really_there_is_taken() {
        let sandbox = Sandbox::with(&["a.txt", "B.txt", "b.txt"]);
        let check = |from, to, expected| {
            assert_eq!(
                sandbox.workspace().is_taken(from, to),
                Ok(expected),
                "{from} {to}"
            )
        };
        check("a.txt", "c.txt", false);
        check("a.txt", "b.txt", true);
        check("a.txt", "A.txt", false);
        check("b.txt", "B.txt", true);
        check("a.txt", "a.txt/x", false);
    }

    #[test]
    fn on_a_file_system_that_ignores_case_a_file_is_not_in_its_own_way() {
        let listed = ["d", "A.txt", "e\u{301}"].map(|name| (name.to_owned(), Kind::File));
        assert!(!is_listed("x/a.txt", &listed));
        assert!(!is_listed("x/\u{e9}", &listed));
        assert!(is_listed("x/A.txt", &listed));
    }

    #[test]
    fn a_rename_overwrites_nothing() {
        let sandbox = Sandbox::with(&["a", "b"]);
        let refused = sandbox.workspace().rename("a", "b");
        assert_eq!(
            refused,
            Err(Error::failed("renaming `a` to `b`: the new name is taken"))
        );
        assert_eq!(sandbox.workspace().rename("a", "c"), Ok(()));
        assert_eq!(sandbox.files(), ["b:b", "c:a"]);
    }
}
