//! The entries of the log that can be undone.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use airlock_host::pending::{ActionId, Decision};

use super::entry::Entry;

/// The actions that can be undone, by workspace. Each workspace is read once.
#[derive(Default)]
pub struct Undoable(HashMap<Arc<Path>, HashSet<ActionId>>);

impl Undoable {
    /// Returns whether the entry is an apply whose originals are kept on this machine.
    pub fn has(&mut self, entry: &Entry) -> bool {
        let Entry::Decision(record) = entry else {
            return false;
        };
        let decision = record.resolved.as_ref().map(|resolved| resolved.decision);
        let place = record.action.workspace_identity.as_ref();
        let is_here = place.is_some_and(|place| place.machine.is_this());
        let (Some(Decision::Apply), true, Some(workspace)) =
            (decision, is_here, &record.action.workspace)
        else {
            return false;
        };
        let kept = self.0.entry(Arc::clone(workspace)).or_insert_with(|| {
            // If the workspace is gone, nothing in it can be undone.
            let kept = airlock_host::originals(workspace).unwrap_or_default();
            let ids = kept
                .into_iter()
                .flat_map(|it| it.others.into_iter().chain([it.action]));
            ids.collect()
        });
        kept.contains(&record.action.id)
    }
}
