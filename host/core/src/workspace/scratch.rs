//! The host's scratch directories, to which plugins write while they work, and cleanup of those
//! that a killed host left.
//!
//! Each engine has one folder in each parent directory that it needs, and holds it: see
//! [`airlock_workspace::held`]. Creating such a folder removes those next to it that no process
//! holds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use airlock_model::regular::open_folder;
use airlock_workspace::held::{self, HeldFolder};
use tempfile::TempDir;
use wasmtime_wasi::filesystem::Dir;

use super::quota::Usage;
use super::removal;
use super::roots::writable;

/// Name prefix of the folders.
const PREFIX: &str = "airlock-scratch-";

/// The folders in which an engine has its scratch directories. They are removed with the engine.
#[derive(Default)]
pub(crate) struct ScratchRoots {
    roots: Mutex<Vec<ScratchRoot>>,
}

/// A folder of one engine.
struct ScratchRoot {
    parent: PathBuf,
    /// `Some` until it is dropped.
    folder: Option<HeldFolder>,
}

/// A directory of one plugin, created when the guest first asks for its directories and removed
/// with the session.
pub(crate) struct ScratchFolder {
    /// Declared before `roots`, which contains it, so that it is removed first.
    made: Mutex<Option<TempDir>>,
    roots: Arc<ScratchRoots>,
    parent: PathBuf,
    usage: Arc<Usage>,
}

impl ScratchFolder {
    /// Returns a directory to be created in `parent`, in the folder that `roots` has there.
    pub fn inside(roots: &Arc<ScratchRoots>, parent: PathBuf) -> Self {
        Self {
            made: Mutex::default(),
            roots: Arc::clone(roots),
            parent,
            usage: Arc::default(),
        }
    }

    /// Returns its usage.
    pub(super) fn usage(&self) -> &Arc<Usage> {
        &self.usage
    }

    /// Returns whether the plugin has left anything there.
    pub fn is_used(&self) -> bool {
        self.usage.is_any()
    }

    /// Opens the directory, and creates it on first use.
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
            remove_or_tell(&folder.keep());
        }
    }
}

impl ScratchRoots {
    /// Creates a directory for a plugin, in this engine's folder in `parent`.
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
        let made = private_builder("plugin-").tempdir_in(roots[index].path()?)?;
        // Cleanup may take a while; release the lock first.
        drop(roots);
        if known.is_none()
            && let Ok(ours) = made.path().metadata()
        {
            held::sweep(parent, PREFIX, &ours, removal::remove);
        }
        Ok(made)
    }
}

impl Drop for ScratchRoot {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            folder.remove_by(remove_or_tell);
        }
    }
}

/// Removes a folder, and logs a failure. The next engine there removes the rest.
fn remove_or_tell(folder: &Path) {
    if let Err(error) = removal::remove(folder) {
        tracing::warn!("could not remove {}: {error}", folder.display());
    }
}

impl ScratchRoot {
    fn path(&self) -> io::Result<&Path> {
        let folder = self.folder.as_ref().map(HeldFolder::path);
        folder.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn make(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        Ok(Self {
            parent: parent.to_owned(),
            folder: Some(HeldFolder::make(parent, PREFIX)?),
        })
    }
}

/// Returns a builder for a directory with this prefix that is accessible only to its owner: others
/// can neither read what plugins write nor replace it.
fn private_builder(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    /// A host's folder with a file in it.
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
}
