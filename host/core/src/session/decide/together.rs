//! One decision about several actions, carried out in one commit.

use std::pin::pin;
use std::sync::Mutex;

use airlock_model::actor::DecidedBy;
use airlock_model::content::{ResolutionOutcome, ToolResult};
use airlock_model::effects::{Answer, Difference, Effects};
use airlock_model::error::Error;
use airlock_model::event::ToolFunction;
use airlock_model::pending::{NamedAction, Resolution, StackedAction};
use airlock_workspace::{Change, CommitError, Outcome, Ticket, View};
use futures_util::future::{join_all, try_join_all};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Decisions;
use super::approve::Asked;
use super::carry_out::{Carried, outcome_of};
use super::claim::HeldAction;
use super::commit::{Committing, LastCheck, Seen};
use super::lease::while_renewing;
use super::params::check_reason;
use crate::session::place::{in_background, open};
use crate::session::review::{Reviewed, Stacked, Step, shares};
use crate::workspace::listed_changes;

/// A decision to apply several actions, or none.
pub(in crate::session) struct JointDecision<'a> {
    /// The actions, in the order in which they are applied.
    pub parts: Vec<JointPart<'a>>,
    /// Their reviewed joint effects.
    pub effects: &'a Effects,
    pub reason: &'a str,
    pub decided_by: DecidedBy,
}

/// One of the actions.
pub(in crate::session) struct JointPart<'a> {
    /// The decisions of its session.
    pub decisions: &'a Decisions,
    pub stacked: &'a StackedAction,
    /// Its reviewed effects alone.
    pub alone: &'a Effects,
    /// Its reviewed answer, on top of the others.
    pub answer: &'a Answer,
}

/// One of the actions, approved.
struct Approved<'a> {
    decisions: &'a Decisions,
    asked: Asked,
    review: Box<Reviewed>,
    /// Its share of the joint effects.
    share: Effects,
    answer: &'a Answer,
}

/// One of the actions, claimed for the decision.
struct Claimed<'a> {
    held: HeldAction<'a>,
    approved: Approved<'a>,
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

impl<'a> JointDecision<'a> {
    /// Applies all actions, or none. See
    /// [`JointReview::apply`](crate::pending::JointReview::apply).
    pub async fn apply(
        self,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<ResolutionOutcome>, Error> {
        if cancel.is_some_and(CancellationToken::is_cancelled) {
            return Err(Error::Cancelled);
        }
        if self.parts.is_empty() {
            return Ok(Vec::new());
        }
        let mut resolving = Vec::new();
        for part in &self.parts {
            check_reason(self.reason, part.decisions.base.limits())?;
            part.decisions.turns.count_resolution();
            resolving.push(part.decisions.standing.resolving());
        }
        let mut claimed = Vec::new();
        for approved in Box::pin(self.approve_each(cancel)).await? {
            match approved.claim().await {
                Ok(held) => claimed.push(Claimed { held, approved }),
                Err(error) => {
                    release(claimed).await;
                    return Err(error);
                }
            }
        }
        let carried_out = {
            let leases: Vec<_> = claimed.iter().map(|it| &it.held.lease).collect();
            let carrying_out = carry_out(&claimed, self.effects, cancel);
            while_renewing(&leases, pin!(carrying_out)).await
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
            Ok(Ok(committed)) => complete_each(claimed, committed).await,
        }
    }

    async fn approve_each(
        &self,
        cancel: Option<&CancellationToken>,
    ) -> Result<Vec<Approved<'a>>, Error> {
        let alone = self.parts.iter().map(|it| (&*it.stacked.action, it.alone));
        let shares = shares(&alone.collect::<Vec<_>>(), self.effects);
        let mut all = Vec::new();
        for (part, share) in self.parts.iter().zip(shares) {
            let (decisions, action) = (part.decisions, &part.stacked.action);
            let resolution = Resolution::apply(self.reason)
                .with_id(action.id.clone())
                .with_review(part.alone.digest())
                .after_attempts(part.stacked.attempts);
            let mut asked = Asked {
                resolution,
                decided_by: self.decided_by.clone(),
            };
            let is_by_model = asked.is_by_model();
            let reviews = &decisions.reviews;
            let Some(review) = reviews.review_of(&asked.resolution, cancel).await? else {
                // Says why.
                decisions.find(&action.id).await?;
                return Err(Error::UnknownAction(action.id.clone()));
            };
            reviews.demand_reviewed(&review, &asked.resolution, is_by_model)?;
            decisions.approve(&mut asked, Some(&review), cancel).await?;
            all.push(Approved {
                decisions,
                asked,
                review,
                share,
                answer: part.answer,
            });
        }
        Ok(all)
    }
}

