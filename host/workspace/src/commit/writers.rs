//! Whether another program has a file open for writing.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::fs::FsWord;
use rustix::io::Errno;

/// The file systems on which a lease that is refused means that, by `f_type` of `statfs`: ext2 to
/// ext4, XFS, Btrfs, tmpfs, F2FS, overlayfs. On others it may mean that they have no leases.
const KNOWN: [FsWord; 6] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0xf2f5_2010,
    0x794c_7630,
];

/// As `asm-generic/fcntl.h` has it.
const F_SETSIG: i32 = 10;

/// Whether any program, this one too, has the file open for writing, as far as that can be found
/// out: only its owner may ask, and only some file systems answer. `file` must be open for reading
/// alone.
///
/// # Errors
/// The system's, if the file system can't be asked for its type.
pub(super) fn has_writers(file: &File) -> io::Result<bool> {
    if !KNOWN.contains(&rustix::fs::fstatfs(file)?.f_type) {
        return Ok(false);
    }
    // Another program may open the file before the lease is given back. The system tells this one
    // by a signal then: by default one that ends it, and SIGURG is ignored.
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
