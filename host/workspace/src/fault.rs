//! Where a commit may be cut off or fail, for tests, which are also told of what it makes durable.

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

/// A file or a directory is on the disk by now; everything is where it is none.
#[inline]
pub(crate) fn synced(_file: Option<&File>) {
    #[cfg(test)]
    watched::synced(_file);
}

/// The number of an object on its file system. A test that puts back what a disk had can't give an
/// object the same one.
#[inline]
pub(crate) fn inode(number: u64) -> u64 {
    #[cfg(test)]
    return watched::inode(number);
    #[cfg(not(test))]
    number
}
