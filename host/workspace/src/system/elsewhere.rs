//! What other systems than Linux have instead.

use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

pub(crate) use super::portable::{birth, mount_of, open_beneath};

/// A directory is opened for reading, even if only names in it are looked up.
pub(crate) const PATH: OFlags = OFlags::empty();
pub(crate) const NO_AUTOMOUNT: AtFlags = AtFlags::empty();

/// Checks that this system has all calls that a commit needs.
pub(crate) fn check_commits() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "applying needs Linux: on this system, changes can only be previewed",
    ))
}

pub(crate) fn syncfs(_: &File) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

pub(crate) fn ioctl_ficlone(_: &File, _: &File) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

pub(crate) fn copy_file_range(
    _: &File,
    _: Option<&mut u64>,
    _: &File,
    _: Option<&mut u64>,
    _: usize,
) -> Result<usize, Errno> {
    Err(Errno::NOSYS)
}
