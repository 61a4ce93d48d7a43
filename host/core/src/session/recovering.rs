//! What became of applies that were cut off: each was committed, or has changed nothing.

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

/// Whose claim it is while somebody looks.
const LOOKS: &str = "airlock";

/// The [`StackedAction::last_error`] of an action whose apply was cut off, and came to nothing.
pub const APPLY_UNDONE: &str =
    "an apply was begun, and its host stopped before it was committed: it changed nothing";

/// What an apply that was cut off turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveredAction {
    /// The action.
    pub action: ActionId,
    /// Whether it was committed, and is applied now. If not, it has changed nothing, and is
    /// pending as if nobody had tried.
    pub applied: bool,
}

impl Session {
    /// Finds out what became of [interrupted](ActionState::Interrupted) applies, and tells the
    /// store. What an apply changes of the workspace is committed in one step, so it is known to
    /// the workspace, and applied; or it never touched a file, and its action is pending in its
    /// place.
    ///
    /// That nothing was done can't be said of native tools that have
    /// [drafted](crate::native::PreviewCall::draft) nothing, and nothing at all of actions whose
    /// workspace is not here, nor of applies by versions of this library that had no such step:
    /// these stay as they are. A [resolution](Session::resolve) does the same for its own action.
    ///
    /// # Errors
    /// [`Error::Store`], and [`Error::NotCommitted`] where the workspace can't be looked into.
    pub async fn recover(&self) -> Result<Vec<RecoveredAction>, Error> {
        let Ok(store) = self.store() else {
            return Ok(Vec::new());
        };
        let pending = self.listed().await?;
        self.recover_among(store, &pending).await
    }

    /// The same for whoever only looks at what is pending: whether any of it has changed. What
    /// can't be found out stays as it was.
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
                // Some of it may have been found out.
                true
            }
        }
    }

    /// Boxed, as what is [cancellable](super::Cancellable) is.
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

    /// Whether it was applied. None where somebody else has it, or that can't be told.
    async fn recover_one(
        &self,
        store: &dyn PendingStore,
        stacked: &StackedAction,
    ) -> Result<Option<bool>, Error> {
        let may_act_elsewhere = self.may_act_elsewhere(store, &stacked.action).await?;
        let by = Actor::program(LOOKS).into();
        // A claim to discard counts as no attempt, and what is cut off under it stays interrupted.
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
                    // It tells of the discard, which nobody wanted.
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

    /// Nothing is discarded of which somebody could still find out that it was applied.
    ///
    /// # Errors
    /// [`Error::Unrecovered`] where nobody here can; [`Error::Store`].
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
            // Whoever claims it is told.
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

    /// Whether an apply may have done something outside of the workspace, of which nothing is
    /// known. A plugin's could not, as far as its grants go; a native tool says by its draft what
    /// it does.
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

/// Whether nobody knows yet how its apply ended, and its workspace does.
fn is_cut_off(stacked: &StackedAction) -> bool {
    stacked.state == ActionState::Interrupted && stacked.interruption == Interruption::InWorkspace
}
