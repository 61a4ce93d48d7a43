//! Recovery of interrupted applies: each was either committed or has changed nothing.

use std::sync::Arc;

use airlock_model::actor::Actor;
use airlock_model::error::Error;
use airlock_model::pending::{
    ActionId, ActionState, Decision, Interruption, NamedAction, PendingAction, Resolution,
    StackedAction,
};
use airlock_model::store::PendingStore;
use futures_util::future::BoxFuture;

use super::Session;
use super::lease::{Asked, HeldLease};
use super::resolve::claimed;
use crate::producer::NativeIdentity;

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
    /// Whether the apply was committed. If so, the action is applied. If not, nothing was changed,
    /// and the action is pending as if no apply had been tried.
    pub applied: bool,
}

impl Session {
    /// Determines the outcome of [interrupted](ActionState::Interrupted) applies and records it in
    /// the store. An apply commits its workspace changes in one step. So either the workspace has a
    /// record of the commit, and the action is applied, or no file was touched, and the action is
    /// pending again in its old place.
    ///
    /// Some actions stay as they are: those of native tools without a
    /// [draft](crate::native::PreviewCall::draft), unless they were committed; those whose
    /// workspace is not here; and those applied by versions of this library without atomic commits.
    /// A [resolution](Session::resolve) recovers its own action in the same way.
    ///
    /// # Errors
    /// [`Error::Store`], and [`Error::NotCommitted`] if the workspace can't be examined.
    pub async fn recover(&self) -> Result<Vec<RecoveredAction>, Error> {
        let Ok(store) = self.store() else {
            return Ok(Vec::new());
        };
        let pending = self.listed().await?;
        self.recover_among(store, &pending).await
    }

    /// Recovers the listed actions, and returns whether any may have changed. If an outcome can't
    /// be determined, its action stays as it was.
    pub(super) async fn recover_listed(&self, listed: &[StackedAction]) -> bool {
        let Ok(store) = self.store() else {
            return false;
        };
        if !listed.iter().any(is_cut_off) {
            return false;
        }
        match self.recover_among(store, listed).await {
            Ok(recovered) => !recovered.is_empty(),
            Err(error) => {
                tracing::warn!("what became of an apply that was cut off: {error}");
                // Some outcomes may have been recorded.
                true
            }
        }
    }

    /// Boxed, like [cancellable](super::Cancellable) operations.
    pub(super) fn recover_among<'a>(
        &'a self,
        store: &'a Arc<dyn PendingStore>,
        pending: &'a [StackedAction],
    ) -> BoxFuture<'a, Result<Vec<RecoveredAction>, Error>> {
        Box::pin(async move {
            let mut recovered = Vec::new();
            for stacked in pending {
                if !is_cut_off(stacked) || self.other_workspace(&stacked.action).is_some() {
                    continue;
                }
                if let Some(applied) = self.recover_one(&**store, stacked).await? {
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
    async fn recover_one(
        &self,
        store: &dyn PendingStore,
        stacked: &StackedAction,
    ) -> Result<Option<bool>, Error> {
        let may_act_elsewhere = self.may_act_elsewhere(store, &stacked.action).await?;
        let by = Actor::program(CLAIMANT).into();
        // A claim to discard counts as no attempt. If it is interrupted, the action stays
        // interrupted.
        let look = Resolution::discard("").with_id(stacked.action.id.clone());
        let shared = self.store()?;
        let asked = Asked::now(shared);
        let claim = store.claim(self.id(), &look, &by).await?;
        let Ok(found) = claimed(claim) else {
            return Ok(None);
        };
        let held = HeldLease::new(shared, found.lease, asked);
        match self.committed_before(&found.action, false).await {
            Ok(None) if may_act_elsewhere => {
                held.release().await;
                Ok(None)
            }
            Ok(None) => {
                held.recovered(APPLY_UNDONE).await?;
                Ok(Some(false))
            }
            Ok(Some(applied)) => {
                match self.settle(held, &found.action, applied, &look).await {
                    // The error is about the discard, which was only a pretext for the claim.
                    Ok(_) | Err(Error::AlreadyResolved { .. }) => Ok(Some(true)),
                    Err(error) => Err(error),
                }
            }
            Err(error) => {
                held.release().await;
                Err(error)
            }
        }
    }

    /// Refuses to discard an action with an interrupted apply if its workspace, which may have a
    /// record of the commit, is not here.
    ///
    /// # Errors
    /// [`Error::Unrecovered`] in that case; [`Error::Store`].
    pub(super) async fn refuse_unrecovered(
        &self,
        store: &dyn PendingStore,
        resolution: &Resolution,
    ) -> Result<(), Error> {
        if resolution.decision != Decision::Discard || resolution.abandon {
            return Ok(());
        }
        let found = self.stacked(store, resolution.id.as_ref()).await?;
        let Some(found) = found.filter(is_cut_off) else {
            return Ok(());
        };
        let action = &found.action;
        if !resolution.same_workspace && self.other_machine(action).is_some() {
            // The claim reports this.
            return Ok(());
        }
        match &action.workspace {
            Some(workspace) if self.folder_of(action, resolution.same_workspace).is_none() => {
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
    async fn may_act_elsewhere(
        &self,
        store: &dyn PendingStore,
        action: &PendingAction,
    ) -> Result<bool, Error> {
        if !self.is_native(action).await? {
            return Ok(false);
        }
        let review = store.effects(self.id(), &action.id).await?;
        Ok(!review.is_some_and(|review| review.effects.verified))
    }

    async fn is_native(&self, action: &PendingAction) -> Result<bool, Error> {
        if let Some(bound) = self.read_bindings(|bindings| bindings.producer(action.plugin)) {
            return Ok(bound.native().is_some());
        }
        let kept = self.store()?.plugin(action.plugin).await?;
        let native = match &kept {
            Some(kept) => NativeIdentity::read(&kept.bytes),
            None => NativeIdentity::of(&action.plugin_name, action.plugin),
        };
        Ok(native.is_some())
    }
}

/// Returns whether the outcome of the apply is unknown but recorded in the workspace.
fn is_cut_off(stacked: &StackedAction) -> bool {
    stacked.state == ActionState::Interrupted && stacked.interruption == Interruption::InWorkspace
}
