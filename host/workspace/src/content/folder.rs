//! The folder of one layer's contents. Nobody else can read it, and what a process left that was
//! killed is removed by the next one that makes such a folder beside it.

use std::fs::{self, DirEntry, File, Metadata, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

const PREFIX: &str = "airlock-layer-";

/// How many are removed at once: whoever makes a folder waits for it.
const MAX_SWEPT: usize = 64;

/// How often to make one anew that was taken for a left one, between its making and its taking.
const TRIES: usize = 8;

/// Removed when it is dropped. Until then it is locked, by which others see that somebody has it.
pub(super) struct LayerFolder {
    folder: TempDir,
    _held: File,
}

impl LayerFolder {
    /// # Errors
    /// Those of the system.
    pub fn make(place: &Path) -> io::Result<Self> {
        for _ in 0..TRIES {
            // What is in it may be of files that only their owner can read.
            let folder = tempfile::Builder::new()
                .prefix(PREFIX)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(place)?;
            let Some(held) = hold(folder.path())? else {
                continue;
            };
            sweep(place, &held.metadata()?);
            return Ok(Self {
                folder,
                _held: held,
            });
        }
        Err(io::Error::other("new folders for contents keep vanishing"))
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Takes a new folder; None where somebody took it for a left one meanwhile.
fn hold(folder: &Path) -> io::Result<Option<File>> {
    let held = match File::open(folder) {
        Ok(held) => held,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match held.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        // A file system that locks no folders: nobody can take this one either.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    Ok(folder.try_exists()?.then_some(held))
}

/// What can't be removed stays, and is no error: nobody asked for it.
fn sweep(place: &Path, ours: &Metadata) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    let left = entries.filter_map(|entry| left_behind(&entry.ok()?, ours));
    for (folder, _held) in left.take(MAX_SWEPT) {
        match fs::remove_dir_all(&folder) {
            Ok(()) => tracing::debug!("removed {}, which a process left", folder.display()),
            Err(error) => tracing::debug!("could not remove {}: {error}", folder.display()),
        }
    }
}

/// A folder of the same user that nobody holds. We do, until it is removed.
fn left_behind(entry: &DirEntry, ours: &Metadata) -> Option<(PathBuf, File)> {
    let name = entry.file_name();
    if !name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
        return None;
    }
    // Of the entry itself, so that no link leads anywhere else.
    let metadata = entry.metadata().ok()?;
    if !metadata.is_dir() || metadata.uid() != ours.uid() {
        return None;
    }
    let folder = entry.path();
    let held = File::open(&folder).ok()?;
    held.try_lock().ok()?;
    Some((folder, held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_somebody_holds_is_not() {
        let place = TempDir::new().unwrap();
        let held = LayerFolder::make(place.path()).unwrap();
        fs::write(held.path().join("1"), "in use").unwrap();
        let at = |name: &str| place.path().join(name);
        for name in ["airlock-layer-left", "layer-of-others"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("1"), "left").unwrap();
        }
        std::os::unix::fs::symlink(at("layer-of-others"), at("airlock-layer-link")).unwrap();

        let new = LayerFolder::make(place.path()).unwrap();
        assert!(!at("airlock-layer-left").exists());
        assert!(at("layer-of-others/1").exists() && at("airlock-layer-link").is_symlink());
        assert!(held.path().join("1").exists());
        let mode = new.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        let path = new.path().to_owned();
        drop(new);
        assert!(!path.exists());
    }
}
