//! Discarding all that is pending.

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

/// How many decisions are carried out at a time that tools hear of: what waits while a commit
/// reaches the disk goes into the next one together.
const TOGETHER: usize = 32;

/// An action, and what a call of [`Session::resolve`] would have answered.
pub type Discarded = (Arc<PendingAction>, Result<ResolutionOutcome, Error>);

impl Session {
    /// Discards all that is pending, and tells which actions that were, the topmost first. Their
    /// tools hear of it where they asked for that, and whatever they say, the actions are gone.
    /// What somebody else is resolving meanwhile stays.
    ///
    /// # Errors
    /// Those of [`Session::resolve`] that leave an action where it was, say [`Error::Store`] and
    /// [`Error::Cancelled`]; others may be discarded then.
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

    /// Discards these actions of the session, and tells what came of each, in their order.
    ///
    /// Those whose tools did not ask to hear of it are discarded in one step of the store, however
    /// many there are. Then come the others, several at a time; where one stays as it was, those
    /// that follow are left alone, and not among what is told.
    ///
    /// # Errors
    /// [`Error::InvalidParams`] where the reason is too long, [`Error::Cancelled`], and
    /// [`Error::Store`] where the store can't be used: then none is discarded, or those that no
    /// tool is to hear of as a whole.
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
                // A reject that fails is the end of its action all the same.
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

    /// Discards those of the actions whose tools did not ask to hear of it in one step of the
    /// store. What somebody has tried to apply is not among them: it must be found out what came of
    /// that.
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
