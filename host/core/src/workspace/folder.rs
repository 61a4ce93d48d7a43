//! The workspace for producers that are part of the host: one type to read it with, and one to
//! change it with.
//!
//! Both keep to the directory that was there when the session was opened, whatever its path leads
//! to later, and never leave it: each access goes through that directory's descriptor, and paths or
//! links that lead out of it are refused by the system (`openat2`), or where that can't, by walking
//! the path (`cap-std`).

use std::fmt;
use std::io::{self, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_model::error::Error;
use airlock_model::identity::Machine;
use airlock_model::regular::{not_regular, read_regular};
use cap_std::fs::{Dir, File, Metadata, OpenOptions, Permissions};
#[cfg(unix)]
use cap_std::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};

use super::WorkspaceFolder;

/// Read access to the workspace.
pub struct ReadableFolder {
    dir: Dir,
    path: PathBuf,
}

/// Read and write access to the workspace.
pub struct WritableFolder {
    readable: ReadableFolder,
    may_change: Arc<dyn Fn() -> bool + Send + Sync>,
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

/// The contents of a file, and its stamp.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadFile {
    /// The contents.
    pub bytes: Vec<u8>,
    /// Its stamp when it was opened.
    pub stamp: Stamp,
}

/// Why a file was not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unread {
    /// It is larger than the caller's limit: its size in bytes.
    TooLarge(u64),
    /// It is not a regular file any longer.
    NotAFile,
    /// The system's reason.
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

/// What tells one state of a file from another, as far as the system notes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    permissions: Permissions,
    length: u64,
    #[cfg(unix)]
    unix: UnixStamp,
    #[cfg(not(unix))]
    modified: Option<std::time::SystemTime>,
}

#[cfg(unix)]
#[derive(Debug, Clone, PartialEq, Eq)]
struct UnixStamp {
    device_and_inode: (u64, u64),
    changed: (i64, i64),
    modified: (i64, i64),
    owner: (u32, u32),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            permissions: metadata.permissions(),
            length: metadata.len(),
            #[cfg(unix)]
            unix: UnixStamp {
                device_and_inode: (metadata.dev(), metadata.ino()),
                changed: (metadata.ctime(), metadata.ctime_nsec()),
                modified: (metadata.mtime(), metadata.mtime_nsec()),
                owner: (metadata.uid(), metadata.gid()),
            },
            #[cfg(not(unix))]
            modified: metadata.modified().ok().map(|time| time.into_std()),
        }
    }

    /// Whether nobody at all may write to it.
    pub fn is_read_only(&self) -> bool {
        self.permissions.readonly()
    }
}

impl ReadableFolder {
    /// A directory, as a session would open it: to test what reads from one.
    ///
    /// # Errors
    /// [`Error::Workspace`] where there is none.
    pub fn at(path: &Path) -> Result<Self, Error> {
        let workspace = WorkspaceFolder::at(path, Machine::this().clone());
        Self::open(&workspace.map_err(|error| Error::workspace(path, &error))?)
    }

    /// # Errors
    /// [`Error::Workspace`] where it is gone, or something else is in its place.
    pub(crate) fn open(workspace: &WorkspaceFolder) -> Result<Self, Error> {
        let path = workspace.path();
        let directory = workspace.open_directory();
        Ok(Self {
            dir: Dir::from_std_file(directory.map_err(|error| Error::workspace(path, &error))?),
            path: path.to_owned(),
        })
    }

    /// The workspace's absolute path, to list what lies in it and to tell of it. Nothing is to be
    /// opened by it: what it leads to may be another directory meanwhile.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What there is at a path, which is relative to the workspace as all are; none where there is
    /// nothing.
    ///
    /// # Errors
    /// Those of the system.
    pub fn kind(&self, path: &Path) -> io::Result<Option<EntryKind>> {
        let path = match path.as_os_str().is_empty() {
            true => Path::new("."),
            false => path,
        };
        let kind = match self.dir.symlink_metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
                    _ => Err(error),
                };
            }
        };
        Ok(Some(if kind.is_file() {
            EntryKind::File
        } else if kind.is_dir() {
            EntryKind::Folder
        } else if kind.is_symlink() {
            EntryKind::Link
        } else {
            EntryKind::Special
        }))
    }

    /// Reads a file of at most so many bytes. Links are not followed.
    ///
    /// # Errors
    /// [`Unread`].
    pub fn read(&self, path: &Path, most: u64) -> Result<ReadFile, Unread> {
        let mut file = self.open_file(path).map_err(Unread::Io)?;
        let metadata = file.metadata().map_err(Unread::Io)?;
        if !metadata.is_file() {
            return Err(Unread::NotAFile);
        }
        if metadata.len() > most {
            return Err(Unread::TooLarge(metadata.len()));
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
        // It may grow meanwhile.
        (&mut file)
            .take(most.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(Unread::Io)?;
        if bytes.len() as u64 > most {
            return Err(Unread::TooLarge(bytes.len() as u64));
        }
        let stamp = Stamp::of(&metadata);
        Ok(ReadFile { bytes, stamp })
    }

    /// Reads a regular file of at most so many bytes, also through links that stay in the
    /// workspace.
    ///
    /// # Errors
    /// Those of the system, and one where it is no regular file or larger.
    pub fn read_through_links(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        // Who opens a pipe or a device has done something to it, so that is refused before where it
        // can be seen.
        if !self.dir.metadata(path)?.is_file() {
            return Err(not_regular());
        }
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        let file = self.dir.open_with(path, &options)?.into_std();
        read_regular(file, most)
    }

    /// The same workspace, for another thread to have.
    ///
    /// # Errors
    /// Those of the system, say where the process has no more descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            dir: self.dir.try_clone()?,
            path: self.path.clone(),
        })
    }

    /// The file's present stamp, without opening it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        self.dir
            .symlink_metadata(path)
            .map(|metadata| Stamp::of(&metadata))
    }

    /// What became a pipe or a link since somebody looked must neither block us nor lead us
    /// elsewhere.
    fn open_file(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
            options.custom_flags(flags.bits().cast_signed());
        }
        self.dir.open_with(path, &options)
    }
}

