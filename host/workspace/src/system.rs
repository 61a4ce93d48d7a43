//! The system calls and flags that only Linux has. Elsewhere they fail or do nothing, so that this
//! crate compiles there, but no folder can be opened.

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

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::fs::{AtFlags, OFlags};
    use rustix::io::Errno;

    use crate::mount::Mount;

    pub(crate) const PATH: OFlags = OFlags::empty();
    pub(crate) const NO_AUTOMOUNT: AtFlags = AtFlags::empty();

    pub(crate) fn open_beneath(_: &File, _: &str, _: OFlags) -> Result<OwnedFd, Errno> {
        Err(Errno::NOSYS)
    }

    pub(crate) fn mount_of(_: impl AsFd, _: &str) -> io::Result<Mount> {
        Err(unsupported())
    }

    pub(crate) fn birth(_: &File) -> io::Result<(u64, Option<(i64, u32)>)> {
        Err(unsupported())
    }

    fn unsupported() -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, "a workspace needs Linux")
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
}
