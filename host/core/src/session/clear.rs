//! Discards all pending actions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use airlock_model::actor::DecidedBy;
use airlock_model::content::ResolutionOutcome;
use airlock_model::error::Error;
use airlock_model::pending::{
    ActionId, ActionState, Decision, PendingAction, Resolution, StackedAction,
};
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::cancellable::Cancellable;
use super::resolve::{DecisionSummary, check_reason, outcome};

/// How many decisions that tools hear of are carried out concurrently. Those that wait while a
/// commit reaches the disk share the next commit.
const TOGETHER: usize = 32;

/// An action, and the result that [`Session::resolve`] would have returned.
pub type Discarded = (Arc<PendingAction>, Result<ResolutionOutcome, Error>);

impl Session {
    /// Discards all pending actions and returns their ids, topmost first. Tools that asked for it
    /// are notified. The actions are gone whatever the tools answer. Actions that another caller is
    /// resolving stay.
    ///
    /// # Errors
    /// Those of [`Session::resolve`] that leave an action where it was, such as [`Error::Store`]
    /// and [`Error::Cancelled`]. Other actions may already be discarded.
    pub fn clear<'a>(
        &'a self,
        reason: &'a str,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<Vec<ActionId>, Error>> {
        self.clearing(reason, decided_by.into())
    }

    fn clearing<'a>(
        &'a self,
        reason: &'a str,
        decided_by: DecidedBy,
    ) -> Cancellable<'a, Result<Vec<ActionId>, Error>> {
        Cancellable::new(move |cancel| self.clear_until(reason, decided_by, cancel))
    }

    /// Discards these actions of the session, and returns the result for each, in their order.
    ///
    /// Actions whose tools did not ask to be notified are discarded in one step of the store,
    /// however many there are. The others follow, several at a time. If one of them stays as it
    /// was, the remaining ones are left alone and are not in the result.
    ///
    /// # Errors
    /// [`Error::InvalidParams`] if the reason is too long, [`Error::Cancelled`], and
    /// [`Error::Store`] if the store can't be used. Then either nothing is discarded, or all the
    /// actions whose tools are not notified, and possibly some of the others.
    pub fn discard_all<'a>(
        &'a self,
        actions: &'a [StackedAction],
        reason: &'a str,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<Vec<Discarded>, Error>> {
        self.discarding(actions, reason, decided_by.into())
    }

    fn discarding<'a>(
        &'a self,
        actions: &'a [StackedAction],
        reason: &'a str,
        decided_by: DecidedBy,
    ) -> Cancellable<'a, Result<Vec<Discarded>, Error>> {
        Cancellable::new(move |cancel| self.discard_until(actions, reason, decided_by, cancel))
    }

    async fn clear_until(
        &self,
        reason: &str,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<ActionId>, Error> {
        let pending = self.pending().await?;
        let told = self.discard_until(&pending, reason, decided_by, cancel);
        let mut discarded = Vec::new();
        for (action, outcome) in told.await? {
            match outcome {
                Ok(_) => discarded.push(action.id.clone()),
                Err(error) if is_somebody_elses(&error) => {}
                // A failed reject still ends its action.
                Err(error) if self.is_pending(&action.id).await? => return Err(error),
                Err(_) => discarded.push(action.id.clone()),
            }
        }
        Ok(discarded)
    }

    async fn discard_until(
        &self,
        actions: &[StackedAction],
        reason: &str,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<Discarded>, Error> {
        if cancel.is_some_and(CancellationToken::is_cancelled) {
            return Err(Error::Cancelled);
        }
        let mut outcomes = self.discard_unheard(actions, reason, &decided_by).await?;
        let left = actions.iter().map(|stacked| &stacked.action.id);
        let left: Vec<_> = left.filter(|id| !outcomes.contains_key(*id)).collect();
        for several in left.chunks(TOGETHER) {
            let resolving = several.iter().map(|id| {
                let discard = Resolution::discard(reason).with_id((*id).clone());
                self.resolve_until(discard, decided_by.clone(), cancel)
            });
            let resolved = join_all(resolving).await;
            let mut stays = false;
            for (id, outcome) in several.iter().zip(resolved) {
                if let Err(error) = &outcome {
                    stays |= !is_somebody_elses(error) && self.is_pending(id).await?;
                }
                outcomes.insert((*id).clone(), outcome);
            }
            if stays {
                break;
            }
        }
        let told = actions.iter().filter_map(|stacked| {
            let outcome = outcomes.remove(&stacked.action.id)?;
            Some((Arc::clone(&stacked.action), outcome))
        });
        Ok(told.collect())
    }

    /// Discards, in one step of the store, the actions whose tools did not ask to be notified.
    /// Leaves out actions with an attempted apply, because its outcome must be determined first.
    async fn discard_unheard(
        &self,
        actions: &[StackedAction],
        reason: &str,
        decided_by: &DecidedBy,
    ) -> Result<HashMap<ActionId, Result<ResolutionOutcome, Error>>, Error> {
        check_reason(reason, &self.inner.limits)?;
        let is_unheard = |stacked: &&StackedAction| {
            !stacked.action.has_reject
                && stacked.attempts == 0
                && stacked.state != ActionState::Interrupted
        };
        let unheard: Vec<_> = actions.iter().filter(is_unheard).collect();
        let ids: Vec<_> = unheard.iter().map(|it| it.action.id.clone()).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        self.inner.turns.count_resolution();
        let store = self.store()?;
        let discarded = store.discard(self.id(), &ids, reason, decided_by).await?;
        let discarded: HashSet<ActionId> = discarded.into_iter().collect();
        let number = self.next_call();
        let unheard = unheard.into_iter().map(|stacked| &stacked.action);
        let discarded = unheard.filter(|action| discarded.contains(&action.id));
        let told = discarded.map(|action| {
            self.tell_decided(action, Decision::Discard, decided_by.clone(), number);
            self.release_volatile(action);
            let summary = DecisionSummary {
                label: action.label.clone(),
                source_tool_name: Some(action.source_tool_name.clone()),
                reason: reason.to_owned(),
            };
            let outcome = outcome(Decision::Discard, None, summary, None);
            (action.id.clone(), Ok(outcome))
        });
        Ok(told.collect())
    }

    async fn is_pending(&self, id: &ActionId) -> Result<bool, Error> {
        let store = self.store()?;
        Ok(self.stacked(&**store, Some(id)).await?.is_some())
    }
}

fn is_somebody_elses(error: &Error) -> bool {
    matches!(
        error,
        Error::AlreadyResolved { .. } | Error::ResolutionInProgress(_) | Error::UnknownAction(_)
    )
}
