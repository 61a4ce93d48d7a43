//! Files of the private folder: written and synced, read up to a limit, and removed.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read, Write};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::fault::step;
use crate::lower::open_beneath;

pub(super) fn write_new(folder: &File, name: &str, bytes: &[u8]) -> io::Result<()> {
    step()?;
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mode = Mode::from_raw_mode(0o600);
    let mut file = File::from(rustix::fs::openat(folder, name, flags, mode)?);
    step()?;
    file.write_all(bytes)?;
    step()?;
    file.sync_all()
}

/// None where there is nothing.
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

pub(super) fn remove_file(folder: &File, name: &str) -> io::Result<()> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The names in a directory, but `.` and `..`.
pub(super) fn entries(folder: &File) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Removes what the commit has made, with all that is in it.
pub(super) fn remove_entry(folder: &File, name: &CStr) -> io::Result<()> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        removed => return Ok(removed?),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
    for entry in entries(&inner)? {
        remove_entry(&inner, &entry)?;
    }
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}
