//! The real folder, below every layer: each access goes through its descriptor, and none leaves it
//! or follows a link.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Access, AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::fault;
use crate::mount::Mount;
use crate::parents::Parents;
use crate::path::{is_private, parent_and_name};

const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// What a name stands for, without following a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

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

/// What tells one state of an object in the real folder from another, as far as the system notes
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// What it is.
    pub kind: Kind,
    /// The file system that it lies on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// In bytes.
    pub size: u64,
    /// Permissions, with the bits above them: 0o7777 at most.
    pub mode: u32,
    /// How many names it has.
    pub links: u64,
    /// User and group.
    pub owner: (u32, u32),
    /// When it was last read, in seconds and nanoseconds since 1970. Not compared.
    pub accessed: (i64, u32),
    /// When its contents were last changed.
    pub modified: (i64, u32),
    /// When anything of it was last changed.
    pub changed: (i64, u32),
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        // As wide on every machine.
        #[allow(clippy::unnecessary_cast)]
        let links = stat.st_nlink as u64;
        Self {
            kind: Kind::of(FileType::from_raw_mode(stat.st_mode)),
            device: stat.st_dev,
            inode: fault::inode(stat.st_ino),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode & 0o7777,
            links,
            owner: (stat.st_uid, stat.st_gid),
            accessed: (stat.st_atime, stat.st_atime_nsec as u32),
            modified: (stat.st_mtime, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime, stat.st_ctime_nsec as u32),
        }
    }

    /// Whether it is the same object, whatever became of it.
    pub fn is_same_object(&self, other: &Self) -> bool {
        (self.kind, self.device, self.inode) == (other.kind, other.device, other.inode)
    }

    /// Whether nothing of it has changed, as far as the system notes it. Of a directory only what
    /// it is counts, and not what is in it.
    pub fn is_unchanged(&self, now: &Self) -> bool {
        self.is_same_object(now)
            && match self.kind {
                Kind::Directory => true,
                _ => {
                    (
                        self.size,
                        self.mode,
                        self.owner,
                        self.modified,
                        self.changed,
                    ) == (now.size, now.mode, now.owner, now.modified, now.changed)
                }
            }
    }

    /// All that [`is_unchanged`](Self::is_unchanged) compares in 64 bits, to be kept and compared
    /// later; with `contents`, of a directory also when a name in it was last made or removed.
    pub fn fingerprint(&self, contents: bool) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[self.kind as u8]);
        hasher.update(&self.device.to_le_bytes());
        hasher.update(&self.inode.to_le_bytes());
        if self.kind != Kind::Directory {
            hasher.update(&self.size.to_le_bytes());
            hasher.update(&self.mode.to_le_bytes());
            hasher.update(&self.owner.0.to_le_bytes());
            hasher.update(&self.owner.1.to_le_bytes());
        }
        if self.kind != Kind::Directory || contents {
            for (seconds, nanoseconds) in [self.modified, self.changed] {
                hasher.update(&seconds.to_le_bytes());
                hasher.update(&nanoseconds.to_le_bytes());
            }
        }
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Whether the contents are those of before. A rename changes no more than `changed`.
    pub(crate) fn has_same_contents(&self, now: &Self) -> bool {
        self.is_same_object(now)
            && (self.kind == Kind::Directory
                || (self.size, self.modified) == (now.size, now.modified))
    }
}

/// The real folder.
#[derive(Debug)]
pub(crate) struct Lower {
    root: File,
    mount: Mount,
}

