//! Identifies the mount of an object.
//!
//! The device number is not enough. On an overlay whose layers are on different file systems,
//! files have other device numbers than their directory. A directory that is mounted a second time
//! has the same number in both places.

use std::io;
use std::os::fd::AsFd;

use crate::system;

/// A mount. Two mounts can be compared only while both exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
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
        system::mount_of(directory, name)
    }
}
