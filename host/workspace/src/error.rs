//! Errors of commits and recoveries.

use std::io;

/// The reason why a layer was not committed. The folder is unchanged, unless a variant says
/// otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Another program changed paths that the layer depends on.
    #[error("{}", conflict_message(.0))]
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
}

fn conflict_message(conflicts: &[Conflict]) -> String {
    let named = conflicts
        .iter()
        .take(3)
        .map(|conflict| match conflict.what {
            ConflictKind::Changed => format!("{} has changed", conflict.path),
            ConflictKind::Appeared => format!("{} is new", conflict.path),
        });
    let mut message = named.collect::<Vec<_>>().join(", ");
    if conflicts.len() > 3 {
        message += &format!(", and {} more", conflicts.len() - 3);
    }
    message + " since it was looked at"
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
