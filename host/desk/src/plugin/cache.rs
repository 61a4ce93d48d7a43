//! Where compiled plugins are kept between runs.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use airlock_host::CompileCache;
use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

/// The user's compile cache; none if it can't be opened, which costs time and nothing else.
pub fn open() -> Option<CompileCache> {
    let opened = places().and_then(|(folder, key)| {
        keep_to_ourselves(&folder);
        if let Some(folder) = key.parent() {
            keep_to_ourselves(folder);
        }
        CompileCache::open(folder, key)
    });
    opened
        .inspect_err(|error| tracing::warn!("there is no compile cache: {error}"))
        .ok()
}

/// The folder, and the file with the key. They lie apart, so that what can write to caches alone
/// can't forge an entry.
fn places() -> io::Result<(PathBuf, PathBuf)> {
    let user = choose_base_strategy().map_err(io::Error::other)?;
    let cache = match env::var_os("AIRLOCK_CACHE_DIR") {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ => user.cache_dir().join("airlock"),
    };
    let state = user
        .state_dir()
        .unwrap_or_else(|| user.data_dir())
        .join("airlock");
    Ok((cache.join("compiled"), state.join("cache.key")))
}

/// Takes a folder of ours from all others, who could read in it what plugins there are and what is
/// pending. New ones are made so; older versions of this program left it to the umask.
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
