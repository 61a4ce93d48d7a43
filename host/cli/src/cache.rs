//! Where compiled plugins are kept between runs.

use std::env;
use std::io;
use std::path::PathBuf;

use airlock_host::CompileCache;
use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

/// The user's cache. None where there is no place for one, which costs time and nothing else.
pub fn open() -> Option<CompileCache> {
    let opened = places().and_then(|(folder, key)| CompileCache::open(folder, key));
    opened
        .inspect_err(|error| tracing::warn!("there is no compile cache: {error}"))
        .ok()
}

/// The folder, and the file with the key. They lie apart, so that what can write to caches alone can't forge an entry.
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
