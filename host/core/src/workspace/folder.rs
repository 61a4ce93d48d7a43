//! The workspace for native producers: a type for reading and a type for changing it, both on top
//! of the view that guests have.
//!
//! They stay in the directory that existed when the session was opened, wherever its path leads
//! later, and never leave it. Changes go to a layer, which is committed after the call has
//! succeeded, or never.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use airlock_model::error::Error;
use airlock_model::identity::Machine;
use airlock_model::regular::not_regular;
use airlock_workspace::{
    Directory, Kind, Metadata, OpenFile, OpenOptions, Opened, RestoreError, Restored, View,
    Workspace,
};

use super::WorkspaceFolder;

/// Read access to the workspace. Paths are relative to it, a link at the end of a path is not
/// followed, and no link leads out of the workspace. Cloning is cheap, for use on other threads.
#[derive(Clone)]
pub struct ReadableFolder {
    view: View,
    path: PathBuf,
}

/// Read and write access to the workspace. Only this value and its clones see the changes until the
/// host commits them, after the call has succeeded. After the end of the call, each change fails
/// with `EROFS`.
#[derive(Clone)]
pub struct WritableFolder {
    readable: ReadableFolder,
}

/// The kind of a directory entry, without following a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// The contents and permissions of a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadFile {
    /// The contents.
    pub bytes: Vec<u8>,
    /// The permissions: 0o7777 at most.
    pub mode: u32,
}

/// The reason why a file was not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unread {
    /// The file is larger than the caller's limit; its size in bytes.
    TooLarge(u64),
    /// The entry is not a regular file.
    NotAFile,
    /// The system's error.
    Io(io::Error),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::TooLarge(bytes) => write!(f, "it is {bytes} bytes, which is too large"),
            Unread::NotAFile => f.write_str("it is not a regular file"),
            Unread::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unread {}

impl EntryKind {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::File => EntryKind::File,
            Kind::Directory => EntryKind::Folder,
            Kind::Link => EntryKind::Link,
            Kind::Special => EntryKind::Special,
        }
    }
}

impl ReadFile {
    /// Returns whether no user may write to it.
    pub fn is_read_only(&self) -> bool {
        self.mode & 0o222 == 0
    }
}

impl ReadableFolder {
    /// Opens a directory as a session would, to test code that reads from one.
    ///
    /// # Errors
    /// [`Error::Workspace`] if there is no such directory.
    pub fn at(path: &Path) -> Result<Self, Error> {
        let workspace = WorkspaceFolder::at(path, Machine::this().clone());
        let workspace = workspace.map_err(|error| Error::workspace(path, error))?;
        let view = workspace.view();
        let view = view.map_err(|error| Error::workspace(path, error))?;
        Ok(Self::of(view, workspace.path()))
    }

    pub(crate) fn of(view: View, path: &Path) -> Self {
        let path = path.to_owned();
        Self { view, path }
    }

