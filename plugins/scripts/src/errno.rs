//! The errors of the system by the names, numbers and texts that Node has for them.

use std::io::{self, ErrorKind};

/// An error, as scripts see it.
pub(crate) struct Errno {
    pub(crate) code: &'static str,
    pub(crate) number: i32,
    pub(crate) text: &'static str,
}

const fn errno(code: &'static str, number: i32, text: &'static str) -> Errno {
    Errno { code, number, text }
}

pub(crate) fn of(error: &io::Error) -> Errno {
    by_number(error.raw_os_error()).unwrap_or_else(|| by_kind(error.kind()))
}

/// Those for which the standard library has no kind, or none on WASI.
fn by_number(number: Option<i32>) -> Option<Errno> {
    let number = number?;
    let found = if cfg!(target_os = "wasi") {
        match number {
            10 => by_kind(ErrorKind::ResourceBusy),
            22 => by_kind(ErrorKind::FileTooLarge),
            31 => by_kind(ErrorKind::IsADirectory),
            32 => LOOP,
            33 => MANY_FILES,
            37 => by_kind(ErrorKind::InvalidFilename),
            51 => by_kind(ErrorKind::StorageFull),
            54 => by_kind(ErrorKind::NotADirectory),
            55 => by_kind(ErrorKind::DirectoryNotEmpty),
            58 => by_kind(ErrorKind::Unsupported),
            63 => NOT_PERMITTED,
            69 => by_kind(ErrorKind::ReadOnlyFilesystem),
            75 => by_kind(ErrorKind::CrossesDevices),
            76 => by_kind(ErrorKind::PermissionDenied),
            _ => return None,
        }
    } else {
        match number {
            1 => NOT_PERMITTED,
            24 => MANY_FILES,
            40 => LOOP,
            _ => return None,
        }
    };
    Some(found)
}

const LOOP: Errno = errno("ELOOP", -40, "too many symbolic links encountered");
const MANY_FILES: Errno = errno("EMFILE", -24, "too many open files");
const NOT_PERMITTED: Errno = errno("EPERM", -1, "operation not permitted");

fn by_kind(kind: ErrorKind) -> Errno {
    match kind {
        ErrorKind::NotFound => errno("ENOENT", -2, "no such file or directory"),
        ErrorKind::PermissionDenied => errno("EACCES", -13, "permission denied"),
        ErrorKind::AlreadyExists => errno("EEXIST", -17, "file already exists"),
        ErrorKind::NotADirectory => errno("ENOTDIR", -20, "not a directory"),
        ErrorKind::IsADirectory => errno("EISDIR", -21, "illegal operation on a directory"),
        ErrorKind::DirectoryNotEmpty => errno("ENOTEMPTY", -39, "directory not empty"),
        ErrorKind::InvalidInput => errno("EINVAL", -22, "invalid argument"),
        ErrorKind::InvalidFilename => errno("ENAMETOOLONG", -36, "name too long"),
        ErrorKind::CrossesDevices => errno("EXDEV", -18, "cross-device link not permitted"),
        ErrorKind::ReadOnlyFilesystem => errno("EROFS", -30, "read-only file system"),
        ErrorKind::StorageFull => errno("ENOSPC", -28, "no space left on device"),
        ErrorKind::QuotaExceeded => errno("EDQUOT", -122, "disk quota exceeded"),
        ErrorKind::FileTooLarge => errno("EFBIG", -27, "file too large"),
        ErrorKind::ResourceBusy => errno("EBUSY", -16, "resource busy or locked"),
        ErrorKind::TooManyLinks => errno("EMLINK", -31, "too many links"),
        ErrorKind::OutOfMemory => errno("ENOMEM", -12, "not enough memory"),
        ErrorKind::Unsupported => errno("ENOSYS", -38, "function not implemented"),
        // WASI's libc has no number for a path that is in no open folder.
        ErrorKind::Other => errno("EACCES", -13, "permission denied"),
        _ => errno("EIO", -5, "i/o error"),
    }
}
