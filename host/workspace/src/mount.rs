//! Identifies the mount of an object.
//!
//! The device number is not enough. On an overlay whose layers are on different file systems,
//! files have other device numbers than their directory. A directory that is mounted a second time
//! has the same number in both places.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, StatxFlags, makedev, statx};

/// A mount. Two mounts can be compared only while both exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mount {
    Id(u64),
    /// The device number, before Linux 5.8.
    Device(u64),
}

impl Mount {
    /// Returns the mount of a name in a directory, without following a link, or of the directory
    /// if the name is empty.
    ///
    /// # Errors
    /// System errors.
    pub fn of(directory: impl AsFd, name: &str) -> io::Result<Self> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let found = statx(directory, name, flags, StatxFlags::MNT_ID)?;
        Ok(match found.stx_mask & StatxFlags::MNT_ID.bits() {
            0 => Mount::Device(makedev(found.stx_dev_major, found.stx_dev_minor)),
            _ => Mount::Id(found.stx_mnt_id),
        })
    }
}
