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

use super::Decisions;
use super::outcome::{DecisionSummary, outcome};
use super::params::check_reason;

/// The number of discards with a notification of the tool that are carried out concurrently.
/// Discards that wait while a commit reaches the disk share the next commit.
const TOGETHER: usize = 32;

/// An action, and the result that [`Session::resolve`](crate::Session::resolve) would have
/// returned.
pub type Discarded = (Arc<PendingAction>, Result<ResolutionOutcome, Error>);

impl Decisions {
    /// Discards all pending actions.
    pub async fn clear(
        &self,
        reason: &str,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<ActionId>, Error> {
        let pending = self.pending().await?;
        let told = self.discard_all(&pending, reason, decided_by, cancel);
        let mut discarded = Vec::new();
        for (action, outcome) in told.await? {
            match outcome {
                Ok(_) => discarded.push(action.id.clone()),
                Err(error) if is_somebody_elses(&error) => {}
                // A failed reject still ends its action.
                Err(error) if self.base.stack.is_pending(&action.id).await? => return Err(error),
                Err(_) => discarded.push(action.id.clone()),
            }
        }
        Ok(discarded)
    }

    /// Discards these actions.
    pub async fn discard_all(
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
                self.resolve(discard, decided_by.clone(), cancel)
            });
            let resolved = join_all(resolving).await;
            let mut stays = false;
            for (id, outcome) in several.iter().zip(resolved) {
                if let Err(error) = &outcome {
                    stays |= !is_somebody_elses(error) && self.base.stack.is_pending(id).await?;
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
        check_reason(reason, self.base.limits())?;
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
        self.turns.count_resolution();
        let discarded = self
            .base
            .stacks()?
            .discard(self.base.id(), &ids, reason, decided_by)
            .await?;
        let discarded: HashSet<ActionId> = discarded.into_iter().collect();
        let number = self.base.events.next_call();
        let unheard = unheard.into_iter().map(|stacked| &stacked.action);
        let discarded = unheard.filter(|action| discarded.contains(&action.id));
        let told = discarded.map(|action| {
            let by = decided_by.clone();
            self.base
                .events
                .decided(action, Decision::Discard, by, number);
            self.base.tools.release_volatile(action);
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
}

fn is_somebody_elses(error: &Error) -> bool {
    matches!(
        error,
        Error::AlreadyResolved { .. } | Error::ResolutionInProgress(_) | Error::UnknownAction(_)
    )
}
