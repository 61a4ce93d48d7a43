//! Which mount something lies on.
//!
//! A device's number doesn't say: on an overlay whose layers lie on different file systems, files
//! have other numbers than their directory, and a directory that is mounted at a second place has
//! the same one there.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, StatxFlags, makedev, statx};

/// A mount. Two are compared while both are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mount {
    Id(u64),
    /// The device, before Linux 5.8.
    Device(u64),
}

impl Mount {
    /// The mount of the object with a name in a directory (a link itself), or of the directory if
    /// the name is empty.
    ///
    /// # Errors
    /// Those of the system.
    pub fn of(directory: impl AsFd, name: &str) -> io::Result<Self> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let found = statx(directory, name, flags, StatxFlags::MNT_ID)?;
        Ok(match found.stx_mask & StatxFlags::MNT_ID.bits() {
            0 => Mount::Device(makedev(found.stx_dev_major, found.stx_dev_minor)),
            _ => Mount::Id(found.stx_mnt_id),
        })
    }
}
