//! Locked temporary folders, and the cleanup of those that a killed process left behind.
//!
//! The process that creates a folder keeps it locked. The system releases the lock when the
//! process ends for any reason, so an unlocked folder is a leftover. Programs that clean up
//! temporary files, such as systemd's, skip locked folders too.

use std::fs::{self, DirEntry, File, Metadata, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::TempDir;

/// Maximum number of leftovers to remove in one sweep, because a caller waits for it. The next
/// sweep removes more.
const MAX_SWEPT: usize = 64;

/// Number of attempts to create a folder. A sweep may mistake the new folder for a leftover before
/// it is locked.
const TRIES: usize = 8;

/// A new, locked folder that only its owner can read and write. It is removed on drop.
#[derive(Debug)]
pub struct HeldFolder {
    folder: TempDir,
    /// The handle that holds the lock on the folder.
    held: File,
}

impl HeldFolder {
    /// Creates a folder in `parent` whose name starts with `prefix`.
    ///
    /// # Errors
    /// System errors.
    pub fn make(parent: &Path, prefix: &str) -> io::Result<Self> {
        for _ in 0..TRIES {
            let folder = tempfile::Builder::new()
                .prefix(prefix)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(parent)?;
            if let Some(held) = hold_new(folder.path())? {
                return Ok(Self { folder, held });
            }
        }
        Err(io::Error::other("new folders keep vanishing"))
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes the folder with `remove`, and holds the lock until that returns.
    pub fn remove_by(self, remove: impl FnOnce(&Path)) {
        let Self { folder, held } = self;
        remove(&folder.keep());
        drop(held);
    }

    /// Returns the folder's metadata, including its owner.
    ///
    /// # Errors
    /// System errors.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.held.metadata()
    }
}

/// Removes unlocked folders whose names start with `prefix` and whose owner is the same as that of
/// `ours`. Folders that can't be removed stay; that is not an error.
pub fn sweep(
    parent: &Path,
    prefix: &str,
    ours: &Metadata,
    remove: impl Fn(&Path) -> io::Result<()>,
) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let left = entries.filter_map(|entry| left_behind(&entry.ok()?, prefix, ours));
    for (folder, _held) in left.take(MAX_SWEPT) {
        match remove(&folder) {
            Ok(()) => tracing::debug!("removed {}, left by a process", folder.display()),
            Err(error) => tracing::debug!("could not remove {}: {error}", folder.display()),
        }
    }
}

/// Locks a new folder. Returns `None` if another process took it for a leftover and has removed it
/// or is about to.
fn hold_new(folder: &Path) -> io::Result<Option<File>> {
    let held = match open(folder) {
        Ok(held) => held,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match held.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        // The file system can't lock folders. Other processes can't lock this one either, so it is
        // not swept.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    Ok(folder.try_exists()?.then_some(held))
}

/// Locks and returns a leftover folder of this user. The lock is held until the folder is removed.
fn left_behind(entry: &DirEntry, prefix: &str, ours: &Metadata) -> Option<(PathBuf, File)> {
    let name = entry.file_name();
    if !name.as_encoded_bytes().starts_with(prefix.as_bytes()) {
        return None;
    }
    // The metadata of the entry itself: links are not followed.
    let metadata = entry.metadata().ok()?;
    if !metadata.is_dir() || metadata.uid() != ours.uid() {
        return None;
    }
    let folder = entry.path();
    let held = open(&folder).ok()?;
    held.try_lock().ok()?;
    Some((folder, held))
}

/// Opens a folder. Anything else at that path is refused before it is opened.
fn open(folder: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_taken_for_a_left_one_is_not_used() {
        let parent = TempDir::new().unwrap();
        assert!(hold_new(&parent.path().join("removed")).unwrap().is_none());
        let folder = parent.path().join("new");
        fs::create_dir(&folder).unwrap();
        let held = hold_new(&folder).unwrap();
        assert!(held.is_some());
        assert!(hold_new(&folder).unwrap().is_none());
        drop(held);
        assert!(hold_new(&folder).unwrap().is_some());
    }
}
