//! The applies in the log that can be undone, and those that were.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use airlock_desk::store::Store;
use airlock_host::native::UNDO;
use airlock_host::pending::{ActionId, Decision};
use airlock_host::store::{ActionRecord, ResolvedQuery};

use super::entry::Entry;
use crate::failure::Failure;

/// The most decisions of a workspace that are searched for undos.
const SEARCHED: usize = 1000;

/// Whether an apply can be undone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Undo {
    /// It can't, as far as is known here.
    #[default]
    Unknown,
    /// Its originals are kept on this machine.
    Possible,
    /// It was undone by this action.
    By(ActionId),
}

/// The undos of each workspace, which is read once.
#[derive(Default)]
pub struct Undos(HashMap<Arc<Path>, OfWorkspace>);

struct OfWorkspace {
    /// The applies whose originals are kept.
    kept: HashSet<ActionId>,
    /// The latest undo of each apply.
    undos: HashMap<ActionId, ActionId>,
}

impl Undos {
    /// Returns whether the entry is an apply that can be undone, or was.
    ///
    /// # Errors
    /// If the store can't be read.
    pub async fn of(&mut self, entry: &Entry, store: &Store) -> Result<Undo, Failure> {
        let Entry::Decision(record) = entry else {
            return Ok(Undo::Unknown);
        };
        let Some(workspace) = applied_here(record) else {
            return Ok(Undo::Unknown);
        };
        if !self.0.contains_key(workspace) {
            let read = OfWorkspace::read(workspace, store).await?;
            self.0.insert(Arc::clone(workspace), read);
        }
        let found = self.0.get(workspace);
        Ok(found.map_or(Undo::Unknown, |it| it.of(&record.action.id)))
    }
}

impl OfWorkspace {
    async fn read(workspace: &Arc<Path>, store: &Store) -> Result<Self, Failure> {
        // If the workspace is gone, nothing in it can be undone.
        let groups = airlock_host::originals(workspace).unwrap_or_default();
        let groups = groups.into_iter().map(|it| (it.action, it.others));
        let groups: HashMap<ActionId, Vec<ActionId>> = groups.collect();
        let query = ResolvedQuery {
            session: None,
            workspace: Some(workspace.to_path_buf()),
            limit: SEARCHED,
        };
        let mut undos = HashMap::new();
        let decisions = store.durable().resolved_actions(&query).await?;
        // The oldest first.
        for record in decisions.iter().rev() {
            if let Some(commit) = undoes(record) {
                let others = groups.get(&commit).into_iter().flatten().cloned();
                let all = others.chain([commit.clone()]);
                undos.extend(all.map(|id| (id, record.action.id.clone())));
            }
        }
        let kept = groups.into_iter();
        let kept = kept.flat_map(|(first, others)| others.into_iter().chain([first]));
        Ok(Self {
            kept: kept.collect(),
            undos,
        })
    }

    fn of(&self, id: &ActionId) -> Undo {
        match self.undone_by(id) {
            Some(by) => Undo::By(by.clone()),
            None if self.kept.contains(id) => Undo::Possible,
            None => Undo::Unknown,
        }
    }
}

impl OfWorkspace {
    /// Returns the undo of an apply, unless that was undone itself.
    fn undone_by(&self, id: &ActionId) -> Option<&ActionId> {
        let by = self.undos.get(id)?;
        self.undone_by(by).is_none().then_some(by)
    }
}

/// Returns the workspace of an apply on this machine.
fn applied_here(record: &ActionRecord) -> Option<&Arc<Path>> {
    let decision = record.resolved.as_ref().map(|resolved| resolved.decision);
    let place = record.action.workspace_identity.as_ref()?;
    let is_here = decision == Some(Decision::Apply) && place.machine.is_this();
    record.action.workspace.as_ref().filter(|_| is_here)
}

/// Returns the commit that an applied undo took back.
fn undoes(record: &ActionRecord) -> Option<ActionId> {
    applied_here(record)?;
    if (
        &*record.action.source_tool_name,
        &*record.action.plugin_name,
    ) != (UNDO, UNDO)
    {
        return None;
    }
    let details = record.action.details.as_ref()?.value();
    Some(details.get("undoes")?.as_str()?.into())
}
