//! The hidden tool `resolve`: approve, claim, carry out, end.

use airlock_model::actor::{Actor, DecidedBy};
use airlock_model::content::ResolutionOutcome;
use airlock_model::error::Error;
use airlock_model::pending::{Decision, Resolution};
use airlock_model::store::Completion;
use tokio_util::sync::CancellationToken;

use super::Decisions;
use super::approve::Asked;
use super::carry_out::{Carried, Ending};
use super::claim::HeldAction;
use super::params::{acceptable, check_part};
use crate::session::review::Reviewed;

impl Decisions {
    /// Carries out a decision. See [`Session::resolve`](crate::Session::resolve).
    pub async fn resolve(
        &self,
        resolution: Resolution,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<ResolutionOutcome, Error> {
        if cancel.is_some_and(CancellationToken::is_cancelled) {
            return Err(Error::Cancelled);
        }
        let resolution = acceptable(resolution, self.base.limits())?;
        self.turns.count_resolution();
        match self.resolve_once(resolution, decided_by, cancel).await {
            Err(Error::Expired(id)) => {
                self.discard_one_expired(&id).await?;
                Err(Error::Expired(id))
            }
            resolved => resolved,
        }
    }

    /// Carries out a decision of a model. If the action's current effects differ from the reviewed
    /// ones, the model is informed of them.
    pub async fn resolve_for_model(
        &self,
        resolution: Resolution,
        cancel: Option<&CancellationToken>,
    ) -> Result<ResolutionOutcome, Error> {
        let outcome = self.resolve(resolution, Actor::Model.into(), cancel).await;
        self.reviews.remember_told(&outcome);
        outcome
    }

    /// Resolves without discarding an expired action, and without counting for the model's turn.
    pub(super) async fn resolve_once(
        &self,
        resolution: Resolution,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<ResolutionOutcome, Error> {
        let mut asked = Asked {
            resolution,
            decided_by,
        };
        // Without a store nothing can be pending.
        if self.base.claims().is_err() {
            return self.ask_standing_handler(asked.resolution, cancel).await;
        }
        let _resolving = self.standing.resolving();
        match self.decide(&mut asked, cancel).await {
            Err(Error::NothingPending) => self.ask_standing_handler(asked.resolution, cancel).await,
            decided => decided,
        }
    }

    async fn decide(
        &self,
        asked: &mut Asked,
        cancel: Option<&CancellationToken>,
    ) -> Result<ResolutionOutcome, Error> {
        // The approver may name another decider.
        let is_by_model = asked.is_by_model();
        let review = self.reviews.review_of(&asked.resolution, cancel).await?;
        if let (Some(review), Some(_)) = (&review, &asked.resolution.review) {
            // Check before the approver is asked.
            let resolution = &asked.resolution;
            self.reviews
                .demand_reviewed(review, resolution, is_by_model)?;
        }
        // If the action is missing, the claim reports it.
        if let Some(review) = &review {
            check_part(&asked.resolution, Some(review))?;
        }
        let has_reviewed = self.approve(asked, review.as_deref(), cancel).await?;
        self.refuse_unrecovered(&asked.resolution).await?;
        let held = self.claim(asked).await?;
        let check = Check {
            has_reviewed,
            review,
            is_by_model,
        };
        let ending = self.carry_out_claimed(&held, asked, check, cancel).await;
        self.end(held, asked, ending).await
    }

    /// Carries out a decision about a claimed action. An error means that nothing was tried.
    async fn carry_out_claimed(
        &self,
        held: &HeldAction<'_>,
        asked: &Asked,
        check: Check,
        cancel: Option<&CancellationToken>,
    ) -> Result<Ending, Error> {
        self.check_claimed(held, asked)?;
        let (action, resolution) = (&held.action, &asked.resolution);
        if held.attempt > 1 {
            let same_workspace = resolution.same_workspace;
            let committed = self.base.place.committed_before(action, same_workspace);
            if let Some(applied) = committed.await? {
                return Ok(Ending::AppliedBefore(applied));
            }
        }
        let decision = resolution.decision;
        let review = self
            .reviews
            .review_of_claimed(action, decision, check.review)
            .await?;
        if let Some(review) = &review
            && !check.has_reviewed
        {
            self.reviews
                .demand_reviewed(review, resolution, check.is_by_model)?;
        }
        check_part(resolution, review.as_deref())?;
        self.carry_out(held, asked, review, cancel).await
    }

    /// Ends a claim, in whatever way its decision ended.
    async fn end(
        &self,
        held: HeldAction<'_>,
        asked: &Asked,
        ending: Result<Ending, Error>,
    ) -> Result<ResolutionOutcome, Error> {
        match ending {
            Err(not_tried) => {
                held.lease.release().await;
                Err(not_tried)
            }
            // Another process may have the claim.
            Ok(Ending::Lost(error)) => Err(error.into()),
            Ok(Ending::AppliedBefore(applied)) => Box::pin(self.settle(held, applied, asked)).await,
            Ok(Ending::Failed(error)) => {
                held.lease.requeue(&error.to_string()).await;
                Err(error)
            }
            Ok(Ending::Carried(carried)) => self.complete(held, asked, *carried).await,
        }
    }

    /// Records a decision that was carried out, and reports it.
    pub(super) async fn complete(
        &self,
        held: HeldAction<'_>,
        asked: &Asked,
        carried: Carried,
    ) -> Result<ResolutionOutcome, Error> {
        let action = held.action;
        let decision = asked.resolution.decision;
        let Carried {
            mut outcome,
            review,
            rest,
            number,
        } = carried;
        let failure;
        let completion = match &outcome {
            Ok(outcome) => Completion::Succeeded(outcome),
            Err(error) => {
                failure = error.to_string();
                Completion::RejectFailed(&failure)
            }
        };
        held.lease.complete(decision, completion).await?;
        let by = asked.decided_by.clone();
        self.base.events.decided(&action, decision, by, number);
        if decision == Decision::Apply {
            let same_workspace = asked.resolution.same_workspace;
            self.base.place.forget_commit(&action, same_workspace).await;
            if let Ok(ResolutionOutcome {
                effects: Some(effects),
                ..
            }) = &outcome
            {
                self.reviews
                    .tell_siblings(
                        &action,
                        review.as_ref().map(|it| &it.record),
                        &effects.effects,
                    )
                    .await;
            }
        }
        self.base.tools.release_volatile(&action);
        if let (Ok(outcome), false) = (&mut outcome, rest.is_empty()) {
            outcome.rest = Some(self.keep_rest(&action, rest).await);
        }
        outcome
    }
}

/// The approval and the review that a claimed action is checked against.
struct Check {
    /// True if the approval was for exactly the effects that the approver was shown.
    has_reviewed: bool,
    /// The review before the claim.
    review: Option<Box<Reviewed>>,
    is_by_model: bool,
}
