//! Discarding all that is pending.

use std::collections::HashSet;
use std::sync::Arc;

use airlock_model::actor::DecidedBy;
use airlock_model::content::ResolutionOutcome;
use airlock_model::error::Error;
use airlock_model::pending::{
    ActionId, ActionState, Decision, PendingAction, Resolution, StackedAction,
};
use tokio_util::sync::CancellationToken;

use super::Session;
use super::cancellable::{Cancellable, Work};
use super::resolve::{DecisionSummary, check_reason, outcome};

impl Session {
    /// Discards all that is pending, and tells which actions that were, the topmost first. Their
    /// tools hear of it where they asked for that, and whatever they say, the actions are gone.
    /// What somebody else is resolving meanwhile stays.
    ///
    /// What no tool asked to hear of is discarded [in one step](Session::discard_unheard); then the
    /// others, the topmost first.
    ///
    /// # Errors
    /// Those of [`Session::resolve`] that leave an action where it was, say [`Error::Store`] and
    /// [`Error::Cancelled`]; those before it are discarded then.
    pub fn clear<'a>(
        &'a self,
        reason: &'a str,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, impl Work<'a, Output = Result<Vec<ActionId>, Error>>> {
        let decided_by = decided_by.into();
        Cancellable::new(move |cancel| self.clear_until(reason, decided_by, cancel))
    }

    async fn clear_until(
        &self,
        reason: &str,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<ActionId>, Error> {
        if cancel.is_some_and(CancellationToken::is_cancelled) {
            return Err(Error::Cancelled);
        }
        let pending = self.pending().await?;
        let unheard = self
            .discard_unheard(&pending, reason, decided_by.clone())
            .await?;
        let mut discarded: HashSet<&ActionId> =
            unheard.iter().map(|(action, _)| &action.id).collect();
        for stacked in &pending {
            let id = &stacked.action.id;
            if discarded.contains(id) {
                continue;
            }
            let discard = Resolution::discard(reason).with_id(id.clone());
            match self
                .resolve_until(discard, decided_by.clone(), cancel)
                .await
            {
                Ok(_) => {}
                Err(
                    Error::AlreadyResolved { .. }
                    | Error::ResolutionInProgress(_)
                    | Error::UnknownAction(_),
                ) => continue,
                // A reject that fails is the end of its action all the same.
                Err(error) if self.is_pending(id).await? => return Err(error),
                Err(_) => {}
            }
            discarded.insert(id);
        }
        let ids = pending.iter().map(|stacked| &stacked.action.id);
        let ids = ids.filter(|id| discarded.contains(id));
        Ok(ids.cloned().collect())
    }

    /// Discards those of the actions whose tools did not ask to hear of it, all in one step of the
    /// store, however many there are. Tells which these were, each with what a call of
    /// [`Session::resolve`] would have answered, the topmost first.
    ///
    /// What somebody has tried to apply stays for [`Session::resolve`], which finds out what came
    /// of that. So does what somebody else is resolving.
    ///
    /// # Errors
    /// [`Error::InvalidParams`] where the reason is too long, and [`Error::Store`] where the store
    /// can't be used: then they are discarded or not as a whole.
    pub async fn discard_unheard(
        &self,
        actions: &[StackedAction],
        reason: &str,
        decided_by: impl Into<DecidedBy>,
    ) -> Result<Vec<(Arc<PendingAction>, ResolutionOutcome)>, Error> {
        check_reason(reason, &self.inner.limits)?;
        let is_unheard = |stacked: &&StackedAction| {
            !stacked.action.has_reject
                && stacked.attempts == 0
                && stacked.state != ActionState::Interrupted
        };
        let unheard: Vec<_> = actions.iter().filter(is_unheard).collect();
        let ids: Vec<_> = unheard.iter().map(|it| it.action.id.clone()).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.inner.turns.count_resolution();
        let decided_by = decided_by.into();
        let store = self.store()?;
        let discarded = store.discard(self.id(), &ids, reason, &decided_by).await?;
        let discarded: HashSet<ActionId> = discarded.into_iter().collect();
        let number = self.next_call();
        let discarded = unheard
            .into_iter()
            .map(|stacked| &stacked.action)
            .filter(|action| discarded.contains(&action.id));
        let discarded = discarded.map(|action| {
            self.tell_decided(action, Decision::Discard, decided_by.clone(), number);
            self.release_volatile(action);
            let summary = DecisionSummary {
                label: action.label.clone(),
                source_tool_name: Some(action.source_tool_name.clone()),
                reason: reason.to_owned(),
            };
            let outcome = outcome(Decision::Discard, None, summary, None);
            (Arc::clone(action), outcome)
        });
        Ok(discarded.collect())
    }

    async fn is_pending(&self, id: &ActionId) -> Result<bool, Error> {
        let store = self.store()?;
        Ok(self.stacked(&**store, Some(id)).await?.is_some())
    }
}
