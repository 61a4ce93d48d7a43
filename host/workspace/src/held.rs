//! Folders of a process's own among those of others, and what becomes of those that a killed
//! process left.
//!
//! Whoever makes such a folder holds it locked. The system gives the lock back when the process
//! ends, however it ends, so what nobody holds was left. Programs that clean up temporary files
//! spare what is locked, too: systemd's does.

use std::fs::{self, DirEntry, File, Metadata, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::TempDir;

/// How many left folders are removed at one time: somebody waits for it. The others have to wait
/// for the next one.
const MAX_SWEPT: usize = 64;

/// How often to make a folder anew that was taken for a left one, between its making and its
/// taking.
const TRIES: usize = 8;

/// A new folder that only its owner can read, and nobody else writes to. Removed when it is
/// dropped.
#[derive(Debug)]
pub struct HeldFolder {
    folder: TempDir,
    /// The folder itself, locked.
    held: File,
}

impl HeldFolder {
    /// Makes one in `parent`, whose name begins so.
    ///
    /// # Errors
    /// Those of the system.
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

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Has it removed in a way of the caller's own, and holds it meanwhile.
    pub fn remove_by(self, remove: impl FnOnce(&Path)) {
        let Self { folder, held } = self;
        remove(&folder.keep());
        drop(held);
    }

    /// Whose it is.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.held.metadata()
    }
}

/// Removes folders that nobody holds, whose names begin so, and which have the same owner as what
/// is `ours`. What can't be removed stays, and is no error: nobody asked for it.
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

/// Takes a new folder; None where somebody took it for a left one meanwhile, and has removed it or
/// is about to.
fn hold_new(folder: &Path) -> io::Result<Option<File>> {
    let held = match open(folder) {
        Ok(held) => held,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match held.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        // A file system that locks no folders: nobody can take this one either, so nobody sweeps
        // there.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    Ok(folder.try_exists()?.then_some(held))
}

/// A folder that was ours and that nobody holds. We do, until it is removed.
fn left_behind(entry: &DirEntry, prefix: &str, ours: &Metadata) -> Option<(PathBuf, File)> {
    let name = entry.file_name();
    if !name.as_encoded_bytes().starts_with(prefix.as_bytes()) {
        return None;
    }
    // Of the entry itself, so that no link leads anywhere else.
    let metadata = entry.metadata().ok()?;
    if !metadata.is_dir() || metadata.uid() != ours.uid() {
        return None;
    }
    let folder = entry.path();
    let held = open(&folder).ok()?;
    held.try_lock().ok()?;
    Some((folder, held))
}

/// Whatever else is there meanwhile is refused before it is opened.
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
