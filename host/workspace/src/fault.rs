//! Lets tests cut a commit off at any system call, and watch what it syncs.

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

/// A system call of a commit or a recovery is about to be made.
#[inline]
pub(crate) fn step() -> io::Result<()> {
    #[cfg(test)]
    watched::step();
    #[cfg(any(test, fuzzing))]
    injected::step()?;
    Ok(())
}

/// A file or directory was synced; none means the whole file system.
#[inline]
pub(crate) fn synced(_file: Option<&File>) {
    #[cfg(test)]
    watched::synced(_file);
}

/// The number of an object. Tests map numbers: an object that they restore gets a new one from the
/// system.
#[inline]
pub(crate) fn inode(number: u64) -> u64 {
    #[cfg(test)]
    return watched::inode(number);
    #[cfg(not(test))]
    number
}
