//! Test hooks that interrupt a commit at any system call and record its syncs.

#[cfg(any(test, fuzzing))]
mod injected;
#[cfg(test)]
mod watched;

use std::fs::File;
use std::io;

#[cfg(any(test, fuzzing))]
pub use injected::{Fault, with};
#[cfg(test)]
pub use injected::{another_at, while_another};
#[cfg(test)]
pub use watched::{Seen, watched, with_inodes};

/// Marks a step. Call it before each system call of a commit or a recovery.
#[inline]
pub(crate) fn step() -> io::Result<()> {
    #[cfg(test)]
    watched::step();
    #[cfg(any(test, fuzzing))]
    injected::step()?;
    Ok(())
}

/// Marks a sync. Call it after a file or directory was synced; `None` means the whole file system.
#[inline]
pub(crate) fn synced(_file: Option<&File>) {
    #[cfg(test)]
    watched::synced(_file);
}

/// Returns the inode number of an object. Tests map these numbers, because an object that they
/// restore gets a new one from the system.
#[inline]
pub(crate) fn inode(number: u64) -> u64 {
    #[cfg(test)]
    return watched::inode(number);
    #[cfg(not(test))]
    number
}
