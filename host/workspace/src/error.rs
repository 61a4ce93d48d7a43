//! Errors of commits and recoveries.

use std::fmt;
use std::io;

/// The reason why a layer was not committed. The folder is unchanged, unless a variant says
/// otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Another program changed paths that the layer depends on.
    #[error("{} since it was looked at", ConflictList(.0))]
    Conflict(Vec<Conflict>),
    /// Another program has the file at this path open for writing. The commit would replace the
    /// file, and later writes would be lost.
    #[error("{0} is open for writing in another program, and what that writes would be lost")]
    InUse(String),
    /// The id was already committed.
    #[error("{0} was committed before")]
    AlreadyCommitted(String),
    /// The layer was created on top of another folder.
    #[error("the changes were made to another folder")]
    OtherFolder,
    /// Another program's commit took too long.
    #[error("the folder is locked by another program, which is committing")]
    Locked,
    /// An earlier commit was interrupted and can't be finished.
    #[error(transparent)]
    Unrecovered(#[from] RecoverError),
    /// A change that can't be committed, for example into a file system mounted below the folder.
    #[error("{path}: {reason}")]
    Unsupported {
        /// The path, relative to the folder.
        path: String,
        /// The reason.
        reason: &'static str,
    },
    /// A system error.
    #[error("could not {doing}: {source}")]
    Io {
        /// The operation that failed.
        doing: String,
        /// The cause.
        source: io::Error,
    },
}

/// A path that another program has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path, relative to the folder.
    pub path: String,
    /// The kind of conflict.
    pub what: ConflictKind,
}

/// The kind of a change by another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// The object was changed, replaced or removed.
    Changed,
    /// The object is new.
    Appeared,
    /// Lines of a text were changed that an undo changes too: the first and the last one, counted
    /// from 1.
    Overlap {
        /// The first line.
        first: usize,
        /// The last line.
        last: usize,
    },
}

/// Lists the first conflicts.
struct ConflictList<'a>(&'a [Conflict]);

impl fmt::Display for ConflictList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, conflict) in self.0.iter().take(3).enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            let what = match conflict.what {
                ConflictKind::Changed | ConflictKind::Overlap { .. } => "has changed",
                ConflictKind::Appeared => "is new",
            };
            write!(f, "{comma}{} {what}", conflict.path)?;
        }
        match self.0.len().saturating_sub(3) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

/// The reason why a commit can't be undone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The files that the commit replaced and removed are not kept.
    #[error("the files that {0} replaced are not kept")]
    NotKept(String),
    /// The layer has changes already.
    #[error("the layer has changes already")]
    NotEmpty,
    /// Another program changed what the commit made, or took its place.
    #[error("{} since it was applied", ConflictList(.0))]
    Changed(Vec<Conflict>),
    /// The earlier version of the object at this path was not kept.
    #[error("the earlier version of {0} is not kept")]
    Incomplete(String),
    /// An earlier commit was interrupted and can't be finished.
    #[error(transparent)]
    Unrecovered(#[from] RecoverError),
    /// A system error.
    #[error("could not {doing}: {source}")]
    Io {
        /// The operation that failed.
        doing: String,
        /// The cause.
        source: io::Error,
    },
}

/// The reason why an interrupted commit could not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// Another object blocks an operation that had to be done or undone.
    #[error(
        "a commit of {id} was cut off, and {path} is in the way of finishing it: move it aside, and try again"
    )]
    Blocked {
        /// The id of the commit.
        id: String,
        /// The blocked path, relative to the folder.
        path: String,
    },
    /// Another program's commit took too long.
    #[error("the folder is locked by another program, which is committing")]
    Locked,
    /// A system error.
    #[error("could not {doing}: {source}")]
    Io {
        /// The operation that failed.
        doing: String,
        /// The cause.
        source: io::Error,
    },
}

/// Adds the failed operation to a system error.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Failed>;
}

/// A system error with the operation that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub doing: String,
    pub source: io::Error,
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Failed> {
        self.map_err(|error| Failed {
            doing: what(),
            source: error.into(),
        })
    }
}

impl From<Failed> for CommitError {
    fn from(Failed { doing, source }: Failed) -> Self {
        CommitError::Io { doing, source }
    }
}

impl From<Failed> for RecoverError {
    fn from(Failed { doing, source }: Failed) -> Self {
        RecoverError::Io { doing, source }
    }
}

impl From<Failed> for RestoreError {
    fn from(Failed { doing, source }: Failed) -> Self {
        RestoreError::Io { doing, source }
    }
}
