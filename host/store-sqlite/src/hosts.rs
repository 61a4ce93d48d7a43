//! Which hosts that use the file are alive, and a clock that all of them share.
//!
//! A host holds a lock on a file of its own, beside the store's, as long as it lives: the system
//! takes the lock away when the process ends, however it does. So the claims of a host that was
//! killed are free at once, and those of one that hangs when their time is up.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use airlock_model::regular::{check_regular, open_regular_file, without_waiting};
use uuid::Uuid;

/// Held while the folder's files come and go. No host is called so.
const FOLDER_LOCK: &str = "lock";

#[derive(Debug)]
pub(super) struct HostRegistry {
    folder: PathBuf,
    own: String,
    name: String,
    /// This host's lock, from its first claim on.
    alive: Mutex<Option<File>>,
    /// Hosts that are known to be gone: none comes back.
    gone: Mutex<HashSet<String>>,
}

impl HostRegistry {
    /// The hosts of the store at `path`, of which this process is to be a new one, called `name`
    /// for people.
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

    /// This host's id.
    pub fn own(&self) -> &str {
        &self.own
    }

    /// This host, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes others see that this host lives. To be called before anything is written that names
    /// it.
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

    /// Removes the files that dead hosts left. Nothing depends on it.
    fn remove_the_gone(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name() != FOLDER_LOCK && is_free(&entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Whether a host is gone for good.
    pub fn is_gone(&self, host: &str) -> bool {
        // A name that is no id would be a path to somewhere else.
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

    /// Whether the claim of `holder`, which was to last until `until` by [`clock`], is over.
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

/// Whether nobody holds the lock on a host's file. Others may ask at the same time, so the lock is
/// shared with them.
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

/// Milliseconds since the machine started, the time that it slept among them. The same for all
/// processes, and it never goes back.
pub(super) fn clock() -> i64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let id = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let id = rustix::time::ClockId::Monotonic;
    let now = rustix::time::clock_gettime(id);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    let parent = path.parent();
    let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Makes a folder, and those above it, for this user alone.
pub(super) fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens a file to write to, and where it is missing, makes it for this user alone.
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
        // As the system does it for a process that is killed: the lock goes, and the file stays.
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