impl WritableFolder {
    /// # Errors
    /// As [`ReadableFolder::open`].
    pub(crate) fn open(
        workspace: &WorkspaceFolder,
        may_change: Arc<dyn Fn() -> bool + Send + Sync>,
    ) -> Result<Self, Error> {
        let readable = ReadableFolder::open(workspace)?;
        Ok(Self {
            readable,
            may_change,
        })
    }

    /// Writes a file's new contents beside it, with its permissions and its owner, and syncs them
    /// to the disk. Other names of the file (hard links) keep the old contents, and extended
    /// attributes are lost.
    ///
    /// # Errors
    /// Those of the system; nothing is left behind then.
    pub fn stage(&self, path: &Path, was: &Stamp, contents: &[u8]) -> io::Result<Staged<'_>> {
        let temporary = temporary_name(path);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        options.mode(0o600);
        let mut file = self.dir.open_with(&temporary, &options)?;
        // From here on, whatever fails removes it.
        let staged = Staged {
            folder: self,
            path: path.to_owned(),
            temporary: Some(temporary),
        };
        file.write_all(contents)?;
        #[cfg(unix)]
        if Stamp::of(&file.metadata()?).unix.owner != was.unix.owner {
            let (user, group) = was.unix.owner;
            let (user, group) = (
                rustix::fs::Uid::from_raw(user),
                rustix::fs::Gid::from_raw(group),
            );
            rustix::fs::fchown(&file, Some(user), Some(group))?;
        }
        #[cfg(unix)]
        file.set_permissions(Permissions::from_mode(was.permissions.mode() & 0o7777))?;
        #[cfg(not(unix))]
        file.set_permissions(was.permissions.clone())?;
        file.sync_data()?;
        Ok(staged)
    }

    /// Syncs a folder's entries to the disk (fsync).
    ///
    /// # Errors
    /// Those of the system.
    pub fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let path = match path.as_os_str().is_empty() {
            true => Path::new("."),
            false => path,
        };
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            // What became a pipe meanwhile must not block us.
            let flags = OFlags::DIRECTORY | OFlags::NONBLOCK;
            options.custom_flags(flags.bits().cast_signed());
        }
        self.dir.open_with(path, &options)?.sync_all()
    }
}

impl Deref for WritableFolder {
    type Target = ReadableFolder;

    fn deref(&self) -> &ReadableFolder {
        &self.readable
    }
}

/// New contents, staged beside their file. Dropped, they are removed.
pub struct Staged<'a> {
    folder: &'a WritableFolder,
    path: PathBuf,
    /// None once it has taken the file's place.
    temporary: Option<PathBuf>,
}

impl Staged<'_> {
    /// Replaces the file atomically (by a rename).
    ///
    /// # Errors
    /// Those of the system, and one where the call was not asked to
    /// [begin changes](crate::native::ApplyCall::begin_changes), or has ended; the new contents are
    /// removed then.
    pub fn place(mut self) -> io::Result<()> {
        if !(self.folder.may_change)() {
            return Err(io::Error::other(
                "changes have not begun, or the call has ended",
            ));
        }
        let dir = &self.folder.dir;
        if let Some(temporary) = &self.temporary {
            dir.rename(temporary, dir, &self.path)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary
            && let Err(error) = self.folder.dir.remove_file(temporary)
        {
            tracing::warn!("could not remove {}: {error}", temporary.display());
        }
    }
}

/// Hidden, so that no walk finds it, and told apart from whatever else is there.
fn temporary_name(path: &Path) -> PathBuf {
    let unique = uuid::Uuid::now_v7().simple();
    path.with_file_name(format!(".airlock-{unique}.tmp"))
}