    /// Returns the workspace's absolute path, for listing and messages. Don't open anything by it,
    /// because it may lead to another directory now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind of the entry at a path, or `None` if there is none.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn kind(&self, path: &Path) -> io::Result<Option<EntryKind>> {
        match self.metadata(path) {
            Ok(metadata) => Ok(Some(EntryKind::of(metadata.kind))),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Returns the names in a directory, in byte order. Leaves out names that are not UTF-8.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn list(&self, path: &Path) -> io::Result<Vec<(String, EntryKind)>> {
        let listing = match as_text(path)? {
            "." => self.root().list()?,
            path => {
                let options = OpenOptions {
                    directory: true,
                    ..OpenOptions::default()
                };
                match self.root().open(path, options)? {
                    Opened::Directory(directory) => directory.list()?,
                    Opened::File(_) => return Err(io::ErrorKind::NotADirectory.into()),
                }
            }
        };
        let entries = listing.entries.into_iter();
        let entries = entries.map(|entry| (entry.name, EntryKind::of(entry.kind)));
        Ok(entries.collect())
    }

    /// Reads a file of at most `most` bytes. Links are not followed.
    ///
    /// # Errors
    /// [`Unread`].
    pub fn read(&self, path: &Path, most: u64) -> Result<ReadFile, Unread> {
        self.read_at(path, most, false)
    }

    /// Reads a regular file of at most `most` bytes. Follows links that stay in the workspace.
    ///
    /// # Errors
    /// Any I/O error; also if the entry is not a regular file or is larger.
    pub fn read_through_links(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        match self.read_at(path, most, true) {
            Ok(read) => Ok(read.bytes),
            Err(Unread::Io(error)) => Err(error),
            Err(Unread::NotAFile) => Err(not_regular()),
            Err(Unread::TooLarge(bytes)) => {
                let message = format!("it is {bytes} bytes; the limit is {most}");
                Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
            }
        }
    }

    fn read_at(&self, path: &Path, most: u64, follow: bool) -> Result<ReadFile, Unread> {
        let options = OpenOptions {
            follow,
            ..OpenOptions::default()
        };
        let opened = as_text(path).and_then(|path| self.root().open(path, options));
        let file = match opened {
            Ok(Opened::File(file)) => file,
            Ok(Opened::Directory(_)) => return Err(Unread::NotAFile),
            // A pipe, a socket or a device, which was not opened.
            Err(error) if error.raw_os_error() == Some(NOT_SUPPORTED) => {
                return Err(Unread::NotAFile);
            }
            Err(error) => return Err(Unread::Io(error)),
        };
        let metadata = file.metadata().map_err(Unread::Io)?;
        if metadata.size > most {
            return Err(Unread::TooLarge(metadata.size));
        }
        // The file may grow in the meantime.
        let bytes = contents(&file, metadata.size, most).map_err(Unread::Io)?;
        if bytes.len() as u64 > most {
            return Err(Unread::TooLarge(bytes.len() as u64));
        }
        let mode = metadata.mode;
        Ok(ReadFile { bytes, mode })
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        match as_text(path)? {
            "." => self.root().metadata(),
            path => self.root().metadata_at(path, false),
        }
    }

    fn root(&self) -> Directory {
        self.view.root()
    }
}

impl WritableFolder {
    /// Makes the layer, which must be empty, undo a commit. For `skip_changed`, see
    /// [`View::restore`].
    ///
    /// # Errors
    /// [`RestoreError`]. The layer may have some of the changes then.
    pub(crate) fn restore(
        &self,
        workspace: &Workspace,
        commit: &str,
        skip_changed: bool,
    ) -> Result<Restored, RestoreError> {
        let view = &self.readable.view;
        view.restore(workspace, commit, skip_changed)
    }

    /// `view` must have a layer.
    pub(crate) fn of(view: View, path: &Path) -> Self {
        let readable = ReadableFolder::of(view, path);
        Self { readable }
    }

    /// Replaces the contents of a file, or creates it. Its permissions, owner and extended
    /// attributes stay. Other names of the file (hard links) keep the old contents. Links are not
    /// followed.
    ///
    /// # Errors
    /// Any I/O error, for example if this process may not write to the file.
    pub fn write(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        let options = OpenOptions {
            write: true,
            create: true,
            truncate: true,
            ..OpenOptions::default()
        };
        match self.root().open(as_text(path)?, options)? {
            Opened::File(file) => file.write_at(contents, 0),
            Opened::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// Renames an entry, and replaces the target by the system's rules: a file can replace a file
    /// or a link, and a directory can replace an empty directory.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let root = self.root();
        root.rename(as_text(from)?, &root, as_text(to)?)
    }

    /// Creates a directory.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.root().create_directory(as_text(path)?)
    }

    /// Creates a symbolic link. Refuses absolute targets.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn create_link(&self, target: &str, path: &Path) -> io::Result<()> {
        self.root().create_link(target, as_text(path)?)
    }

    /// Removes an entry that is not a directory.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.root().remove_file(as_text(path)?)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.root().remove_directory(as_text(path)?)
    }

    /// Sets the permissions of a file: 0o7777 at most.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.root().set_mode_at(as_text(path)?, mode)
    }
}

impl Deref for WritableFolder {
    type Target = ReadableFolder;

    fn deref(&self) -> &ReadableFolder {
        &self.readable
    }
}

/// Error code of a view for entries that can't be opened without side effects.
const NOT_SUPPORTED: i32 = rustix::io::Errno::OPNOTSUPP.raw_os_error();

/// Returns the path as text; the workspace itself is `.`.
fn as_text(path: &Path) -> io::Result<&str> {
    match path.to_str() {
        Some("") => Ok("."),
        Some(path) => Ok(path),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidFilename,
            "its name is not UTF-8",
        )),
    }
}

/// Reads up to the end, or one byte more than the limit.
pub(super) fn contents(file: &OpenFile, size: u64, most: u64) -> io::Result<Vec<u8>> {
    let most = usize::try_from(most.saturating_add(1)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; (size as usize).saturating_add(1).min(most)];
    let mut filled = 0;
    loop {
        let read = file.read_at(&mut bytes[filled..], filled as u64)?;
        filled += read;
        if filled < bytes.len() || bytes.len() == most {
            bytes.truncate(filled);
            return Ok(bytes);
        }
        bytes.resize(bytes.len().saturating_mul(2).min(most), 0);
    }
}
