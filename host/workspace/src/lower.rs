//! The real folder below every layer. All accesses go through its descriptor; none leaves the
//! folder or follows a link.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Access, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::fault;
use crate::mount::Mount;
use crate::parents::Parents;
use crate::path::{is_private, parent_and_name};
pub(crate) use crate::stamp::{Kind, Stamp};
use crate::system::{self, NO_AUTOMOUNT, PATH};

impl Kind {
    pub(crate) fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        }
    }
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        // The types' widths depend on the platform.
        #[allow(clippy::unnecessary_cast)]
        let (device, links) = (stat.st_dev as u64, stat.st_nlink as u64);
        #[allow(clippy::unnecessary_cast)]
        let mode = stat.st_mode as u32 & 0o7777;
        Self {
            kind: Kind::of(FileType::from_raw_mode(stat.st_mode)),
            device,
            inode: fault::inode(stat.st_ino),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode,
            links,
            owner: (stat.st_uid, stat.st_gid),
            accessed: (stat.st_atime, stat.st_atime_nsec as u32),
            modified: (stat.st_mtime, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime, stat.st_ctime_nsec as u32),
        }
    }
}

/// The real folder.
#[derive(Debug)]
pub(crate) struct Lower {
    root: File,
    mount: Mount,
}

impl Lower {
    /// Uses an open folder.
    ///
    /// # Errors
    /// If the system can't confine accesses to a folder (`openat2`, Linux 5.6).
    pub fn new(root: File) -> io::Result<Self> {
        let mount = Mount::of(&root, "")?;
        let lower = Self { root, mount };
        match lower.open("", PATH) {
            Err(error) if error.raw_os_error() == Some(Errno::NOSYS.raw_os_error()) => {
                Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "this system has no openat2 (Linux 5.6 or later is needed, and no filter of system calls that refuses it)",
                ))
            }
            opened => opened.map(|_| lower),
        }
    }

    pub fn root(&self) -> &File {
        &self.root
    }

    /// Returns a helper for looking up many paths.
    pub fn parents(&self) -> Parents<'_> {
        Parents::new(&self.root)
    }

    /// Opens the object at a path that is relative to the folder and has no `..`; the empty path
    /// is the folder. Links are refused. With [`PATH`], only a directory can be opened.
    pub fn open(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        open_beneath(&self.root, path, flags)
    }

    /// Returns the stamp of a path; `None` if nothing exists there.
    pub fn stamp(&self, path: &str) -> io::Result<Option<Stamp>> {
        match self.look(path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if means_nothing_there(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the stamp of a path, or the system's error: `ENOENT` if nothing exists there,
    /// `ENOTDIR` if a name on the way is not a directory, and `ELOOP` if one is a link.
    pub fn look(&self, path: &str) -> io::Result<Stamp> {
        Ok(Stamp::of(&stat(&self.root, path)?))
    }

    /// Opens an object for reading, without blocking. Links are refused.
    pub fn open_to_read(&self, path: &str) -> io::Result<OpenedToRead> {
        opened_to_read(&self.root, path)
    }

    /// Opens a regular file for reading, without blocking.
    pub fn open_file(&self, path: &str) -> io::Result<(File, Stamp)> {
        self.open_to_read(path)?.file()
    }

    pub fn open_directory(&self, path: &str) -> io::Result<File> {
        let directory = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(File::from(directory))
    }

    pub fn read_link(&self, path: &str) -> io::Result<String> {
        self.parents().read_link(path)
    }

    /// Fails if a path in the folder is a mount: it can't be the target of a rename or be
    /// replaced.
    ///
    /// # Errors
    /// [`io::ErrorKind::CrossesDevices`] with the mount's path; system errors.
    pub fn check_mount(&self, path: &str) -> io::Result<()> {
        let (parent, name) = parent_and_name(path);
        let found = match parent {
            "" => Mount::of(&self.root, name)?,
            parent => Mount::of(self.open(parent, PATH | OFlags::DIRECTORY)?, name)?,
        };
        if found == self.mount {
            Ok(())
        } else {
            Err(io::Error::new(
                io::ErrorKind::CrossesDevices,
                format!("{path} is a mount of its own: nothing is changed there"),
            ))
        }
    }

    /// Lists the names in a directory except `.`, `..` and the private folder, with their kinds as
    /// reported by the system. A name that is not UTF-8 is `None`.
    pub fn list(&self, path: &str) -> io::Result<Vec<(Option<String>, Kind)>> {
        let directory = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut names = Vec::new();
        for entry in Dir::new(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_str().ok();
            if let Some(name) = name
                && (name == "." || name == ".." || is_private(name))
            {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems don't report the kind along with the name.
                FileType::Unknown => {
                    match name.map(|name| self.stamp(&crate::path::join(path, name))) {
                        Some(Ok(Some(stamp))) => stamp.kind,
                        _ => Kind::Special,
                    }
                }
                kind => Kind::of(kind),
            };
            names.push((name.map(str::to_owned), kind));
        }
        Ok(names)
    }

    /// Checks whether this process has write access to a path. Watchers don't notice the check.
    pub fn may_write(&self, path: &str, kind: Kind) -> io::Result<()> {
        let access = match kind {
            Kind::Directory => Access::WRITE_OK | Access::EXEC_OK,
            _ => Access::WRITE_OK,
        };
        let (parent, name) = parent_and_name(path);
        let directory = self.open(parent, PATH | OFlags::DIRECTORY)?;
        let name = if name.is_empty() { "." } else { name };
        let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
        Ok(rustix::fs::accessat(&directory, name, access, flags)?)
    }
}

/// An object opened for reading, with its stamp at that time.
pub(crate) struct OpenedToRead {
    pub file: File,
    pub stamp: Stamp,
}

impl OpenedToRead {
    pub fn file(self) -> io::Result<(File, Stamp)> {
        match self.stamp.kind {
            Kind::File => Ok((self.file, self.stamp)),
            Kind::Directory => Err(Errno::ISDIR.into()),
            _ => Err(Errno::OPNOTSUPP.into()),
        }
    }
}

/// Opens like [`Lower::open_to_read`], relative to any directory.
pub(crate) fn opened_to_read(directory: &File, path: &str) -> io::Result<OpenedToRead> {
    refuse_special(directory, path)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(open_beneath(directory, path, flags)?);
    let stamp = Stamp::of(&rustix::fs::fstat(&file)?);
    Ok(OpenedToRead { file, stamp })
}

/// Refuses pipes and devices before they are opened: opening a pipe unblocks a process that waits
/// for its other end, and opening some devices has effects. The object may still be replaced
/// between this check and the open.
fn refuse_special(directory: &File, path: &str) -> io::Result<()> {
    let path = if path.is_empty() { "." } else { path };
    let is_special = |stat: &Stat| {
        let kind = FileType::from_raw_mode(stat.st_mode);
        Kind::of(kind) == Kind::Special
    };
    let flags = AtFlags::SYMLINK_NOFOLLOW | NO_AUTOMOUNT;
    // A link on the way may lead anywhere, so this result is only a hint.
    let hint = rustix::fs::statat(directory, path, flags);
    if !hint.is_ok_and(|found| is_special(&found)) {
        return Ok(());
    }
    if is_special(&stat(directory, path)?) {
        Err(Errno::OPNOTSUPP.into())
    } else {
        Ok(())
    }
}

/// Returns the state of the object at a path, relative to a directory.
fn stat(directory: &File, path: &str) -> io::Result<Stat> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | NO_AUTOMOUNT;
    match parent_and_name(path) {
        ("", "" | ".") => Ok(rustix::fs::fstat(directory)?),
        (_, "..") => Err(Errno::XDEV.into()),
        // A single name can't lead elsewhere.
        ("", name) => Ok(rustix::fs::statat(directory, name, flags)?),
        (parent, name) => {
            let parent = open_beneath(directory, parent, PATH | OFlags::DIRECTORY)?;
            Ok(rustix::fs::statat(&parent, name, flags)?)
        }
    }
}

/// Opens like [`Lower::open`], relative to any directory.
pub(crate) fn open_beneath(directory: &File, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    let path = if path.is_empty() { "." } else { path };
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    loop {
        match system::open_beneath(directory, path, flags) {
            // A concurrent rename prevented the system from resolving the path.
            Err(Errno::AGAIN | Errno::INTR) => {}
            opened => return Ok(opened?),
        }
    }
}

pub(crate) fn means_nothing_there(error: &io::Error) -> bool {
    let nothing = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].map(|it| Some(it.raw_os_error()));
    nothing.contains(&error.raw_os_error())
}

/// Opens a directory by its path, links followed, to have its descriptor.
pub(crate) fn open_directory(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}