impl<'a> Approved<'a> {
    async fn claim(&self) -> Result<HeldAction<'a>, Error> {
        let held = self.decisions.claim(&self.asked).await?;
        let checked = match self.decisions.check_claimed(&held, &self.asked) {
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
        let (place, action) = (&self.decisions.base.place, &held.action);
        let committed = place.committed_before(action, false).await?;
        committed.map_or(Ok(()), |_| {
            Err(refused(held, "an earlier apply of it took effect".into()))
        })
    }
}

async fn carry_out(
    claimed: &[Claimed<'_>],
    effects: &Effects,
    cancel: Option<&CancellationToken>,
) -> Result<Committed, NotCommitted> {
    let steps = claimed.iter().map(|Claimed { held, approved }| Step {
        reviews: &approved.decisions.reviews,
        action: &held.action,
        seed: &approved.review.record.seed,
        reason: &approved.asked.resolution.reason,
        attempt: held.attempt,
    });
    let steps: Vec<_> = steps.collect();
    let applying = Stacked::of(&steps, ToolFunction::Apply, cancel);
    let Stacked { changes, results } = match Box::pin(applying).await? {
        Ok(stacked) => stacked,
        Err((at, error)) => return Err(refused(&claimed[at].held, error.to_string()).into()),
    };
    for (Claimed { held, approved }, (result, _)) in claimed.iter().zip(&results) {
        let reason = &approved.asked.resolution.reason;
        if !approved.answer.is_of(result, reason) {
            let other = "it answers something else than in the review".to_owned();
            return Err(refused(held, other).into());
        }
    }
    let kept = match changes {
        None => Vec::new(),
        Some(changes) => {
            let committed = commit(claimed, &changes, &results, effects, cancel).await;
            if committed.is_err() {
                changes.abandon();
            }
            committed?
        }
    };
    Ok(Committed { results, kept })
}

/// Commits the changes, and returns [`ResolutionOutcome::kept`].
async fn commit(
    claimed: &[Claimed<'_>],
    changes: &View,
    results: &[(ToolResult, u64)],
    effects: &Effects,
    cancel: Option<&CancellationToken>,
) -> Result<Vec<String>, NotCommitted> {
    let (mut tickets, mut checks) = (Vec::new(), Vec::new());
    for (Claimed { held, approved }, (result, _)) in claimed.iter().zip(results) {
        let committing = Committing {
            decisions: approved.decisions,
            held,
            asked: &approved.asked,
            reviewed: Some(&approved.review.record),
            seen: Mutex::default(),
            cancel,
        };
        tickets.push(committing.ticket(result, None)?);
        let check = LastCheck::of(&committing, committing.recheck()).await?;
        checks.push((check, approved.share.clone()));
    }
    let (Some(ticket), Some(first)) = (joined(tickets), claimed.first()) else {
        return Ok(Vec::new());
    };
    let Some(folder) = first.approved.decisions.base.place.workspace.clone() else {
        return Ok(Vec::new());
    };
    let confirmed = try_join_all(claimed.iter().map(|it| it.held.lease.confirm()));
    let first = NamedAction::from(&*first.held.action);
    let (changes, reviewed) = (changes.clone(), effects.clone());
    let runtime = Handle::current();
    let committed = in_background(move || {
        let workspace = open(&folder)?;
        let check = |found: &[Change]| {
            let found = Effects::verified(listed_changes(found));
            if !reviewed.is_same(&found) {
                return Err(Error::Different {
                    action: Box::new(first),
                    difference: Box::new(Difference::new(reviewed, found, true)),
                });
            }
            for (check, share) in &checks {
                check.run(&folder, share, &runtime)?;
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
    claimed: Vec<Claimed<'_>>,
    committed: Committed,
) -> Result<Vec<ResolutionOutcome>, Error> {
    let Committed { results, mut kept } = committed;
    let mut outcomes = Vec::new();
    for (Claimed { held, approved }, (result, number)) in claimed.into_iter().zip(results) {
        let seen = Seen {
            effects: approved.share,
            part: None,
            rest: Vec::new(),
            kept: std::mem::take(&mut kept),
        };
        let resolution = &approved.asked.resolution;
        let outcome = outcome_of(&held.action, resolution, Some(result), Some(seen));
        let carried = Carried {
            outcome: Ok(outcome),
            review: Some(approved.review),
            rest: Vec::new(),
            number,
        };
        let completing = approved.decisions.complete(held, &approved.asked, carried);
        outcomes.push(Box::pin(completing).await);
    }
    outcomes.into_iter().collect()
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
