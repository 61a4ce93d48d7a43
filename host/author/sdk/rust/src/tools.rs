//! The tools of a plugin.

use crate::entry::Entry;
use crate::tool::Complete;

/// The tools of a plugin, for [`export!`](crate::export!).
///
/// Hosts ask for them once and keep the answer, so it is the same each time.
#[derive(Default)]
#[must_use = "tools do nothing until they are exported"]
pub struct Tools {
    pub(crate) entries: Vec<Entry>,
}

impl Tools {
    /// No tools yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. Its name is one that no other has.
    pub fn with(mut self, tool: impl Complete) -> Self {
        self.entries.push(tool.into_entry());
        self
    }
}
