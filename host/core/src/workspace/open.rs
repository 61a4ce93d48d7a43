//! `open-at`: as wasmtime opens, but without waiting for the other end of a pipe.
//!
//! What there is at a path may be another thing a moment later, so that looking first is not
//! enough. And it is not needless: who opens a pipe or a device has done something to it, so that
//! is refused before where it can be seen.

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

/// The longest path that Linux takes. Where a path is walked by hand, a longer one would take its
/// time.
const MAX_PATH_BYTES: usize = 4096;

/// What was opened.
pub(super) struct Opened {
    pub descriptor: Descriptor,
    pub metadata: Metadata,
}

pub(super) fn check_path(path: &str) -> Result<(), ErrorCode> {
    match path.len() > MAX_PATH_BYTES {
        true => Err(ErrorCode::NameTooLong),
        false => Ok(()),
    }
}

/// What there is at a path; none where it can't be reached, which is for the operation itself to
/// say.
pub(super) fn look(directory: &File, path: &str, follow: FollowSymlinks) -> Option<Metadata> {
    cap_primitives::fs::stat(directory, Path::new(path), follow).ok()
}

pub(super) fn follows(flags: PathFlags) -> FollowSymlinks {
    match flags.contains(PathFlags::SYMLINK_FOLLOW) {
        true => FollowSymlinks::Yes,
        false => FollowSymlinks::No,
    }
}

/// Whether what there is can be opened: pipes, sockets and devices can't, and a link is for the
/// opening to follow or refuse.
pub(super) fn check_kind(found: &Metadata) -> Result<(), ErrorCode> {
    let kind = found.file_type();
    match kind.is_file() || kind.is_dir() || kind.is_symlink() {
        true => Ok(()),
        false => Err(ErrorCode::Unsupported),
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

/// As `wasmtime_wasi` makes them.
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
        match open.contains(OpenFlags::EXCLUSIVE) {
            true => options.create_new(true),
            false => options.create(true),
        };
    }
    options.truncate(open.contains(OpenFlags::TRUNCATE));
    if open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE)
        || flags.contains(DescriptorFlags::WRITE)
    {
        options.write(true);
        mode |= OpenMode::WRITE;
    }
    // What is open for nothing can still be asked about.
    if flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE) {
        options.read(true);
        mode |= OpenMode::READ;
    }
    options.follow(follows(path_flags)).nonblock(true);
    Ok((options, mode))
}

/// Those of the system's errors that WASI has no name for, and wasmtime calls an error of the
/// device.
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
            // Somebody has a lease on the file.
            Errno::AGAIN => return ErrorCode::Busy,
            _ => {}
        }
    }
    // The crate airlock-workspace names the mount.
    if error.kind() == io::ErrorKind::CrossesDevices {
        return ErrorCode::CrossDevice;
    }
    ErrorCode::from(error)
}
