//! Allows one commit at a time in a workspace and in the workspaces inside or around it.
//!
//! The locks (`flock`) are on a file in the private folder, because every user who can read a file
//! can lock it. They are exclusive in the workspace and shared in those above it. Sibling
//! workspaces don't wait for each other; nested ones do, once the outer one has a private folder.
//! The locks end with the process.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FlockOperation, OFlags};
use rustix::io::Errno;

use crate::commit::{Private, entries, open_or_make_file, remove_file};
use crate::fault::step;
use crate::lower::{Stamp, open_beneath, open_directory};
use crate::path::PRIVATE;
use crate::system;
use crate::workspace::Opened;

/// The lock file's name in the private folder.
pub(crate) const LOCK: &str = "lock";

/// The time that a commit waits for another one, which holds the locks only while it checks and
/// places its files.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// Pause between attempts, because `flock` has no timeout.
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// Runs `run` while no other commit or recovery runs. Returns `None` if another process holds a
/// lock for too long.
///
/// A private folder that was created for the lock is removed afterwards, unless something was
/// committed.
pub(crate) fn with_lock<T>(workspace: &Opened, run: impl FnOnce() -> T) -> io::Result<Option<T>> {
    system::check_commits()?;
    let until = Instant::now() + LOCK_TIMEOUT;
    let mut held = Vec::new();
    // All processes lock from the outermost folder inwards.
    let mut above: Vec<_> = workspace.path.ancestors().skip(1).collect();
    above.reverse();
    for directory in above {
        let Some(private) = private_of_this_user(directory)? else {
            continue;
        };
        match take(&private, FlockOperation::NonBlockingLockShared, until) {
            Ok(Taken::Lock(file)) => held.push(file),
            Ok(Taken::TooLate) => return Ok(None),
            Ok(Taken::Gone) => {}
            Err(error) if is_read_only(&error) => {}
            Err(error) => return Err(with_path(directory, &error)),
        }
    }
    let own = match take_own(workspace, until) {
        Ok(Some(own)) => own,
        Ok(None) => return Ok(None),
        // A user who can't write here can't commit either.
        Err(error) if is_read_only(&error) => return Ok(Some(run())),
        Err(error) => return Err(with_path(&workspace.path, &error)),
    };
    let result = run();
    own.release(workspace);
    Ok(Some(result))
}

struct Own {
    _lock: File,
    /// The private folder, if it was created for the lock.
    made: Option<File>,
}

fn take_own(workspace: &Opened, until: Instant) -> io::Result<Option<Own>> {
    loop {
        let (private, is_made) = Private::open_or_make(workspace)?;
        match take(
            &private.folder,
            FlockOperation::NonBlockingLockExclusive,
            until,
        )? {
            Taken::Lock(lock) => {
                let made = is_made.then_some(private.folder);
                return Ok(Some(Own { _lock: lock, made }));
            }
            Taken::TooLate => return Ok(None),
            Taken::Gone => {}
        }
    }
}

impl Own {
    /// Removes a private folder that is otherwise empty. A process that waits for the lock creates
    /// it again.
    fn release(self, workspace: &Opened) {
        let Some(private) = self.made else { return };
        let is_unused = entries(&private)
            .is_ok_and(|names| names.iter().all(|name| name.to_bytes() == LOCK.as_bytes()));
        if !is_unused {
            return;
        }
        let removed = remove_file(&private, LOCK).and_then(|()| {
            step()?;
            let root = workspace.lower.root();
            Ok(rustix::fs::unlinkat(root, PRIVATE, AtFlags::REMOVEDIR)?)
        });
        if let Err(error) = removed {
            tracing::debug!("{PRIVATE} stays: {error}");
        }
    }
}

/// Returns this user's private folder in a directory above, if there is one. Other users' folders
/// don't affect this user's commits.
fn private_of_this_user(directory: &Path) -> io::Result<Option<File>> {
    let this_user = rustix::process::geteuid().as_raw();
    let opened = open_directory(directory).and_then(|directory| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        open_beneath(&directory, PRIVATE, flags)
    });
    let Ok(private) = opened.map(File::from) else {
        return Ok(None);
    };
    let owner = rustix::fs::fstat(&private)?.st_uid;
    Ok((owner == this_user).then_some(private))
}

fn with_path(directory: &Path, error: &io::Error) -> io::Error {
    let lock = directory.join(PRIVATE).join(LOCK);
    io::Error::new(error.kind(), format!("{}: {error}", lock.display()))
}

fn is_read_only(error: &io::Error) -> bool {
    let kinds = [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem,
    ];
    kinds.contains(&error.kind())
}

enum Taken {
    Lock(File),
    /// Another process held the lock until the deadline.
    TooLate,
    /// The folder was removed.
    Gone,
}

/// Takes the lock in a private folder.
fn take(private: &File, lock: FlockOperation, until: Instant) -> io::Result<Taken> {
    loop {
        let file = match open_or_make_file(private, LOCK) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Taken::Gone),
            Err(error) => return Err(error),
        };
        if !wait(&file, lock, until)? {
            return Ok(Taken::TooLate);
        }
        // If the file was removed in the meantime, other processes lock another file by now.
        let named = rustix::fs::statat(private, LOCK, AtFlags::SYMLINK_NOFOLLOW);
        let locked = Stamp::of(&rustix::fs::fstat(&file)?);
        if named.is_ok_and(|named| Stamp::of(&named).is_same_object(&locked)) {
            return Ok(Taken::Lock(file));
        }
    }
}

fn wait(file: &File, lock: FlockOperation, until: Instant) -> io::Result<bool> {
    step()?;
    loop {
        match rustix::fs::flock(file, lock) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                std::thread::sleep(BETWEEN_TRIES);
            }
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
