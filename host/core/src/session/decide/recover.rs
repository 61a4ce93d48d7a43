//! Recovery of interrupted applies: each was either committed or has changed nothing.

use airlock_model::actor::Actor;
use airlock_model::error::Error;
use airlock_model::pending::{
    ActionId, ActionState, Decision, Interruption, NamedAction, PendingAction, Resolution,
    StackedAction,
};
use futures_util::future::BoxFuture;

use super::Decisions;
use super::approve::Asked;

/// Name of the claimant during recovery.
const CLAIMANT: &str = "airlock";

/// The [`StackedAction::last_error`] of an action whose interrupted apply had no effect.
pub const APPLY_UNDONE: &str =
    "an apply was begun, and its host stopped before it was committed: it changed nothing";

/// The outcome of an interrupted apply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveredAction {
    /// The action.
    pub action: ActionId,
    /// True if the apply was committed. Otherwise nothing was changed, and the action is pending as
    /// if no apply had been tried.
    pub applied: bool,
}

impl Decisions {
    /// Determines the outcome of interrupted applies and records it in the store.
    pub async fn recover(&self) -> Result<Vec<RecoveredAction>, Error> {
        let pending = self.base.stack.list().await?;
        self.recover_among(&pending).await
    }

    /// Recovers the listed actions, and returns whether any may have changed. If an outcome can't
    /// be determined, its action stays as it was.
    pub(super) async fn recover_listed(&self, listed: &[StackedAction]) -> bool {
        if !listed.iter().any(is_cut_off) {
            return false;
        }
        match self.recover_among(listed).await {
            Ok(recovered) => !recovered.is_empty(),
            Err(error) => {
                tracing::warn!("what became of an apply that was cut off: {error}");
                // Some outcomes may have been recorded.
                true
            }
        }
    }

    /// Boxed, like [cancellable](crate::cancel::Cancellable) operations.
    pub(super) fn recover_among<'a>(
        &'a self,
        pending: &'a [StackedAction],
    ) -> BoxFuture<'a, Result<Vec<RecoveredAction>, Error>> {
        Box::pin(async move {
            let mut recovered = Vec::new();
            for stacked in pending {
                if !is_cut_off(stacked)
                    || self.base.place.other_workspace(&stacked.action).is_some()
                {
                    continue;
                }
                if let Some(applied) = self.recover_one(stacked).await? {
                    recovered.push(RecoveredAction {
                        action: stacked.action.id.clone(),
                        applied,
                    });
                }
            }
            Ok(recovered)
        })
    }

    /// Returns whether the action was applied, or `None` if another caller holds it or the outcome
    /// is unknown.
    async fn recover_one(&self, stacked: &StackedAction) -> Result<Option<bool>, Error> {
        let may_act_elsewhere = self.may_act_elsewhere(&stacked.action).await?;
        // A claim to discard counts as no attempt. If it is interrupted, the action stays
        // interrupted.
        let look = Asked {
            resolution: Resolution::discard("").with_id(stacked.action.id.clone()),
            decided_by: Actor::program(CLAIMANT).into(),
        };
        let held = match self.claim(&look).await {
            Ok(held) => held,
            Err(error @ Error::Store(_)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let committed = self.base.place.committed_before(&held.action, false).await;
        match committed {
            Ok(None) if !may_act_elsewhere => {
                held.lease.recovered(APPLY_UNDONE).await?;
                Ok(Some(false))
            }
            Ok(Some(applied)) => match self.settle(held, applied, &look).await {
                // The error is about the discard, which was only a pretext for the claim.
                Ok(_) | Err(Error::AlreadyResolved { .. }) => Ok(Some(true)),
                Err(error) => Err(error),
            },
            unknown => {
                held.lease.release().await;
                unknown.map(|_| None)
            }
        }
    }

    /// Refuses to discard an action with an interrupted apply if its workspace, which may have a
    /// record of the commit, is not here.
    ///
    /// # Errors
    /// [`Error::Unrecovered`] in that case; [`Error::Store`].
    pub(super) async fn refuse_unrecovered(&self, resolution: &Resolution) -> Result<(), Error> {
        if resolution.decision != Decision::Discard || resolution.abandon {
            return Ok(());
        }
        let found = self.base.stack.find(resolution.id.as_ref()).await?;
        let Some(found) = found.filter(is_cut_off) else {
            return Ok(());
        };
        let (place, action) = (&self.base.place, &found.action);
        if !resolution.same_workspace && place.other_machine(action).is_some() {
            // The claim reports this.
            return Ok(());
        }
        match &action.workspace {
            Some(workspace) if place.folder_of(action, resolution.same_workspace).is_none() => {
                Err(Error::Unrecovered {
                    action: Box::new(NamedAction::from(&**action)),
                    workspace: workspace.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns whether an apply may have had unrecorded effects outside the workspace. Plugins
    /// can't, as far as their grants go. A native tool's draft covers everything it does.
    async fn may_act_elsewhere(&self, action: &PendingAction) -> Result<bool, Error> {
        if !self.base.tools.is_native(action).await? {
            return Ok(false);
        }
        let records = self.base.records()?;
        let review = records.effects(self.base.id(), &action.id).await?;
        Ok(!review.is_some_and(|review| review.effects.verified))
    }
}

/// Returns whether the outcome of the apply is unknown but recorded in the workspace.
fn is_cut_off(stacked: &StackedAction) -> bool {
    stacked.state == ActionState::Interrupted && stacked.interruption == Interruption::InWorkspace
}
