//! Detects whether another program has a file open for writing.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::fs::FsWord;
use rustix::io::Errno;

/// File systems that refuse a lease only for this reason, by `f_type` of `statfs`: ext2 to ext4,
/// XFS, Btrfs, tmpfs, F2FS, overlayfs. Others may not support leases.
const KNOWN: [FsWord; 6] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0xf2f5_2010,
    0x794c_7630,
];

/// The value in `asm-generic/fcntl.h`.
const F_SETSIG: i32 = 10;

/// Returns whether any program, including this one, has the file open for writing, as far as that
/// can be determined: only the owner may ask, and only some file systems answer. `file` must be
/// open for reading only.
///
/// # Errors
/// System errors, if the file system's type can't be read.
pub(super) fn has_writers(file: &File) -> io::Result<bool> {
    if !KNOWN.contains(&rustix::fs::fstatfs(file)?.f_type) {
        return Ok(false);
    }
    // If another program opens the file before the lease is released, the system sends a signal.
    // The default one would end this process; SIGURG is ignored.
    control(file, F_SETSIG, libc::SIGURG)?;
    match control(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            control(file, libc::F_SETLEASE, libc::F_UNLCK)?;
            Ok(false)
        }
        Err(Errno::AGAIN) => Ok(true),
        Err(_) => Ok(false),
    }
}

fn control(file: &File, command: i32, argument: i32) -> Result<(), Errno> {
    // SAFETY: the descriptor is open as long as `file` is borrowed, and these commands take a
    // number and no pointer.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
        -1 => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL)),
        _ => Ok(()),
    }
}
