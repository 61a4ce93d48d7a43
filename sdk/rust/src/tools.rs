//! The tools of a plugin.

use crate::entry::Entry;
use crate::tool::Complete;

/// The tools of a plugin, for [`export!`](crate::export!).
///
/// The host asks for them once and keeps the answer, so they must be the same each time.
#[derive(Default)]
#[must_use = "tools do nothing until they are exported"]
pub struct Tools {
    pub(crate) entries: Vec<Entry>,
}

impl Tools {
    /// Returns an empty set of tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. Its name must be unique.
    pub fn with(mut self, tool: impl Complete) -> Self {
        self.entries.push(tool.into_entry());
        self
    }
}
