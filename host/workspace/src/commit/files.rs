//! Files of the private folder: written and synced, read up to a limit, and removed.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::fault::{self, step};
use crate::lower::open_beneath;
use crate::path::{PRIVATE, parent_and_name};
use crate::system::{PATH, syncfs};

/// The way in which written files are synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durable {
    /// A separate sync of each file and directory.
    Each,
    /// A later sync of the whole file system.
    Together,
}

/// Creates or empties a file, for this user only.
pub(super) fn create(folder: &File, name: &str) -> io::Result<File> {
    step()?;
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mode = Mode::from_raw_mode(0o600);
    Ok(File::from(rustix::fs::openat(folder, name, flags, mode)?))
}

/// Syncs a file or a directory, if each is synced separately.
pub(super) fn sync(file: &File, durable: Durable) -> io::Result<()> {
    match durable {
        Durable::Each => sync_now(file),
        Durable::Together => Ok(()),
    }
}

/// Syncs a file with its attributes, or a directory with its names.
pub(super) fn sync_now(file: &File) -> io::Result<()> {
    step()?;
    file.sync_all()?;
    fault::synced(Some(file));
    Ok(())
}

/// Syncs everything on the file system.
pub(super) fn sync_together(on: &File) -> io::Result<()> {
    step()?;
    syncfs(on)?;
    fault::synced(None);
    Ok(())
}

/// Reads a file; `None` if it does not exist.
pub(super) fn read(folder: &File, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match open_beneath(folder, name, flags) {
        Ok(file) => File::from(file),
        Err(error) if crate::lower::means_nothing_there(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > limit {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

pub(crate) fn remove_file(folder: &File, name: &str) -> io::Result<()> {
    step()?;
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Opens or creates a directory in another one, for this user only.
pub(super) fn open_or_make(folder: &File, name: &str) -> io::Result<File> {
    step()?;
    match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    Ok(File::from(open_beneath(folder, name, flags)?))
}

/// Opens or creates a file for locking or appending, for this user only.
pub(crate) fn open_or_make_file(folder: &File, name: &str) -> io::Result<File> {
    step()?;
    let flags = OFlags::WRONLY
        | OFlags::CREATE
        | OFlags::APPEND
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC
        | OFlags::NOFOLLOW;
    let mode = Mode::from_raw_mode(0o600);
    let file = File::from(rustix::fs::openat(folder, name, flags, mode)?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Its other names may be anywhere, even in another private folder.
    match metadata.nlink() {
        0 | 1 => Ok(file),
        links => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{PRIVATE}/{name} has {links} names (hard links); remove it"),
        )),
    }
}

/// Returns the names in a directory except `.` and `..`.
pub(crate) fn entries(folder: &File) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Removes a file or an empty directory.
pub(super) fn remove_one(folder: &File, name: &CStr) -> io::Result<()> {
    step()?;
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        removed => return Ok(removed?),
    }
    step()?;
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

/// Removes an object that the commit created, recursively and at any depth.
pub(super) fn remove_entry(folder: &File, name: &CStr) -> io::Result<()> {
    match remove_one(folder, name) {
        Err(error) if is_not_empty(&error) => {}
        removed => return removed,
    }
    // Uses paths instead of a descriptor for each directory on the way, because a process is
    // limited to about a thousand.
    let top = name.to_str().map_err(|_| Errno::ILSEQ)?;
    let mut left = vec![top.to_owned()];
    while let Some(path) = left.last() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = File::from(open_beneath(folder, path, flags)?);
        let mut deeper = Vec::new();
        for entry in entries(&directory)? {
            match remove_one(&directory, &entry) {
                Err(error) if is_not_empty(&error) => {
                    let entry = entry.to_str().map_err(|_| Errno::ILSEQ)?;
                    deeper.push(format!("{path}/{entry}"));
                }
                removed => removed?,
            }
        }
        if deeper.is_empty() {
            let (parent, name) = parent_and_name(path);
            let parent = open_beneath(folder, parent, PATH | OFlags::DIRECTORY)?;
            step()?;
            rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?;
            left.pop();
        }
        left.extend(deeper);
    }
    Ok(())
}

fn is_not_empty(error: &io::Error) -> bool {
    let codes = [Errno::NOTEMPTY, Errno::EXIST].map(|code| Some(code.raw_os_error()));
    codes.contains(&error.raw_os_error())
}
