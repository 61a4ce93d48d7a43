//! One decision about several actions, carried out in one commit.

use std::pin::pin;
use std::sync::Mutex;

use airlock_model::actor::DecidedBy;
use airlock_model::content::{ResolutionOutcome, ToolResult};
use airlock_model::effects::{Difference, Effects};
use airlock_model::error::Error;
use airlock_model::event::ToolFunction;
use airlock_model::pending::{NamedAction, Resolution};
use airlock_workspace::{Change, CommitError, Outcome, Ticket, View};
use futures_util::future::{join_all, try_join_all};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Decisions;
use super::approve::Asked;
use super::carry_out::{Carried, outcome_of};
use super::claim::HeldAction;
use super::commit::{Committing, Seen};
use super::lease::during_all;
use super::params::check_reason;
use crate::session::place::{in_background, open};
use crate::session::review::{JointReview, Reviewed, Stacked, Step, stale_files};
use crate::workspace::listed_changes;

/// One of the actions, claimed for the decision.
struct Claimed<'a> {
    held: HeldAction<'a>,
    asked: Asked,
    review: Box<Reviewed>,
}

/// The reason why nothing was committed.
enum NotCommitted {
    /// Nothing was tried.
    NotTried(Error),
    /// The commit failed.
    Failed(CommitError),
}

impl From<CommitError> for NotCommitted {
    fn from(error: CommitError) -> Self {
        NotCommitted::Failed(error)
    }
}

impl From<Error> for NotCommitted {
    fn from(error: Error) -> Self {
        NotCommitted::NotTried(error)
    }
}

/// The committed actions.
struct Committed {
    /// The result of each tool, with the number of its call.
    results: Vec<(ToolResult, u64)>,
    kept: Vec<String>,
}

