//! One commit at a time: of a workspace, and of those that it lies in or that lie in it.
//!
//! The locks are the system's own on directories (`flock`): exclusive on the workspace, shared on
//! those above it. So two workspaces side by side don't wait for each other, and one that lies in
//! another does. They end with the process, and nothing is left in the folder.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::fault::step;
use crate::lower::open_directory;
use crate::workspace::Opened;

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
    let this_user = rustix::process::geteuid().as_raw();
    // From the outermost in, as everybody does.
    let mut above: Vec<_> = workspace.path.ancestors().skip(1).collect();
    above.reverse();
    for directory in above {
        // Who can't read a directory above has no workspace there; nor have others' directories,
        // say `/home`, any that this user commits to.
        let Ok(file) = open_directory(directory) else {
            continue;
        };
        if rustix::fs::fstat(&file)?.st_uid != this_user {
            continue;
        }
        if !take(&file, FlockOperation::NonBlockingLockShared, until)? {
            return Ok(None);
        }
        held.push(file);
    }
    // Of the directory itself, and not of another descriptor of it that a clone has.
    let own = workspace.lower.open("", rustix::fs::OFlags::RDONLY)?;
    let own = File::from(own);
    if !take(&own, FlockOperation::NonBlockingLockExclusive, until)? {
        return Ok(None);
    }
    held.push(own);
    Ok(Some(Locked { _held: held }))
}

fn take(file: &File, lock: FlockOperation, until: Instant) -> io::Result<bool> {
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
