//! Why a layer was not committed, or a folder not recovered.

use std::io;

/// Why a layer was not committed. The folder is as it was, unless an error says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Another program has changed what the layer was made from.
    #[error("{}", conflict_message(.0))]
    Conflict(Vec<Conflict>),
    /// The file at this path would be replaced, and another program has it open for writing. What
    /// that wrote later would be lost.
    #[error("{0} is open for writing in another program, and what that writes would be lost")]
    InUse(String),
    /// The same id was committed before.
    #[error("{0} was committed before")]
    AlreadyCommitted(String),
    /// The layer was made above another folder.
    #[error("the changes were made to another folder")]
    OtherFolder,
    /// Another program was committing for too long.
    #[error("the folder is locked by another program, which is committing")]
    Locked,
    /// A commit before this one was cut off, and can't be finished.
    #[error(transparent)]
    Unrecovered(#[from] RecoverError),
    /// A change that can't be committed, say into another file system that is mounted below.
    #[error("{path}: {reason}")]
    Unsupported {
        /// Where, below the folder.
        path: String,
        /// Why.
        reason: &'static str,
    },
    /// The system's reason.
    #[error("could not {doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// Why it could not be.
        source: io::Error,
    },
}

/// A path that another program has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where, below the folder.
    pub path: String,
    /// What became of it.
    pub what: ConflictKind,
}

/// What another program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// It was changed, replaced or removed.
    Changed,
    /// It is new.
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

/// Why a commit that was cut off could not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// Something else is in the way of what was to be done, or undone.
    #[error(
        "a commit of {id} was cut off, and {path} is in the way of finishing it: move it aside, and try again"
    )]
    Blocked {
        /// What was being committed.
        id: String,
        /// What is in the way, below the folder.
        path: String,
    },
    /// Another program was committing for too long.
    #[error("the folder is locked by another program, which is committing")]
    Locked,
    /// The system's reason.
    #[error("could not {doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// Why it could not be.
        source: io::Error,
    },
}

/// Says what was being done when the system refused.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Failed>;
}

/// An error of the system, and what was being done.
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
