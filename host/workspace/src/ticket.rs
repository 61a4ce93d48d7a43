//! What a commit, a recovery and an undo are asked for, and what comes of them.

use std::time::{Duration, SystemTime};

use crate::error::RecoverError;
use crate::facts::Change;

/// The identity of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// The id: at most 128 letters, digits, `-` and `_`. It is unique within a workspace; a second
    /// commit with the same id is refused.
    pub id: String,
    /// A note, stored atomically with the commit until it is
    /// [taken](crate::Workspace::take_outcome). It lets the caller learn of the commit after a
    /// crash.
    pub note: String,
    /// The other ids and notes, if the commit is of several decisions. They are stored with it, and
    /// count as committed like the first one.
    pub others: Vec<Outcome>,
    /// A line about the commit for people who [undo](crate::View::restore) it.
    pub title: String,
    /// How long and how much of the replaced and removed files to keep, so that the commit can be
    /// [undone](crate::View::restore). `None` to keep nothing, of earlier commits neither.
    pub originals: Option<Retention>,
}

impl Ticket {
    /// Returns all ids, the first one first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        let others = self.others.iter().map(|other| &*other.id);
        std::iter::once(&*self.id).chain(others)
    }
}

/// How long originals are kept, and how large they are. The oldest are removed first, after a
/// commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The time since the commit.
    pub time: Duration,
    /// The total size of what is kept in a workspace, in bytes. A commit that needs more than this
    /// keeps nothing.
    pub bytes: u64,
}

/// The result of a commit.
#[derive(Debug)]
#[non_exhaustive]
pub struct Committed {
    /// The committed changes. If empty, nothing was written, and neither the id nor the note is
    /// stored.
    pub changes: Vec<Change>,
    /// The reason why leftovers of the commit could not be cleaned up. The changes themselves are
    /// in place; the next commit or recovery cleans up.
    pub not_cleaned_up: Option<RecoverError>,
    /// Files that the commit replaced or removed while another program wrote to them: the paths of
    /// the kept copies, relative to the folder. Airlock never removes these copies.
    pub kept: Vec<String>,
}

/// A committed id whose note was not taken yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The id.
    pub id: String,
    /// The note.
    pub note: String,
}

/// The result of a recovery.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// Ids of interrupted commits that the recovery finished.
    pub finished: Vec<String>,
    /// The number of interrupted commits that had not taken effect. Their leftovers are removed.
    pub dropped: usize,
    /// Paths in the private folder, relative to the workspace, that do not belong to this user or
    /// this workspace. They are left alone.
    pub not_ours: Vec<String>,
    /// Copies of files that other programs wrote to, as in [`Committed::kept`].
    pub kept: Vec<String>,
}

/// A commit whose originals are kept, so that it can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Originals {
    /// The id of the commit.
    pub id: String,
    /// The other ids of the commit, if it was of several decisions.
    pub others: Vec<String>,
    /// The time of the commit.
    pub committed: SystemTime,
    /// The total size of what is kept, in bytes.
    pub bytes: u64,
}

/// The result of undoing a commit in a layer.
#[derive(Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// The title of the commit.
    pub title: String,
    /// Directories that the commit created and that stay, because something else is in them now.
    pub left: Vec<String>,
    /// Directories that the commit replaced by others with other permissions, which stay.
    pub permissions: Vec<String>,
    /// Texts that were edited since, merged with the undo.
    pub merged: Vec<String>,
    /// Paths with conflicts, which stay as they are.
    pub skipped: Vec<String>,
}
