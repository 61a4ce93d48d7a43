//! What applies keep in a workspace for an undo.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::effects::Effects;
use airlock_model::error::Error;
use airlock_model::identity::Machine;
use airlock_model::pending::ActionId;

use super::opening::open;
use crate::workspace::WorkspaceFolder;

/// What applies keep in a workspace for an [undo](crate::Session::undo). The oldest originals are
/// removed first, at the next apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoRetention {
    /// How long an apply can be undone. Default: 7 days.
    pub time: Duration,
    /// The total size of the originals in a workspace, in bytes. An apply that replaces and removes
    /// more than this can't be undone. Default: 1 GiB.
    pub bytes: u64,
}

impl Default for UndoRetention {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(7 * 24 * 60 * 60),
            bytes: 1 << 30,
        }
    }
}

impl UndoRetention {
    /// Returns whether what an apply with these effects replaces and removes is kept.
    pub(in crate::session) fn covers(&self, effects: &Effects) -> bool {
        self.time.is_zero() || effects.replaced_bytes() <= self.bytes
    }
}

/// An applied action whose originals are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Originals {
    /// The action.
    pub action: ActionId,
    /// The actions that were applied with it, in one commit.
    pub others: Vec<ActionId>,
    /// The time of the apply.
    pub applied: SystemTime,
    /// The total size of what is kept, in bytes.
    pub bytes: u64,
}

/// Returns the applied actions of a workspace whose originals are kept, in the order in which they
/// were applied. One of them can be undone if its files have not changed since.
///
/// # Errors
/// [`Error::Workspace`] if the workspace can't be opened, and [`Error::NotCommitted`] if an
/// interrupted commit in it can't be finished.
pub fn originals(workspace: &Path) -> Result<Vec<Originals>, Error> {
    let unusable = |error| Error::workspace(workspace, error);
    let folder = WorkspaceFolder::at(workspace, Machine::this().clone()).map_err(unusable)?;
    if !folder.has_private().map_err(unusable)? {
        return Ok(Vec::new());
    }
    let kept = open(&Arc::new(folder))?
        .originals()
        .map_err(Error::not_committed)?;
    let kept = kept.into_iter().map(|it| Originals {
        action: it.id.into(),
        others: it.others.into_iter().map(ActionId::from).collect(),
        applied: it.committed,
        bytes: it.bytes,
    });
    Ok(kept.collect())
}
