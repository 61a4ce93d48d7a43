//! The files of the workspace, by paths that are relative to it.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use airlock_tool::{Context, Error, session};
use sha2::{Digest, Sha256};

use crate::path::{self, shown};
use crate::text::Text;

/// The largest file that is read as a whole.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// The most entries of a directory with everything in it that is moved, copied or deleted.
pub(crate) const MAX_ENTRIES: usize = 100_000;

/// The directory whose files a caller names.
pub(crate) struct Workspace {
    /// The absolute path of the directory. A relative path whose first directory is named `scratch`
    /// would lead to the plugin's own `/scratch`.
    root: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

impl Workspace {
    pub(crate) fn of_session() -> Result<Self, Error> {
        let root = session().and_then(|session| session.workspace);
        root.map(Self::at)
            .ok_or_else(|| Error::tool("This session has no workspace, so there are no files."))
    }

    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the kind of a path, or `None` if there is nothing. A link is not followed.
    pub(crate) fn kind(&self, path: &str) -> Result<Option<Kind>, Error> {
        match fs::symlink_metadata(self.root.join(path)) {
            Ok(metadata) => Ok(Some(Kind::of(metadata.file_type()))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error).with_context(|| format!("looking at `{}`", shown(path))),
        }
    }

    /// Returns the size of a file in bytes.
    pub(crate) fn size(&self, path: &str) -> Option<u64> {
        let metadata = fs::metadata(self.root.join(path)).ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Returns the target of a symbolic link, as it is written in the link.
    pub(crate) fn target(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.root.join(path)).ok()?;
        Some(shown(&target.to_string_lossy()))
    }

    /// Returns the contents of a file, through links that stay in the workspace.
    pub(crate) fn read(&self, path: &str, max: u64) -> Result<Vec<u8>, Error> {
        let context = || format!("reading `{}`", shown(path));
        let mut bytes = Vec::new();
        let file = self.open(path)?;
        file.take(max + 1)
            .read_to_end(&mut bytes)
            .with_context(context)?;
        if bytes.len() as u64 > max {
            return Err(Error::tool(format!(
                "`{}` is larger than {} MiB.",
                shown(path),
                max >> 20
            )));
        }
        Ok(bytes)
    }

    /// Opens a file to read it.
    pub(crate) fn open(&self, path: &str) -> Result<File, Error> {
        let refuse = |problem: &str| Err(Error::tool(format!("`{}` {problem}", shown(path))));
        match fs::metadata(self.root.join(path)) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(metadata) if metadata.is_dir() => return refuse("is a directory."),
            Ok(_) => return refuse("isn't a regular file."),
            Err(error) if is_missing(&error) => {
                return refuse(&format!("doesn't exist.{}", self.alike(path)));
            }
            Err(error) => return Err(error).with_context(|| format!("reading `{}`", shown(path))),
        }
        File::open(self.root.join(path)).with_context(|| format!("reading `{}`", shown(path)))
    }

    /// Returns the text of a file that may be edited.
    pub(crate) fn text(&self, path: &str) -> Result<Text, Error> {
        let text = Text::decode(self.read(path, MAX_BYTES)?);
        text.map_err(|problem| Error::tool(format!("`{}` {problem}.", shown(path))))
    }

    /// Returns a hint at a file that a caller may have meant, in front of which is a space.
    fn alike(&self, path: &str) -> String {
        let slashes = path.replace('\\', "/");
        if slashes != path && matches!(self.kind(&slashes), Ok(Some(_))) {
            return format!(" Did you mean `{}`?", shown(&slashes));
        }
        let (directory, name) = path::split(path);
        let Ok(entries) = self.list(directory) else {
            return format!(" There is no directory `{}`.", shown(directory));
        };
        let stem = |name: &str| name.split('.').next().unwrap_or_default().to_lowercase();
        let found = entries.iter().find(|(other, _)| stem(other) == stem(name));
        found.map_or_else(String::new, |(other, _)| {
            format!(" Did you mean `{}`?", shown(&path::join(directory, other)))
        })
    }

