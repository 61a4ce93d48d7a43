//! One commit at a time: of a workspace, and of those that it lies in or that lie in it.
//!
//! The locks are the system's own (`flock`) on a file in the private folder, since whoever may read
//! a file may lock it: exclusive in the workspace, shared in those above it. So two workspaces side
//! by side don't wait for each other, and one that lies in another does, once the outer one has a
//! private folder. They end with the process.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FlockOperation, OFlags};
use rustix::io::Errno;

use crate::commit::{Private, open_or_make_file};
use crate::fault::step;
use crate::lower::{Stamp, open_beneath, open_directory};
use crate::path::PRIVATE;
use crate::workspace::Opened;

/// In the private folder.
pub(crate) const LOCK: &str = "lock";

/// How long one commit waits for another, which holds the locks for no longer than it checks and
/// places its files.
const PATIENCE: Duration = Duration::from_secs(30);

/// `flock` can wait, but not until a time.
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// The locks that a commit or a recovery has.
pub(crate) struct Locked {
    _held: Vec<File>,
}

/// None where somebody else had one of them for too long.
pub(crate) fn lock(workspace: &Opened) -> io::Result<Option<Locked>> {
    let until = Instant::now() + PATIENCE;
    let mut held = Vec::new();
    // From the outermost in, as everybody does.
    let mut above: Vec<_> = workspace.path.ancestors().skip(1).collect();
    above.reverse();
    for directory in above {
        let Some(private) = private_of_this_user(directory)? else {
            continue;
        };
        match take(&private, FlockOperation::NonBlockingLockShared, until)? {
            Some(file) => held.push(file),
            None => return Ok(None),
        }
    }
    let own = match Private::open_or_make(workspace) {
        Ok(private) => private.folder,
        // Who may not write here commits nothing.
        Err(error) if is_read_only(&error) => return Ok(Some(Locked { _held: held })),
        Err(error) => return Err(error),
    };
    match take(&own, FlockOperation::NonBlockingLockExclusive, until) {
        Ok(Some(file)) => held.push(file),
        Ok(None) => return Ok(None),
        Err(error) if is_read_only(&error) => {}
        Err(error) => return Err(error),
    }
    Ok(Some(Locked { _held: held }))
}

/// The private folder in a directory above, if there is one. In others' directories, say `/home`,
/// there is none that this user commits to.
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

fn is_read_only(error: &io::Error) -> bool {
    let kinds = [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem,
    ];
    kinds.contains(&error.kind())
}

/// Takes the lock in a private folder. None if others had it until then.
fn take(private: &File, lock: FlockOperation, until: Instant) -> io::Result<Option<File>> {
    loop {
        let file = open_or_make_file(private, LOCK)?;
        if !wait(&file, lock, until)? {
            return Ok(None);
        }
        // Somebody may have removed it meanwhile, and others lock another file by now.
        let named = rustix::fs::statat(private, LOCK, AtFlags::SYMLINK_NOFOLLOW);
        let locked = Stamp::of(&rustix::fs::fstat(&file)?);
        if named.is_ok_and(|named| Stamp::of(&named).is_same_object(&locked)) {
            return Ok(Some(file));
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
