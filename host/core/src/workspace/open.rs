//! `open-at`: opens like wasmtime, but without waiting for the other end of a pipe.
//!
//! The entry at a path may be replaced at any moment, so checking first is not enough. But it is
//! necessary: opening a pipe or a device has side effects, so this is refused in advance if it can
//! be detected.

use std::fs::File;
use std::io;
use std::path::Path;

use airlock_model::regular::must_wait;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_primitives::fs::{Metadata, OpenOptions};
use wasmtime_wasi::FsPerms;
use wasmtime_wasi::filesystem::{self, Descriptor, Dir, OpenMode};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, OpenFlags, PathFlags,
};

/// The longest path that Linux accepts. Walking a longer path by hand would take time.
const MAX_PATH_BYTES: usize = 4096;

/// The result of opening.
pub(super) struct Opened {
    pub descriptor: Descriptor,
    pub metadata: Metadata,
}

pub(super) fn check_path(path: &str) -> Result<(), ErrorCode> {
    if path.len() > MAX_PATH_BYTES {
        Err(ErrorCode::NameTooLong)
    } else {
        Ok(())
    }
}

/// Returns the metadata at a path, or `None` if it can't be reached; the operation itself then
/// reports the error.
pub(super) fn look(directory: &File, path: &str, follow: FollowSymlinks) -> Option<Metadata> {
    cap_primitives::fs::stat(directory, Path::new(path), follow).ok()
}

pub(super) fn follows(flags: PathFlags) -> FollowSymlinks {
    if flags.contains(PathFlags::SYMLINK_FOLLOW) {
        FollowSymlinks::Yes
    } else {
        FollowSymlinks::No
    }
}

/// Checks that an entry can be opened: pipes, sockets and devices can't. Opening itself follows or
/// refuses links.
pub(super) fn check_kind(found: &Metadata) -> Result<(), ErrorCode> {
    let kind = found.file_type();
    if kind.is_file() || kind.is_dir() || kind.is_symlink() {
        Ok(())
    } else {
        Err(ErrorCode::Unsupported)
    }
}

pub(super) fn open_beneath(
    directory: &File,
    path: &str,
    path_flags: PathFlags,
    open: OpenFlags,
    flags: DescriptorFlags,
) -> Result<Opened, ErrorCode> {
    let (options, mode) = options(path_flags, open, flags)?;
    let file = cap_primitives::fs::open(directory, Path::new(path), &options).map_err(code)?;
    let metadata = Metadata::from_file(&file).map_err(code)?;
    check_kind(&metadata)?;
    must_wait(&file).map_err(code)?;
    let descriptor = match metadata.is_dir() {
        true => Descriptor::Dir(Dir::new(file, FsPerms::ReadWrite, mode, true)),
        false if open.contains(OpenFlags::DIRECTORY) => return Err(ErrorCode::NotDirectory),
        false => {
            let file = filesystem::File::new(file, FsPerms::ReadWrite, mode, true);
            Descriptor::File(file)
        }
    };
    Ok(Opened {
        descriptor,
        metadata,
    })
}

/// Returns the same options as `wasmtime_wasi`.
fn options(
    path_flags: PathFlags,
    open: OpenFlags,
    flags: DescriptorFlags,
) -> Result<(OpenOptions, OpenMode), ErrorCode> {
    let unsupported = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    if flags.intersects(unsupported) {
        return Err(ErrorCode::Unsupported);
    }
    let makes = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
    if open.contains(OpenFlags::DIRECTORY) && open.intersects(makes) {
        return Err(ErrorCode::Invalid);
    }
    let mut options = OpenOptions::new();
    let mut mode = OpenMode::empty();
    if open.contains(OpenFlags::CREATE) {
        if open.contains(OpenFlags::EXCLUSIVE) {
            options.create_new(true)
        } else {
            options.create(true)
        };
    }
    options.truncate(open.contains(OpenFlags::TRUNCATE));
    if open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE)
        || flags.contains(DescriptorFlags::WRITE)
    {
        options.write(true);
        mode |= OpenMode::WRITE;
    }
    // A descriptor without any access can still be queried.
    if flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE) {
        options.read(true);
        mode |= OpenMode::READ;
    }
    options.follow(follows(path_flags)).nonblock(true);
    Ok((options, mode))
}

/// Converts errors of the system for which WASI has no name and wasmtime returns an I/O error.
pub(super) fn code(error: io::Error) -> ErrorCode {
    #[cfg(unix)]
    if let Some(error) = error.raw_os_error() {
        use rustix::io::Errno;
        match Errno::from_raw_os_error(error) {
            // A pipe without a reader, or a device without a driver.
            Errno::NXIO | Errno::NODEV => return ErrorCode::Unsupported,
            Errno::MFILE | Errno::NFILE | Errno::DQUOT => return ErrorCode::Quota,
            Errno::ROFS => return ErrorCode::ReadOnly,
            Errno::XDEV => return ErrorCode::CrossDevice,
            // Another process has a lease on the file.
            Errno::AGAIN => return ErrorCode::Busy,
            _ => {}
        }
    }
    // The error of airlock-workspace names the mount.
    if error.kind() == io::ErrorKind::CrossesDevices {
        return ErrorCode::CrossDevice;
    }
    ErrorCode::from(error)
}
