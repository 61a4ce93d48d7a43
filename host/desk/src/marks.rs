//! What a listing says of a pending action beside the others, and beside what was done since.

use std::collections::HashMap;

use airlock_host::PendingAction;
use airlock_host::pending::{ActionId, Decision, SessionId};
use airlock_host::store::{ActionRecord, ResolvedQuery};

use crate::Error;
use crate::store::Store;

/// How many decisions of a session are looked at, the latest first.
const LOOKED_AT: usize = 100;

/// The marks of the actions in a list.
#[derive(Debug, Default)]
pub struct Marks {
    same_as: HashMap<ActionId, ActionId>,
    applied_since: HashMap<ActionId, ActionId>,
}

impl Marks {
    /// Looks at the actions, and once for each session at what was decided there. Previews are not
    /// read.
    ///
    /// # Errors
    /// If the store can't be read.
    pub async fn of(open: &[ActionRecord], store: &Store) -> Result<Self, Error> {
        let mut marks = Self::default();
        for records in open.chunk_by(|one, next| one.session == next.session) {
            marks.mark_the_same(records);
            if let Some(first) = records.first() {
                let applied = applied(&first.session, store).await?;
                marks.mark_the_older(records, &applied);
            }
        }
        Ok(marks)
    }

    /// Another action of the list, pushed before this one, that is the same by all that a listing
    /// knows: its plugin's bytes, tool, label, details and workspace.
    pub fn same_as(&self, action: &PendingAction) -> Option<&ActionId> {
        self.same_as.get(&action.id)
    }

    /// What was last applied to the action's workspace since it was previewed. What that did to the
    /// workspace isn't known.
    pub fn applied_since(&self, action: &PendingAction) -> Option<&ActionId> {
        self.applied_since.get(&action.id)
    }

    fn mark_the_same(&mut self, records: &[ActionRecord]) {
        // A stack's lowest is its oldest.
        let mut seen: HashMap<_, &ActionId> = HashMap::new();
        for record in records.iter().rev() {
            let action = &record.action;
            let details = action.details.as_ref().map(|details| details.as_str());
            let (tool, place) = (&action.source_tool_name, &action.workspace);
            let like = (action.plugin, tool, &action.label, details, place);
            match seen.get(&like) {
                Some(first) => {
                    self.same_as.insert(action.id.clone(), (*first).clone());
                }
                None => {
                    seen.insert(like, &action.id);
                }
            }
        }
    }

    fn mark_the_older(&mut self, records: &[ActionRecord], applied: &[ActionRecord]) {
        for action in records.iter().map(|record| &record.action) {
            let is_since = |it: &&ActionRecord| {
                let at = it.resolved.as_ref().map(|resolved| resolved.at);
                it.action.workspace == action.workspace && at > Some(action.pushed_at)
            };
            if action.workspace.is_some()
                && let Some(latest) = applied.iter().find(is_since)
            {
                let latest = latest.action.id.clone();
                self.applied_since.insert(action.id.clone(), latest);
            }
        }
    }
}

/// What was applied in a session, the latest first.
async fn applied(session: &SessionId, store: &Store) -> Result<Vec<ActionRecord>, Error> {
    let query = ResolvedQuery {
        session: Some(session.clone()),
        limit: LOOKED_AT,
    };
    let mut resolved = store.durable().resolved_actions(&query).await?;
    resolved.retain(|record| {
        let resolved = record.resolved.as_ref();
        resolved.is_some_and(|resolved| resolved.decision == Decision::Apply)
    });
    Ok(resolved)
}
