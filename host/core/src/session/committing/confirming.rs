//! The question between an apply and its commit.

use std::sync::Arc;

use airlock_model::actor::DecidedBy;
use airlock_model::effects::Effects;
use airlock_model::error::Error;
use airlock_model::pending::{NamedAction, PendingAction, Resolution};
use airlock_workspace::View;

use super::{Committing, in_background};
use crate::instance::unless_cancelled;
use crate::session::Session;
use crate::session::approving::{Approver, ConfirmRequest};
use crate::workspace::{WorkspaceFolder, changes_of};

/// The last question before a commit, under the workspace's lock.
pub(super) struct Recheck {
    approver: Arc<dyn Approver>,
    session: Session,
    action: Arc<PendingAction>,
    resolution: Resolution,
    decided_by: DecidedBy,
}

impl Recheck {
    /// # Errors
    /// The approver's reason against the commit, as a clause.
    pub async fn ask(&self, effects: &Effects) -> Result<(), String> {
        let request = ConfirmRequest {
            session: self.session.id(),
            workspace: self.session.workspace(),
            action: &self.action,
            resolution: &self.resolution,
            decided_by: &self.decided_by,
            effects,
        };
        let answer = self.approver.recheck(&request).await;
        self.session.let_commit(&request, answer).await
    }
}

impl Committing<'_> {
    /// Returns `None` if the session has no approver.
    pub(super) fn recheck(&self) -> Option<Recheck> {
        Some(Recheck {
            approver: Arc::clone(self.session.inner.approver.as_ref()?),
            session: self.session.clone(),
            action: Arc::clone(self.action),
            resolution: self.resolution.clone(),
            decided_by: self.decided_by.clone(),
        })
    }

    /// Shows effects that were not reviewed before to the approver, if there is one. The approver
    /// can drop them.
    pub(super) async fn confirmed(
        &self,
        changes: &View,
        folder: &Arc<WorkspaceFolder>,
    ) -> Result<Option<Effects>, Error> {
        let Some(approver) = &self.session.inner.approver else {
            return Ok(None);
        };
        let (changes, folder) = (changes.clone(), Arc::clone(folder));
        let looking = in_background(move || {
            let before = folder.view();
            let found = before.and_then(|before| changes_of(&changes, Some(&before)));
            found.map_err(|error| Error::workspace(folder.path(), &error))
        });
        let effects = Effects::verified(looking.await?);
        if effects.changes.is_empty() {
            return Ok(Some(effects));
        }
        let request = ConfirmRequest {
            session: self.session.id(),
            workspace: self.session.workspace(),
            action: self.action,
            resolution: self.resolution,
            decided_by: self.decided_by,
            effects: &effects,
        };
        let answer = unless_cancelled(self.cancel, approver.confirm(&request)).await?;
        match self.session.let_commit(&request, answer).await {
            Ok(()) => Ok(Some(effects)),
            Err(reason) => Err(Error::Refused {
                action: Box::new(NamedAction::from(&**self.action)),
                reason,
            }),
        }
    }
}
