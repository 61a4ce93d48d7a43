//! The kinds of changes.

use serde::{Deserialize, Serialize};

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// A new file or directory.
    Created,
    /// Changed contents, and possibly changed permissions.
    Modified,
    /// Deleted.
    Deleted,
    /// A new name, for a directory including its contents. A file's contents may change too: see
    /// [`Change::is_rewritten`](super::Change::is_rewritten).
    Renamed,
    /// Changed permissions only.
    Mode,
    /// A link that is new or has a new target.
    Link,
}

impl ChangeKind {
    /// The list of all values.
    pub const ALL: [Self; 6] = [
        Self::Created,
        Self::Modified,
        Self::Deleted,
        Self::Renamed,
        Self::Mode,
        Self::Link,
    ];

    /// Returns a lower-case word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Created => "created",
            ChangeKind::Modified => "modified",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Renamed => "renamed",
            ChangeKind::Mode => "mode",
            ChangeKind::Link => "link",
        }
    }

    /// Returns the words that follow a number of files: `2 with other permissions`.
    pub(super) fn counted(self) -> &'static str {
        match self {
            ChangeKind::Mode => "with other permissions",
            ChangeKind::Link => "linked",
            other => other.as_str(),
        }
    }
}
