//! The question between an apply and its commit.

use std::sync::Arc;

use airlock_model::actor::DecidedBy;
use airlock_model::effects::Effects;
use airlock_model::error::Error;
use airlock_model::pending::{NamedAction, PendingAction, Resolution};
use airlock_workspace::View;

use super::{Committing, effects_of};
use crate::instance::unless_cancelled;
use crate::session::approval::{Approver, ConfirmRequest};
use crate::session::base::Base;
use crate::session::decide::deny::let_commit;
use crate::session::place::in_background;
use crate::workspace::WorkspaceFolder;

/// The last question before a commit, under the workspace's lock.
pub(in crate::session::decide) struct Recheck {
    approver: Arc<dyn Approver>,
    base: Arc<Base>,
    action: Arc<PendingAction>,
    resolution: Resolution,
    decided_by: DecidedBy,
}

impl Recheck {
    /// # Errors
    /// The approver's reason against the commit, as a clause.
    pub async fn ask(&self, effects: &Effects) -> Result<(), String> {
        let request = ConfirmRequest {
            session: self.base.id(),
            workspace: self.base.place.path(),
            action: &self.action,
            resolution: &self.resolution,
            decided_by: &self.decided_by,
            effects,
        };
        let answer = self.approver.recheck(&request).await;
        let_commit(&self.base, &request, answer).await
    }
}

impl Committing<'_> {
    /// Returns `None` if the session has no approver.
    pub fn recheck(&self) -> Option<Recheck> {
        Some(Recheck {
            approver: Arc::clone(self.decisions.approver.as_ref()?),
            base: Arc::clone(&self.decisions.base),
            action: Arc::clone(&self.held.action),
            resolution: self.asked.resolution.clone(),
            decided_by: self.asked.decided_by.clone(),
        })
    }

    /// Shows effects that were not reviewed before to the approver, if there is one. The approver
    /// can drop them.
    pub(super) async fn confirmed(
        &self,
        changes: &View,
        folder: &Arc<WorkspaceFolder>,
    ) -> Result<Option<Effects>, Error> {
        let Some(approver) = &self.decisions.approver else {
            return Ok(None);
        };
        let (changes, folder) = (changes.clone(), Arc::clone(folder));
        let looking = in_background(move || effects_of(&changes, &folder));
        let mut effects = looking.await?;
        effects.beyond_undo = self.decisions.base.place.is_beyond_undo(&effects);
        if effects.changes.is_empty() {
            return Ok(Some(effects));
        }
        let base = &*self.decisions.base;
        let request = ConfirmRequest {
            session: base.id(),
            workspace: base.place.path(),
            action: &self.held.action,
            resolution: &self.asked.resolution,
            decided_by: &self.asked.decided_by,
            effects: &effects,
        };
        let answer = unless_cancelled(self.cancel, approver.confirm(&request)).await?;
        match let_commit(base, &request, answer).await {
            Ok(()) => Ok(Some(effects)),
            Err(reason) => Err(Error::Refused {
                action: Box::new(NamedAction::from(&*self.held.action)),
                reason,
            }),
        }
    }
}
