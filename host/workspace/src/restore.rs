//! Undoes a commit: makes a layer that shows the folder as it was before.
//!
//! What other programs wrote since is never overwritten or removed: their edits of texts are merged
//! with the undo, and everything else that the commit made must still be as it was left. The layer
//! is then committed like any other.

mod archive;
mod later;
mod undo;

use std::collections::BTreeMap;

use crate::commit::recorded;
use crate::error::{Conflict, ConflictKind, Doing, RestoreError};
use crate::ticket::Restored;
use crate::view::View;
use crate::workspace::Workspace;

use archive::Archive;
use later::{Later, later};
use undo::Undo;

/// The conflicts by the numbers of the changes that can't be undone.
type Conflicts = BTreeMap<usize, Conflict>;

impl View {
    /// Undoes a commit in the open layer, which must be empty. If it fails, the layer may have a
    /// part of the changes: [abandon](Self::abandon) it.
    ///
    /// Contents, permissions, names, symbolic links and directories are restored. Files get their
    /// owner, group and extended attributes back as far as this process may set them; the changes
    /// list the others. Directories get only their permissions back, and hard links stay parted.
    ///
    /// Texts that were edited since are merged by lines: they keep the later edits, and their
    /// owner, group and extended attributes. Other later changes are conflicts. With
    /// `skip_changed`, what has conflicts stays as it is, and the rest is undone.
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore(
        &self,
        workspace: &Workspace,
        id: &str,
        skip_changed: bool,
    ) -> Result<Restored, RestoreError> {
        workspace.recover()?;
        if !self.inner.state().tree.is_untouched() {
            return Err(RestoreError::NotEmpty);
        }
        let reading = || "read the originals for an undo".to_owned();
        let recorded = recorded(&workspace.inner, id).doing(reading)?;
        let (record, folder) = recorded.ok_or_else(|| RestoreError::NotKept(id.to_owned()))?;
        let archive = Archive {
            lower: &self.inner.lower,
            record: &record,
            folder: &folder,
        };
        let later = later(&mut self.real_to_compare(), &archive)?;
        let restored = self.undo(&archive, &later, skip_changed)?;
        // The layer notes the state of an object when it first touches it. If that is the state
        // that was compared, the commit notices every later change.
        let mut real = self.real();
        let mut changed = Vec::new();
        for (path, stamp) in &later.stamps {
            let now = real.stamp(path).doing(|| format!("look at {path}"))?;
            if !now.is_some_and(|now| stamp.is_unchanged(&now)) {
                changed.push(conflict(path, ConflictKind::Changed));
            }
        }
        if changed.is_empty() {
            Ok(restored)
        } else {
            Err(RestoreError::Changed(changed))
        }
    }

    fn undo(
        &self,
        archive: &Archive<'_>,
        later: &Later<'_>,
        skip_changed: bool,
    ) -> Result<Restored, RestoreError> {
        let state = &mut *self.inner.state();
        let untouched = state.tree.clone();
        let mut conflicts = later.conflicts.clone();
        loop {
            let is_all = conflicts.len() == archive.record.changes.len();
            if !conflicts.is_empty() && (is_all || !skip_changed) {
                return Err(RestoreError::Changed(conflicts.into_values().collect()));
            }
            let mut undo = Undo {
                view: &self.inner,
                state,
                archive,
                merged: &later.merged,
                conflicts: Conflicts::new(),
                restored: Restored::default(),
            };
            undo.run(&conflicts)?;
            if undo.conflicts.is_empty() {
                let mut skipped: Vec<_> = conflicts.into_values().map(|it| it.path).collect();
                skipped.dedup();
                return Ok(Restored {
                    title: archive.record.title.to_string(),
                    skipped,
                    ..undo.restored
                });
            }
            // Begin again, because an object that can't return may have left its place by now.
            conflicts.append(&mut undo.conflicts);
            state.tree = untouched.clone();
        }
    }
}

fn conflict(path: &str, what: ConflictKind) -> Conflict {
    Conflict {
        path: path.to_owned(),
        what,
    }
}
