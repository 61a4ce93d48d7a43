//! The compile cache of a program in the user's own folders.

use std::io;
use std::path::{Component, Path};

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

use super::CompileCache;

impl CompileCache {
    /// Opens the cache of the program with this name in the current user's own folders. The entries
    /// are in `compiled` in its cache folder, such as `~/.cache/NAME`, and the key is in its state
    /// folder, such as `~/.local/state/NAME`. They are separate, so that write access to caches
    /// alone is not enough to forge an entry. Both folders are created and made inaccessible to
    /// other users.
    ///
    /// # Errors
    /// The errors of [`CompileCache::open`]. Also if the user's folders can't be determined, or if
    /// the program's name is not a single folder name.
    pub fn of_user(program: &str) -> io::Result<Self> {
        check_name(program)?;
        let caches = folders()?.cache_dir();
        Self::of_user_in(&caches.join(program), program)
    }

    /// Opens the program's cache in another folder.
    ///
    /// # Errors
    /// See [`CompileCache::of_user`].
    pub fn of_user_in(folder: &Path, program: &str) -> io::Result<Self> {
        check_name(program)?;
        let user = folders()?;
        let state = user.state_dir().unwrap_or_else(|| user.data_dir());
        let (compiled, state) = (folder.join("compiled"), state.join(program));
        keep_to_ourselves(&compiled);
        keep_to_ourselves(&state);
        Self::open(compiled, state.join("cache.key"))
    }
}

/// Checks that the name is exactly one folder name. Otherwise the permissions of the user's own
/// folders, or of another folder, would change.
fn check_name(program: &str) -> io::Result<()> {
    let mut parts = Path::new(program).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) if name == program => Ok(()),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{program:?} is not the name of one folder"),
        )),
    }
}

fn folders() -> io::Result<impl BaseStrategy> {
    choose_base_strategy().map_err(io::Error::other)
}

/// Makes a folder of ours inaccessible to others, who could see which plugins there are and which
/// actions are pending. New folders are created this way; an older one may depend on the umask.
fn keep_to_ourselves(folder: &Path) {
    #[cfg(unix)]
    {
        use std::fs::{self, Permissions};
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        // Of the entry itself: if it is a link, the user chose another place, with its own
        // permissions.
        let Ok(metadata) = folder.symlink_metadata() else {
            return;
        };
        let ours = metadata.uid() == rustix::process::geteuid().as_raw();
        if metadata.is_dir() && ours && metadata.mode() & 0o077 != 0 {
            let permissions = Permissions::from_mode(metadata.mode() & 0o700);
            if let Err(error) = fs::set_permissions(folder, permissions) {
                tracing::warn!("could not make {} private: {error}", folder.display());
            }
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_by_one_folder() {
        for name in ["airlock", "my agent", "a.b"] {
            check_name(name).unwrap();
        }
        for name in ["", ".", "..", "/", "/tmp", "a/b", "../a", "a/", "./a"] {
            let error = check_name(name).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}");
        }
    }
}
