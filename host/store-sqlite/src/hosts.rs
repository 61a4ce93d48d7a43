//! Tracks which hosts of the file are alive, and provides a clock that they share.
//!
//! A living host holds a lock on its file next to the store. The system releases the lock when the
//! process ends for any reason. So the claims of a killed host are free at once, and those of a
//! hanging one when they expire.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use airlock_model::regular::{check_regular, open_regular_file, without_waiting};
use uuid::Uuid;

/// The lock that is held while files in the folder are created or removed. No host has this name.
const FOLDER_LOCK: &str = "lock";

#[derive(Debug)]
pub(super) struct HostRegistry {
    folder: PathBuf,
    own: String,
    name: String,
    /// The lock of this host, held from its first claim on.
    alive: Mutex<Option<File>>,
    /// Hosts that are known to be gone. They never come back.
    gone: Mutex<HashSet<String>>,
}

impl HostRegistry {
    /// Returns the hosts of the store at `path`. This process becomes a new one; `name` is its
    /// display name.
    pub fn beside(path: &Path, name: String) -> Self {
        let mut folder = OsString::from(path);
        folder.push(".hosts");
        Self {
            folder: folder.into(),
            own: Uuid::now_v7().to_string(),
            name,
            alive: Mutex::default(),
            gone: Mutex::default(),
        }
    }

    /// Returns this host's id.
    pub fn own(&self) -> &str {
        &self.own
    }

    /// Returns this host's display name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Marks this host as alive for other processes. Call it before writing anything that names
    /// this host.
    pub fn register(&self) -> io::Result<()> {
        let mut alive = lock(&self.alive);
        if alive.is_some() {
            return Ok(());
        }
        make_private_folder(&self.folder)?;
        let folder_lock = open_private(&self.folder.join(FOLDER_LOCK))?;
        folder_lock.lock()?;
        self.remove_the_gone();
        let own = open_private(&self.folder.join(&self.own))?;
        own.lock()?;
        *alive = Some(own);
        Ok(())
    }

    /// Removes the files of dead hosts. Correctness does not depend on it.
    fn remove_the_gone(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name() != FOLDER_LOCK && is_free(&entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Returns whether a host is gone for good.
    pub fn is_gone(&self, host: &str) -> bool {
        // A name that is not an id could be a path to another place.
        if host == self.own || Uuid::try_parse(host).is_err() {
            return false;
        }
        if lock(&self.gone).contains(host) {
            return true;
        }
        let gone = is_free(&self.folder.join(host));
        if gone {
            lock(&self.gone).insert(host.to_owned());
        }
        gone
    }

    /// Returns whether the claim of `holder` is over. `until` is its expiry by [`clock`].
    pub fn is_lease_over(&self, holder: &str, until: i64) -> bool {
        clock() >= until || self.is_gone(holder)
    }
}

impl Drop for HostRegistry {
    fn drop(&mut self) {
        if lock(&self.alive).is_some() {
            let _ = fs::remove_file(self.folder.join(&self.own));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a host's file is unlocked. The check uses a shared lock, because other
/// processes may check at the same time.
fn is_free(path: &Path) -> bool {
    match open_regular_file(path) {
        Ok(file) => match file.try_lock_shared() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => false,
        },
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Returns the milliseconds since the machine started, including sleep. The clock is the same for
/// all processes and never goes back.
pub(super) fn clock() -> i64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let id = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let id = rustix::time::ClockId::Monotonic;
    let now = rustix::time::clock_gettime(id);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// Returns the parent folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    let parent = path.parent();
    let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Creates a folder and its parents, accessible only to this user.
pub(super) fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens a file for writing, and creates it for this user only if it is missing.
pub(super) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = without_waiting(&mut options).open(path)?;
    check_regular(&file)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(folder: &Path) -> HostRegistry {
        HostRegistry::beside(&folder.join("store.db"), "here/1".to_owned())
    }

    #[test]
    fn a_host_is_gone_when_its_lock_is_and_never_for_itself() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (hosts(folder.path()), hosts(folder.path()));
        one.register().unwrap();
        other.register().unwrap();
        assert!(!one.is_gone(one.own()));
        assert!(!one.is_gone(other.own()));
        let id = other.own().to_owned();
        drop(other);
        assert!(one.is_gone(&id));
        assert!(one.is_lease_over(&id, i64::MAX));
        assert!(!one.is_lease_over(one.own(), i64::MAX));
        assert!(one.is_lease_over(one.own(), clock()));
    }

    #[test]
    fn what_a_killed_host_left_is_found_free_and_removed_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let killed = hosts(folder.path());
        killed.register().unwrap();
        let left = killed.folder.join(killed.own());
        // Like the system when it kills a process: the lock is released and the file stays.
        lock(&killed.alive).take();
        assert!(left.exists());
        let next = hosts(folder.path());
        assert!(next.is_gone(killed.own()));
        next.register().unwrap();
        assert!(!left.exists());
        assert!(next.is_gone(killed.own()));
    }

    #[test]
    fn a_name_that_is_no_id_is_no_path() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!hosts(folder.path()).is_gone("../nowhere"));
    }
}
