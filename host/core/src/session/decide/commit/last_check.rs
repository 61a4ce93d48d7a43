//! The last check of an action before a commit, under the workspace's lock.

use std::sync::Arc;
use std::time::Duration;

use airlock_model::effects::Effects;
use airlock_model::error::Error;
use airlock_model::pending::NamedAction;
use tokio::runtime::Handle;

use super::Committing;
use super::confirm::Recheck;
use crate::session::review::stale_files;
use crate::workspace::{Basis, WorkspaceFolder};

/// Checks that the inputs of an action are unchanged, and that its approver still agrees. Both were
/// checked before the guest ran, and are again now that no other commit can run.
pub(in crate::session::decide) struct LastCheck {
    action: NamedAction,
    basis: Basis,
    /// `None` if the approver was asked just now, or if the session has none.
    recheck: Option<Recheck>,
    /// The most time to read the inputs.
    time: Duration,
}

impl LastCheck {
    /// # Errors
    /// [`Error::Store`].
    pub async fn of(committing: &Committing<'_>, recheck: Option<Recheck>) -> Result<Self, Error> {
        let (decisions, action) = (committing.decisions, &committing.held.action);
        let mut basis = decisions.reviews.basis(action, committing.reviewed).await?;
        // The action's own changes are compared anyway.
        basis.changes.clear();
        Ok(Self {
            action: NamedAction::from(&**action),
            basis,
            recheck,
            time: decisions.base.limits().call_time,
        })
    }

    /// Checks a commit with these effects of the action. Call it on a thread that may block.
    ///
    /// # Errors
    /// [`Error::Stale`], [`Error::Refused`], and [`Error::Workspace`] if the inputs can't be read.
    pub fn run(
        &self,
        folder: &Arc<WorkspaceFolder>,
        effects: &Effects,
        runtime: &Handle,
    ) -> Result<(), Error> {
        let files = stale_files(&self.basis, folder, self.time)?;
        if !files.is_empty() {
            let action = Box::new(self.action.clone());
            return Err(Error::Stale { action, files });
        }
        let Some(recheck) = &self.recheck else {
            return Ok(());
        };
        let asking = recheck.ask(effects);
        runtime.block_on(asking).map_err(|reason| Error::Refused {
            action: Box::new(self.action.clone()),
            reason,
        })
    }
}
