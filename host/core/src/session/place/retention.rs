//! What applies keep in a workspace for an undo.

use std::time::Duration;

/// What applies keep in a workspace for an [undo](crate::Session::undo). The oldest originals are removed
/// first, at the next apply.
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
