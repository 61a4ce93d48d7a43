//! The bounds of the paths that the user of a directory can reach.

use std::fmt;

/// A kind of access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Its contents, names or target are read.
    Read,
    /// It is created, changed, moved or removed.
    Change,
}

/// Decides what can be reached through a [`Directory`](crate::Directory) and everything opened
/// through it. Paths are relative to the folder; the folder itself is the empty path.
///
/// A path out of bounds fails with `EACCES`, whether anything exists there or not, and whether a
/// link or a rename leads to it. A directory that leads to a path within bounds is there, with
/// nothing else in it and without its size and times; anything else at such a path is missing.
pub trait Bounds: fmt::Debug + Send + Sync {
    /// Returns whether this access to a path is within bounds. A path that can be changed must be
    /// readable too.
    fn allows(&self, access: Access, path: &str) -> bool;

    /// Returns whether some path below a directory may be read.
    fn leads_from(&self, directory: &str) -> bool;

    /// Returns whether this access to every path below a directory is within bounds.
    fn covers(&self, access: Access, directory: &str) -> bool;

    /// Notes that an access was refused.
    fn denied(&self, access: Access, path: &str);
}
