//! Substitutes for calls of Linux, by calls that every Unix has. Tests run them on Linux too.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::time::UNIX_EPOCH;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use crate::mount::Mount;

/// Opens a path without leaving the directory or following a link: each name by itself, in the
/// directory that the one before it led to. `..` is refused.
pub(crate) fn open_beneath(directory: &File, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    if path.starts_with('/') || path.split('/').any(|name| name == "..") {
        return Err(Errno::XDEV);
    }
    let (parents, last) = path.rsplit_once('/').unwrap_or(("", path));
    let mut above = None;
    for name in parents.split('/').filter(|name| !name.is_empty()) {
        let directory = above.as_ref().map_or(directory.as_fd(), OwnedFd::as_fd);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        above = Some(open_name(directory, name, flags)?);
    }
    let directory = above.as_ref().map_or(directory.as_fd(), OwnedFd::as_fd);
    let last = if last.is_empty() { "." } else { last };
    open_name(directory, last, flags)
}

/// Opens a name in a directory. For a link the error is `ELOOP`, on which the systems disagree.
fn open_name(directory: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    openat(directory, name, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
        let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
            Ok(FileType::Symlink) => Errno::LOOP,
            _ => error,
        }
    })
}

/// Returns the file system of a name in a directory, or of the directory if the name is empty. A
/// directory that is mounted a second time on the same file system isn't noticed.
pub(crate) fn mount_of(directory: impl AsFd, name: &str) -> io::Result<Mount> {
    let found = match name {
        "" => fstat(directory)?,
        name => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?,
    };
    // The type depends on the platform.
    #[allow(clippy::unnecessary_cast)]
    let device = found.st_dev as u64;
    Ok(Mount::Device(device))
}

/// Returns the inode of a directory and, if the file system has it, the time of its creation.
pub(crate) fn birth(directory: &File) -> io::Result<(u64, Option<(i64, u32)>)> {
    let found = directory.metadata()?;
    let created = found.created().ok();
    let since = created.and_then(|created| created.duration_since(UNIX_EPOCH).ok());
    let time = since.and_then(|since| {
        let seconds = i64::try_from(since.as_secs()).ok()?;
        Some((seconds, since.subsec_nanos()))
    });
    Ok((found.ino(), time))
}
