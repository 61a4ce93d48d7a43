//! The compile cache of a program in the user's own folders.

use std::io;
use std::path::{Component, Path};

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

use super::CompileCache;

impl CompileCache {
    /// Opens the cache that a program of this name has in the current user's own folders: the
    /// entries in `compiled` in its cache folder, say `~/.cache/NAME`, and the key in its state
    /// folder, say `~/.local/state/NAME`. They lie apart, so that what can write to caches alone
    /// can't forge an entry. Both folders are made, and taken from all other users.
    ///
    /// # Errors
    /// As [`CompileCache::open`], where nobody says where the user's folders are, and where the
    /// program's name is not the name of one folder.
    pub fn of_user(program: &str) -> io::Result<Self> {
        check_name(program)?;
        let caches = folders()?.cache_dir();
        Self::of_user_in(&caches.join(program), program)
    }

    /// The same with another cache folder of the program's.
    ///
    /// # Errors
    /// As [`CompileCache::of_user`].
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

/// Without one, the user's folders themselves would be taken from others; with more, another's.
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

/// Takes a folder of ours from all others, who could read in it what plugins there are and what is
/// pending. New ones are made so; who made an older one may have left it to the umask.
fn keep_to_ourselves(folder: &Path) {
    #[cfg(unix)]
    {
        use std::fs::{self, Permissions};
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        // Of the entry itself: where it is a link, somebody has chosen another place, and what
        // holds there.
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
