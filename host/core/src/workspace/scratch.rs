//! Directories of the host's own for what plugins write while they work, and what becomes of those
//! that a killed host left.
//!
//! Each engine has one folder of its own in each place where it needs one, and holds it locked. The
//! system gives the lock back when the process ends, however it ends. Who makes such a folder
//! removes those beside it that nobody holds. Programs that clean up temporary files spare what is
//! locked, too: systemd's does.

use std::fs::{self, DirEntry, File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use airlock_model::regular::open_folder;
use tempfile::TempDir;
use wasmtime_wasi::filesystem::Dir;

use super::quota::Usage;
use super::removal;
use super::roots::writable;

/// What the names of the folders begin with.
const PREFIX: &str = "airlock-scratch-";

/// How many left folders are removed at one time: a plugin waits for it. The others have to wait
/// for the next one.
const MAX_SWEPT: usize = 64;

/// How often to make a folder anew that was taken for a left one, between its making and its
/// taking.
const TRIES: usize = 8;

/// The places where an engine has its scratch directories. What is in them is removed with the
/// engine.
#[derive(Default)]
pub(crate) struct ScratchRoots {
    roots: Mutex<Vec<ScratchRoot>>,
}

/// A folder of an engine's own.
struct ScratchRoot {
    parent: PathBuf,
    /// Always there until it is dropped.
    folder: Option<TempDir>,
    /// The folder itself, locked.
    _held: File,
}

/// A directory of a plugin's own, made when the guest first asks for its directories and removed
/// with the session.
pub(crate) struct ScratchFolder {
    /// Before `roots`, where it lies: it is removed first.
    made: Mutex<Option<TempDir>>,
    roots: Arc<ScratchRoots>,
    parent: PathBuf,
    usage: Arc<Usage>,
}

impl ScratchFolder {
    /// To be made in `parent`, in the folder that `roots` has there.
    pub fn inside(roots: &Arc<ScratchRoots>, parent: PathBuf) -> Self {
        Self {
            made: Mutex::default(),
            roots: Arc::clone(roots),
            parent,
            usage: Arc::default(),
        }
    }

    /// How much is in it.
    pub(super) fn usage(&self) -> &Arc<Usage> {
        &self.usage
    }

    /// Whether the plugin has left anything there.
    pub fn is_used(&self) -> bool {
        self.usage.is_any()
    }

    /// Makes it if that has not been done, and opens it.
    pub fn open(&self) -> io::Result<Dir> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = match &mut *made {
            Some(folder) => folder,
            none => none.insert(self.roots.make_inside(&self.parent)?),
        };
        Ok(writable(open_folder(folder.path())?))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let made = self.made.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = made.take() {
            remove_or_tell(folder.keep());
        }
    }
}

impl ScratchRoots {
    /// Makes a directory for a plugin, in this engine's folder in `parent`.
    fn make_inside(&self, parent: &Path) -> io::Result<TempDir> {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let known = roots.iter().position(|root| root.parent == parent);
        let index = match known {
            Some(index) => index,
            None => {
                roots.push(ScratchRoot::make(parent)?);
                roots.len() - 1
            }
        };
        let made = named("plugin-").tempdir_in(roots[index].path()?)?;
        // Others need not wait for what may take a while.
        drop(roots);
        if known.is_none()
            && let Ok(ours) = made.path().metadata()
        {
            sweep(parent, &ours);
        }
        Ok(made)
    }
}

impl Drop for ScratchRoot {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            remove_or_tell(folder.keep());
        }
    }
}

/// Nobody waits for it. What stays is removed by the next engine there.
fn remove_or_tell(folder: PathBuf) {
    if let Err(error) = removal::remove(&folder) {
        tracing::warn!("could not remove {}: {error}", folder.display());
    }
}

impl ScratchRoot {
    fn path(&self) -> io::Result<&Path> {
        let folder = self.folder.as_ref().map(TempDir::path);
        folder.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn make(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        for _ in 0..TRIES {
            let folder = named(PREFIX).tempdir_in(parent)?;
            if let Some(held) = hold_new(folder.path())? {
                return Ok(Self {
                    parent: parent.to_owned(),
                    folder: Some(folder),
                    _held: held,
                });
            }
        }
        Err(io::Error::other("new scratch directories keep vanishing"))
    }
}

/// Removes the folders of hosts that are gone, which have the same owner as what is `ours`. What
/// can't be removed stays, and is no error: nobody asked for it.
fn sweep(parent: &Path, ours: &Metadata) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let left = entries.filter_map(|entry| left_behind(&entry.ok()?, ours));
    for (folder, _held) in left.take(MAX_SWEPT) {
        match removal::remove(&folder) {
            Ok(()) => tracing::debug!("removed {}, left by a host", folder.display()),
            Err(error) => tracing::debug!("could not remove {}: {error}", folder.display()),
        }
    }
}

