//! The system calls and flags that only Linux has. On other systems a folder can be read and have
//! layers, by calls that all of them have; what only a commit needs fails there or does nothing.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::*;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

use rustix::fs::{Mode, RawMode};

/// Returns permissions. The width of the system's type depends on the platform.
#[allow(clippy::unnecessary_cast)]
pub(crate) fn mode(bits: u32) -> Mode {
    Mode::from_raw_mode(bits as RawMode)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, StatxFlags, makedev, statx};
    pub(crate) use rustix::fs::{copy_file_range, ioctl_ficlone, syncfs};
    use rustix::io::Errno;

    use crate::mount::Mount;

    pub(crate) const PATH: OFlags = OFlags::PATH;
    pub(crate) const NO_AUTOMOUNT: AtFlags = AtFlags::NO_AUTOMOUNT;

    const BENEATH: ResolveFlags = ResolveFlags::BENEATH
        .union(ResolveFlags::NO_SYMLINKS)
        .union(ResolveFlags::NO_MAGICLINKS);

    /// Checks that this system has all calls that a commit needs.
    pub(crate) fn check_commits() -> io::Result<()> {
        Ok(())
    }

    /// Opens a path without leaving the directory or following a link.
    pub(crate) fn open_beneath(
        directory: &File,
        path: &str,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        rustix::fs::openat2(directory, path, flags, Mode::empty(), BENEATH)
    }

    /// Returns the mount of a name in a directory, or of the directory if the name is empty.
    pub(crate) fn mount_of(directory: impl AsFd, name: &str) -> io::Result<Mount> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let found = statx(directory, name, flags, StatxFlags::MNT_ID)?;
        Ok(match found.stx_mask & StatxFlags::MNT_ID.bits() {
            0 => Mount::Device(makedev(found.stx_dev_major, found.stx_dev_minor)),
            _ => Mount::Id(found.stx_mnt_id),
        })
    }

    /// Returns the inode of a directory and, if the file system has it, the time of its creation.
    pub(crate) fn birth(directory: &File) -> io::Result<(u64, Option<(i64, u32)>)> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let found = statx(directory, "", AtFlags::EMPTY_PATH, wanted)?;
        let has_time = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        let time = (found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
        Ok((found.stx_ino, has_time.then_some(time)))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