impl Decisions {
    /// Applies all actions of the review, or none. See
    /// [`Session::apply_together`](crate::Session::apply_together).
    pub async fn apply_together(
        &self,
        review: &JointReview,
        reason: &str,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<ResolutionOutcome>, Error> {
        if cancel.is_some_and(CancellationToken::is_cancelled) {
            return Err(Error::Cancelled);
        }
        check_reason(reason, self.base.limits())?;
        if review.actions.is_empty() {
            return Ok(Vec::new());
        }
        self.turns.count_resolution();
        let _resolving = self.standing.resolving();
        let approved = self.approve_each(review, reason, &decided_by, cancel);
        let approved = Box::pin(approved).await?;
        let mut claimed = Vec::new();
        for (asked, review) in approved {
            match self.claim_to_apply(&asked).await {
                Ok(held) => claimed.push(Claimed {
                    held,
                    asked,
                    review,
                }),
                Err(error) => {
                    release(claimed).await;
                    return Err(error);
                }
            }
        }
        let carried_out = {
            let leases: Vec<_> = claimed.iter().map(|it| &it.held.lease).collect();
            let carrying_out = self.carry_out_together(&claimed, review, cancel);
            during_all(&leases, pin!(carrying_out)).await
        };
        match carried_out {
            // Another process may have a claim.
            Err(lost) => Err(lost.into()),
            Ok(Err(NotCommitted::NotTried(error))) => {
                release(claimed).await;
                Err(error)
            }
            Ok(Err(NotCommitted::Failed(error))) => {
                let error = Error::not_committed(error);
                // One by one, so that they are on the stack in the same order again.
                for one in claimed {
                    one.held.lease.requeue(&error.to_string()).await;
                }
                Err(Error::ApplyFailed(Box::new(error)))
            }
            Ok(Ok(committed)) => self.complete_each(claimed, review, committed).await,
        }
    }

    async fn approve_each(
        &self,
        review: &JointReview,
        reason: &str,
        decided_by: &DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<(Asked, Box<Reviewed>)>, Error> {
        let mut approved = Vec::new();
        for (stacked, effects) in review.actions.iter().zip(&review.each) {
            let action = &stacked.action;
            let resolution = Resolution::apply(reason)
                .with_id(action.id.clone())
                .with_review(effects.digest())
                .after_attempts(stacked.attempts);
            let mut asked = Asked {
                resolution,
                decided_by: decided_by.clone(),
            };
            let is_by_model = asked.is_by_model();
            let reviewed = self.reviews.review_of(&asked.resolution, cancel).await?;
            let Some(reviewed) = reviewed else {
                // Says why.
                self.find(&action.id).await?;
                return Err(Error::UnknownAction(action.id.clone()));
            };
            let reviews = &self.reviews;
            reviews.demand_reviewed(&reviewed, &asked.resolution, is_by_model)?;
            self.approve(&mut asked, Some(&reviewed), cancel).await?;
            approved.push((asked, reviewed));
        }
        Ok(approved)
    }

    async fn claim_to_apply(&self, asked: &Asked) -> Result<HeldAction<'_>, Error> {
        let held = self.claim(asked).await?;
        let checked = match self.check_claimed(&held, asked) {
            Ok(()) if held.attempt > 1 => self.refuse_committed(&held).await,
            checked => checked,
        };
        match checked {
            Ok(()) => Ok(held),
            Err(error) => {
                held.lease.release().await;
                Err(error)
            }
        }
    }

    /// An apply that was committed earlier, without the store's knowledge, is recorded by a
    /// decision about that action alone.
    async fn refuse_committed(&self, held: &HeldAction<'_>) -> Result<(), Error> {
        let action = &held.action;
        let committed = self.base.place.committed_before(action, false).await?;
        committed.map_or(Ok(()), |_| {
            Err(refused(held, "an earlier apply of it took effect".into()))
        })
    }

    async fn carry_out_together(
        &self,
        claimed: &[Claimed<'_>],
        review: &JointReview,
        cancel: Option<&CancellationToken>,
    ) -> Result<Committed, NotCommitted> {
        let steps = claimed.iter().map(|it| Step {
            action: &it.held.action,
            seed: &it.review.record.seed,
            reason: &it.asked.resolution.reason,
            attempt: it.held.attempt,
        });
        let steps: Vec<_> = steps.collect();
        let applying = self.reviews.stack(&steps, ToolFunction::Apply, cancel);
        let Stacked { changes, results } = match Box::pin(applying).await? {
            Ok(stacked) => stacked,
            Err((at, error)) => return Err(refused(&claimed[at].held, error.to_string()).into()),
        };
        let kept = match changes {
            None => Vec::new(),
            Some(changes) => {
                let committing = self.commit_together(claimed, &changes, &results, review, cancel);
                let committed = committing.await;
                if committed.is_err() {
                    changes.abandon();
                }
                committed?
            }
        };
        Ok(Committed { results, kept })
    }

    /// Commits the changes, and returns [`ResolutionOutcome::kept`].
    async fn commit_together(
        &self,
        claimed: &[Claimed<'_>],
        changes: &View,
        results: &[(ToolResult, u64)],
        review: &JointReview,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<String>, NotCommitted> {
        let Some(folder) = self.base.place.workspace.clone() else {
            return Ok(Vec::new());
        };
        let (mut tickets, mut rechecks, mut bases) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (it, (result, _))) in claimed.iter().zip(results).enumerate() {
            let committing = Committing {
                decisions: self,
                held: &it.held,
                asked: &it.asked,
                reviewed: Some(&it.review.record),
                seen: Mutex::default(),
                cancel,
            };
            tickets.push(committing.ticket(result, None)?);
            let recheck = committing.recheck();
            rechecks.extend(recheck.map(|recheck| (recheck, review.share(at))));
            let action = &it.held.action;
            let mut basis = self.reviews.basis(action, Some(&it.review.record)).await?;
            basis.changes.clear();
            bases.push((NamedAction::from(&**action), basis));
        }
        let Some(ticket) = joined(tickets) else {
            return Ok(Vec::new());
        };
        let confirmed = try_join_all(claimed.iter().map(|it| it.held.lease.confirm()));
        let first = claimed
            .first()
            .map(|it| NamedAction::from(&*it.held.action));
        let (changes, reviewed) = (changes.clone(), review.effects.clone());
        let (runtime, time) = (Handle::current(), self.base.limits().call_time);
        let committed = in_background(move || {
            let workspace = open(&folder)?;
            let check = |found: &[Change]| {
                let found = Effects::verified(listed_changes(found));
                if let (false, Some(first)) = (reviewed.is_same(&found), first) {
                    return Err(Error::Different {
                        action: Box::new(first),
                        difference: Box::new(Difference::new(reviewed, found, true)),
                    });
                }
                for (action, basis) in bases {
                    let files = stale_files(&basis, &folder, time)?;
                    if !files.is_empty() {
                        let action = Box::new(action);
                        return Err(Error::Stale { action, files });
                    }
                }
                for (recheck, share) in rechecks {
                    let asking = recheck.ask(&share);
                    let answer = runtime.block_on(asking);
                    answer.map_err(|reason| recheck.refused(reason))?;
                }
                // Asked under the workspace's lock, as for one action.
                runtime.block_on(confirmed).map(drop).map_err(Error::from)
            };
            let check = |found: &[Change]| check(found).map_err(NotCommitted::from);
            Ok(changes.commit_if(&workspace, &ticket, check))
        });
        let committed = committed.await??;
        if let Some(error) = committed.not_cleaned_up {
            tracing::warn!("the changes are in place, and a commit is to be cleaned up: {error}");
        }
        Ok(committed.kept)
    }

    /// Records the applies. If one can't be recorded, the others still are.
    async fn complete_each(
        &self,
        claimed: Vec<Claimed<'_>>,
        review: &JointReview,
        committed: Committed,
    ) -> Result<Vec<ResolutionOutcome>, Error> {
        let Committed { results, mut kept } = committed;
        let mut outcomes = Vec::new();
        let effects = (0..claimed.len()).map(|at| review.share(at));
        for ((one, effects), (result, number)) in claimed.into_iter().zip(effects).zip(results) {
            let seen = Seen {
                effects,
                part: None,
                rest: Vec::new(),
                kept: std::mem::take(&mut kept),
            };
            let (action, resolution) = (&one.held.action, &one.asked.resolution);
            let outcome = outcome_of(action, resolution, Some(result), Some(seen));
            let carried = Carried {
                outcome: Ok(outcome),
                review: Some(one.review),
                rest: Vec::new(),
                number,
            };
            let completing = self.complete(one.held, &one.asked, carried);
            outcomes.push(Box::pin(completing).await);
        }
        outcomes.into_iter().collect()
    }
}

fn refused(held: &HeldAction<'_>, reason: String) -> Error {
    Error::Refused {
        action: Box::new(NamedAction::from(&*held.action)),
        reason,
    }
}

async fn release(claimed: Vec<Claimed<'_>>) {
    join_all(claimed.into_iter().map(|it| it.held.lease.release())).await;
}

/// Returns the ticket of a commit with all these ids.
fn joined(tickets: Vec<Ticket>) -> Option<Ticket> {
    let count = tickets.len();
    let mut tickets = tickets.into_iter();
    let mut ticket = tickets.next()?;
    if count > 1 {
        ticket.title = format!("{} and {} more", ticket.title, count - 1);
    }
    let others = tickets.map(|Ticket { id, note, .. }| Outcome { id, note });
    ticket.others = others.collect();
    Some(ticket)
}