/// A new directory with such a name, open to its owner alone: others can neither read what plugins
/// write, nor put another in its place.
fn named(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder
}

/// Takes a new folder; None where somebody took it for a left one meanwhile, and has removed it or
/// is about to.
fn hold_new(folder: &Path) -> io::Result<Option<File>> {
    let held = match open_folder(folder) {
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
fn left_behind(entry: &DirEntry, ours: &Metadata) -> Option<(PathBuf, File)> {
    let name = entry.file_name();
    if !name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
        return None;
    }
    // Of the entry itself, so that no link leads anywhere else.
    let metadata = entry.metadata().ok()?;
    if !metadata.is_dir() || !is_of_the_same_user(&metadata, ours) {
        return None;
    }
    let folder = entry.path();
    let held = open_folder(&folder).ok()?;
    held.try_lock().ok()?;
    Some((folder, held))
}

#[cfg(unix)]
fn is_of_the_same_user(theirs: &Metadata, ours: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    theirs.uid() == ours.uid()
}

#[cfg(not(unix))]
fn is_of_the_same_user(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as a host has it, with a file in it.
    fn folder(parent: &Path, name: &str) -> PathBuf {
        let folder = parent.join(name);
        fs::create_dir_all(folder.join("plugin-a/deep")).unwrap();
        fs::write(folder.join("plugin-a/deep/file"), "text").unwrap();
        folder
    }

    #[test]
    fn folders_of_hosts_that_are_gone_are_removed_and_nothing_else_is() {
        let (parent, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let parent = parent.path();
        let left = folder(parent, "airlock-scratch-left");
        let alive = folder(parent, "airlock-scratch-alive");
        let held = File::open(&alive).unwrap();
        held.lock().unwrap();
        let other_name = folder(parent, "other");
        let linked = folder(outside.path(), "linked");
        let link = parent.join("airlock-scratch-link");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&linked, &link).unwrap();
        fs::write(parent.join("airlock-scratch-file"), "a file").unwrap();

        let roots = Arc::new(ScratchRoots::default());
        ScratchFolder::inside(&roots, parent.to_owned())
            .open()
            .unwrap();

        assert!(!left.exists());
        for kept in [&alive, &other_name, &linked] {
            assert!(kept.join("plugin-a/deep/file").exists(), "{kept:?}");
        }
        assert_eq!(link.is_symlink(), cfg!(unix));
        assert!(parent.join("airlock-scratch-file").exists());
    }

    #[test]
    fn two_engines_leave_each_other_alone_and_nothing_is_left_of_either() {
        let parent = TempDir::new().unwrap();
        let count = || fs::read_dir(parent.path()).unwrap().count();
        let open = || {
            let roots = Arc::new(ScratchRoots::default());
            let plugins = [0, 1].map(|_| {
                let folder = ScratchFolder::inside(&roots, parent.path().to_owned());
                folder.open().unwrap();
                folder
            });
            (roots, plugins)
        };
        let one = open();
        let other = open();
        assert_eq!(count(), 2);
        #[cfg(unix)]
        for entry in fs::read_dir(parent.path()).unwrap() {
            use std::os::unix::fs::PermissionsExt;
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        drop(one);
        assert_eq!(count(), 1);
        for folder in &other.1 {
            folder.open().unwrap();
        }
        drop(other);
        assert_eq!(count(), 0);
    }

    #[test]
    fn a_folder_that_is_taken_for_a_left_one_is_not_used() {
        let parent = TempDir::new().unwrap();
        assert!(hold_new(&parent.path().join("removed")).unwrap().is_none());
        let folder = folder(parent.path(), "new");
        let held = hold_new(&folder).unwrap();
        assert!(held.is_some());
        assert!(hold_new(&folder).unwrap().is_none());
        drop(held);
        assert!(hold_new(&folder).unwrap().is_some());
    }
}