impl Lower {
    /// # Errors
    /// Where the system can't keep accesses inside of a folder (`openat2`, Linux 5.6).
    pub fn new(root: File) -> io::Result<Self> {
        let mount = Mount::of(&root, "")?;
        let lower = Self { root, mount };
        match lower.open("", OFlags::PATH) {
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

    /// To look up many names.
    pub fn parents(&self) -> Parents<'_> {
        Parents::new(&self.root)
    }

    /// Opens what there is at a path, which is relative to the folder and has no `..`; the folder
    /// itself where it is empty. A link is opened itself with `OFlags::PATH`, and refused without.
    pub fn open(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        open_beneath(&self.root, path, flags)
    }

    /// None where there is nothing.
    pub fn stamp(&self, path: &str) -> io::Result<Option<Stamp>> {
        match self.look(path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if means_nothing_there(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same, with the system's error where there is nothing: `ENOENT`, `ENOTDIR` where a name
    /// on the way is no directory, and `ELOOP` where it is a link.
    pub fn look(&self, path: &str) -> io::Result<Stamp> {
        // One name leads nowhere else, so that one call will do.
        if !matches!(path, "" | "..") && !path.contains('/') {
            let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
            return Ok(Stamp::of(&rustix::fs::statat(&self.root, path, flags)?));
        }
        let found = self.open(path, OFlags::PATH)?;
        Ok(Stamp::of(&rustix::fs::fstat(&found)?))
    }

    /// Opens what there is to read it, without waiting for anything. Refused for a link.
    pub fn open_to_read(&self, path: &str) -> io::Result<OpenedToRead> {
        opened_to_read(&self.root, path)
    }

    /// Opens a regular file to read it, without waiting for anything.
    pub fn open_file(&self, path: &str) -> io::Result<(File, Stamp)> {
        self.open_to_read(path)?.file()
    }

    pub fn open_directory(&self, path: &str) -> io::Result<File> {
        let directory = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(File::from(directory))
    }

    pub fn read_link(&self, path: &str) -> io::Result<String> {
        let link = self.open(path, OFlags::PATH)?;
        let target = rustix::fs::readlinkat(&link, "", Vec::new())?;
        target.into_string().map_err(|_| Errno::ILSEQ.into())
    }

    /// Fails for a mount in the folder: no rename leads there, and none replaces it.
    ///
    /// # Errors
    /// [`io::ErrorKind::CrossesDevices`] with the mount's path; those of the system.
    pub fn check_mount(&self, path: &str) -> io::Result<()> {
        let (parent, name) = parent_and_name(path);
        let found = match parent {
            "" => Mount::of(&self.root, name)?,
            parent => Mount::of(self.open(parent, OFlags::PATH | OFlags::DIRECTORY)?, name)?,
        };
        match found == self.mount {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::CrossesDevices,
                format!("{path} is a mount of its own: nothing is changed there"),
            )),
        }
    }

    /// The names in a directory, but `.`, `..` and the private folder, with what the system tells
    /// of their kinds. `None` for a name that is no UTF-8.
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
                // Not all file systems tell it beside the name.
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

    /// Whether this process may write to what is there, as the system sees it. No watcher hears of
    /// the question.
    pub fn may_write(&self, path: &str, kind: Kind) -> io::Result<()> {
        let access = match kind {
            Kind::Directory => Access::WRITE_OK | Access::EXEC_OK,
            _ => Access::WRITE_OK,
        };
        let (parent, name) = parent_and_name(path);
        let directory = self.open(parent, OFlags::PATH | OFlags::DIRECTORY)?;
        let name = if name.is_empty() { "." } else { name };
        let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
        Ok(rustix::fs::accessat(&directory, name, access, flags)?)
    }
}

/// What was opened to read it, and what it was then.
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

/// As [`Lower::open_to_read`], from any directory.
pub(crate) fn opened_to_read(directory: &File, path: &str) -> io::Result<OpenedToRead> {
    refuse_special(directory, path)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(open_beneath(directory, path, flags)?);
    let stamp = Stamp::of(&rustix::fs::fstat(&file)?);
    Ok(OpenedToRead { file, stamp })
}

/// Who opens a pipe lets go whoever waits for its other end, and some devices act when they are
/// opened: neither is opened. Between this look and the opening it can become one.
fn refuse_special(directory: &File, path: &str) -> io::Result<()> {
    let path = if path.is_empty() { "." } else { path };
    let is_special = |stat: &Stat| {
        let kind = FileType::from_raw_mode(stat.st_mode);
        Kind::of(kind) == Kind::Special
    };
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    // A link on the way can lead it anywhere, so that it is not believed, but asked for a hint.
    let hint = rustix::fs::statat(directory, path, flags);
    if !hint.is_ok_and(|found| is_special(&found)) {
        return Ok(());
    }
    let found = open_beneath(directory, path, OFlags::PATH)?;
    match is_special(&rustix::fs::fstat(&found)?) {
        true => Err(Errno::OPNOTSUPP.into()),
        false => Ok(()),
    }
}

/// As [`Lower::open`], from any directory.
pub(crate) fn open_beneath(directory: &File, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    let path = if path.is_empty() { "." } else { path };
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    loop {
        match rustix::fs::openat2(directory, path, flags, Mode::empty(), BENEATH) {
            // Something was renamed meanwhile, so that the system can't tell.
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