    /// Returns the names in a directory, sorted, and the kind of each. Names that are not Unicode
    /// are left out.
    pub(crate) fn list(&self, directory: &str) -> Result<Vec<(String, Kind)>, Error> {
        let read = || {
            let mut entries = Vec::new();
            for entry in fs::read_dir(self.root.join(directory))? {
                let entry = entry?;
                if let Ok(name) = entry.file_name().into_string() {
                    entries.push((name, Kind::of(entry.file_type()?)));
                }
            }
            entries.sort();
            Ok(entries)
        };
        read().map_err(|error: io::Error| match error.kind() {
            ErrorKind::NotFound => {
                Error::tool(format!("There is no directory `{}`.", shown(directory)))
            }
            ErrorKind::NotADirectory => {
                Error::tool(format!("`{}` isn't a directory.", shown(directory)))
            }
            _ => Error::failed(format!("listing `{}`: {error}", shown(directory))),
        })
    }

    /// Returns everything in a directory, each directory before what is in it.
    pub(crate) fn tree(&self, directory: &str) -> Result<Vec<(String, Kind)>, Error> {
        let mut found = Vec::new();
        let mut open = vec![directory.to_owned()];
        while let Some(directory) = open.pop() {
            for (name, kind) in self.list(&directory)? {
                let path = path::join(&directory, &name);
                if kind == Kind::Directory {
                    open.push(path.clone());
                }
                found.push((path, kind));
            }
            if found.len() > MAX_ENTRIES {
                return Err(Error::tool(format!(
                    "There are more than {MAX_ENTRIES} files in it: name a part of it."
                )));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Returns an error if a path can't be changed, because it is a link or leads through one.
    pub(crate) fn check_changeable(&self, path: &str) -> Result<(), Error> {
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()]);
        for part in ends.map(|end| &path[..end]) {
            match self.kind(part)? {
                Some(Kind::Link) => {
                    let target = self.target(part).unwrap_or_default();
                    return Err(Error::tool(format!(
                        "`{}` is a symbolic link to `{target}`: name the file that it leads to.",
                        shown(part)
                    )));
                }
                Some(Kind::File) if part != path => {
                    return Err(Error::tool(format!("`{}` isn't a directory.", shown(part))));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns a digest of what is at a path: contents of files, names in directories. Returns
    /// `None` if there is nothing.
    pub(crate) fn digest(&self, path: &str) -> Result<Option<String>, Error> {
        let Some(kind) = self.kind(path)? else {
            return Ok(None);
        };
        let mut digest = Sha256::new();
        match kind {
            Kind::File => self.digest_file(path, &mut digest)?,
            Kind::Directory => {
                for (path, kind) in self.tree(path)? {
                    digest.update(format!("{kind:?} {path}\0"));
                    if kind == Kind::File {
                        digest.update(self.stamp(&path));
                    }
                }
            }
            Kind::Link => digest.update(self.target(path).unwrap_or_default()),
            Kind::Other => {}
        }
        Ok(Some(format!("{kind:?}:{}", hex(&digest.finalize()))))
    }

    /// Adds a file to a digest: its contents, or the properties of a file that is too large.
    fn digest_file(&self, path: &str, digest: &mut Sha256) -> Result<(), Error> {
        if self.size(path).is_some_and(|size| size > MAX_BYTES) {
            digest.update(self.stamp(path));
            return Ok(());
        }
        digest.update(self.read(path, MAX_BYTES)?);
        Ok(())
    }

    /// Returns the size of a file and the time of its last change.
    fn stamp(&self, path: &str) -> String {
        let metadata = fs::symlink_metadata(self.root.join(path)).ok();
        let modified = metadata.as_ref().and_then(|it| it.modified().ok());
        let since = modified.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let nanoseconds = since.map_or(0, |it| it.as_nanos());
        format!("{} {nanoseconds}\0", metadata.map_or(0, |it| it.len()))
    }

    pub(crate) fn write(&self, path: &str, contents: &[u8]) -> Result<(), Error> {
        self.make_parents(path)?;
        fs::write(self.root.join(path), contents)
            .with_context(|| format!("writing `{}`", shown(path)))
    }

    /// Renames a file or directory.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.make_parents(to)?;
        fs::rename(self.root.join(from), self.root.join(to))
            .with_context(|| format!("moving `{}` to `{}`", shown(from), shown(to)))
    }

    /// Copies a file.
    pub(crate) fn copy(&self, from: &str, to: &str) -> Result<(), Error> {
        self.make_parents(to)?;
        fs::copy(self.root.join(from), self.root.join(to))
            .map(drop)
            .with_context(|| format!("copying `{}` to `{}`", shown(from), shown(to)))
    }

    /// Removes a file, a link, or a directory with everything in it.
    pub(crate) fn remove(&self, path: &str) -> Result<(), Error> {
        let full = self.root.join(path);
        let removed = match self.kind(path)? {
            Some(Kind::Directory) => fs::remove_dir_all(full),
            _ => fs::remove_file(full),
        };
        removed.with_context(|| format!("deleting `{}`", shown(path)))
    }

    pub(crate) fn make_directory(&self, path: &str) -> Result<(), Error> {
        fs::create_dir_all(self.root.join(path))
            .with_context(|| format!("making the directory `{}`", shown(path)))
    }

    fn make_parents(&self, path: &str) -> Result<(), Error> {
        match path::split(path).0 {
            "" => Ok(()),
            directory => self.make_directory(directory),
        }
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
}

/// Returns the digest that [`Workspace::digest`] returns for a file with these contents.
pub(crate) fn digest_of(contents: &[u8]) -> String {
    format!("{:?}:{}", Kind::File, hex(&Sha256::digest(contents)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
pub(crate) mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A workspace of real files.
    pub(crate) struct Sandbox(TempDir);

    impl Sandbox {
        pub(crate) fn with(files: &[(&str, &str)]) -> Self {
            let sandbox = Self(TempDir::new().unwrap());
            for (path, contents) in files {
                sandbox
                    .workspace()
                    .write(path, contents.as_bytes())
                    .unwrap();
            }
            sandbox
        }

        pub(crate) fn workspace(&self) -> Workspace {
            Workspace::at(self.0.path().to_owned())
        }

        pub(crate) fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        #[cfg(unix)]
        pub(crate) fn link(&self, target: &str, path: &str) {
            std::os::unix::fs::symlink(target, self.path(path)).unwrap();
        }

        pub(crate) fn read(&self, path: &str) -> String {
            fs::read_to_string(self.path(path)).unwrap()
        }

        /// The paths of everything, directories with a slash, sorted.
        pub(crate) fn paths(&self) -> Vec<String> {
            let slash = |(path, kind)| match kind {
                Kind::Directory => format!("{path}/"),
                _ => path,
            };
            let tree = self.workspace().tree("").unwrap();
            tree.into_iter().map(slash).collect()
        }
    }

    fn problem<T>(result: Result<T, Error>) -> String {
        result.map(drop).unwrap_err().to_string()
    }

    #[test]
    fn what_is_at_a_path_has_a_digest() {
        let sandbox = Sandbox::with(&[("a", "1"), ("b", "1"), ("d/c", "2")]);
        let digest = |path: &str| sandbox.workspace().digest(path).unwrap();
        assert_eq!(digest("x"), None);
        assert_eq!(digest("a"), digest("b"));
        assert_eq!(digest("a"), Some(digest_of(b"1")));
        assert_ne!(digest("d/c"), digest("a"));
        let before = digest("d");
        fs::write(sandbox.path("d/e"), "").unwrap();
        assert_ne!(digest("d"), before);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_with_advice() {
        let sandbox = Sandbox::with(&[("src/Main.rs", ""), ("d/a", "")]);
        let read = |path: &str| problem(sandbox.workspace().read(path, 10));
        assert_eq!(
            read("src/main.rs"),
            "`src/main.rs` doesn't exist. Did you mean `src/Main.rs`?"
        );
        assert_eq!(
            read("lib/a"),
            "`lib/a` doesn't exist. There is no directory `lib`."
        );
        assert_eq!(read("d\\a"), "`d\\a` doesn't exist. Did you mean `d/a`?");
        assert_eq!(read("d"), "`d` is a directory.");
        sandbox.workspace().write("long", &[b'a'; 11]).unwrap();
        assert_eq!(read("long"), "`long` is larger than 0 MiB.");
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_read_but_not_changed() {
        let sandbox = Sandbox::with(&[("real/a", "1")]);
        sandbox.link("real", "dir");
        sandbox.link("real/a", "link");
        let workspace = sandbox.workspace();
        assert_eq!(workspace.read("link", 10).unwrap(), b"1");
        let refused = problem(workspace.check_changeable("dir/a"));
        assert_eq!(
            refused,
            "`dir` is a symbolic link to `real`: name the file that it leads to."
        );
        assert!(workspace.check_changeable("link").is_err());
        assert!(workspace.check_changeable("real/new/b").is_ok());
        assert_eq!(
            problem(workspace.check_changeable("real/a/b")),
            "`real/a` isn't a directory."
        );
    }
}
