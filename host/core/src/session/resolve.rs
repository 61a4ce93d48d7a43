//! The hidden tool `resolve`, which carries out a decision about a pending action once.

mod outcome;
mod params;

use std::pin::pin;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use airlock_model::actor::{Actor, DecidedBy};
use airlock_model::content::{ResolutionOutcome, ToolResult};
use airlock_model::effects::{ActionEffects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::event::ToolFunction;
use airlock_model::pending::{Decision, NamedAction, PendingAction, Resolution};
use airlock_model::reads::Fingerprints;
use airlock_model::store::{Claim, Claimed};
use tokio_util::sync::CancellationToken;

use super::Session;
use super::approving::Approved;
use super::cancellable::Cancellable;
use super::committing::Committing;
use super::conditions::conditions;
use super::lease::{Asked, HeldLease};
use crate::instance::{Call, Conditions};
use crate::world::DecidedAction;
pub(super) use outcome::{DecisionSummary, apply_error, outcome};
use params::acceptable;
pub(super) use params::{NAME, check_reason, parse};

/// # Errors
/// The reason why nothing was claimed.
pub(super) fn claimed(claim: Claim) -> Result<Claimed, Error> {
    match claim {
        Claim::Claimed(claimed) => Ok(claimed),
        Claim::NothingPending => Err(Error::NothingPending),
        Claim::Unknown(id) => Err(Error::UnknownAction(id)),
        Claim::InProgress(id) => Err(Error::ResolutionInProgress(id)),
        Claim::Resolved(id, decision) => Err(Error::AlreadyResolved { id, decision }),
    }
}

impl Session {
    /// Carries out a decision about a pending action: the topmost one, unless the resolution names
    /// another.
    ///
    /// An apply needs the approval of the session's [`Approver`](super::Approver), if it has one.
    /// The approver decides whether the model may apply the action, or whether another actor's
    /// decision is enough.
    ///
    /// A decision to apply is about the effects that it [names](Resolution::review), or about the
    /// effects at the push.
    ///
    /// # Errors
    /// - [`Error::NothingPending`], [`Error::AlreadyResolved`], [`Error::ResolutionInProgress`] or
    ///   [`Error::UnknownAction`] if there is no such action to resolve.
    /// - [`Error::OtherWorkspace`] or [`Error::WorkspaceReplaced`] if the action was previewed
    ///   elsewhere and the resolution doesn't [say it is the same
    ///   workspace](Resolution::same_workspace). Nothing was tried, and the action stays as it was.
    ///   You can still discard it, without its plugin hearing of it, unless an apply was tried on
    ///   another machine.
    /// - [`Error::Busy`]: nothing was tried.
    /// - [`Error::ApplyFailed`], or the tool's own [`Error::Tool`], if an apply failed. The action
    ///   is on top of the stack again. The same goes for [`Error::Cancelled`] during an apply.
    ///   After a failed reject, the action is gone.
    /// - [`Error::Refused`] and [`Error::NeedsPerson`] from the approver. The action stays as it
    ///   was.
    /// - [`Error::NotReviewed`] if the action's effects have changed.
    /// - [`Error::Unrecovered`] if an interrupted apply may have taken effect in a workspace that
    ///   is not here, and the action is to be discarded without [`abandon`](Resolution::abandon).
    /// - [`Error::Expired`] if the action was not decided [in
    ///   time](super::SessionBuilder::pending_expires_after). It is then discarded.
    pub fn resolve<'a>(
        &'a self,
        resolution: Resolution,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<ResolutionOutcome, Error>> {
        self.resolving(resolution, decided_by.into())
    }

    fn resolving(
        &self,
        resolution: Resolution,
        decided_by: DecidedBy,
    ) -> Cancellable<'_, Result<ResolutionOutcome, Error>> {
        Cancellable::new(move |cancel| self.resolve_until(resolution, decided_by, cancel))
    }

    pub(super) async fn resolve_until(
        &self,
        resolution: Resolution,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<ResolutionOutcome, Error> {
        if cancel.is_some_and(CancellationToken::is_cancelled) {
            return Err(Error::Cancelled);
        }
        let resolution = acceptable(resolution, &self.inner.limits)?;
        self.inner.turns.count_resolution();
        match self.resolve_once(resolution, decided_by, cancel).await {
            Err(Error::Expired(id)) => {
                self.discard_one_expired(&id).await?;
                Err(Error::Expired(id))
            }
            resolved => resolved,
        }
    }

    /// Resolves without discarding an expired action, and without counting for the model's turn.
    pub(super) async fn resolve_once(
        &self,
        mut resolution: Resolution,
        mut decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<ResolutionOutcome, Error> {
        // Without a store nothing can be pending.
        let Ok(store) = self.store() else {
            return self.ask_standing_handler(resolution, cancel).await;
        };
        let _resolving = self.inner.standing.resolving();
        let review = self.review_of(store, &resolution, cancel).await?;
        let seen = review.as_ref();
        let is_model = matches!(decided_by.actor, Actor::Model);
        if let (Some(seen), Some(_)) = (seen, &resolution.review) {
            // Check before the approver is asked.
            self.demand_reviewed(seen, &resolution, is_model)?;
        }
        let approval = self.ask_approver(store, &mut resolution, &mut decided_by, seen, cancel);
        let approved = approval.await?;
        if let Approved::NothingPending = approved {
            return self.ask_standing_handler(resolution, cancel).await;
        }
        self.refuse_unrecovered(&**store, &resolution).await?;
        let asked = Asked::now(store);
        let claim = store.claim(self.id(), &resolution, &decided_by).await?;
        let Claimed {
            action,
            guest_state,
            attempt,
            lease,
        } = match claimed(claim) {
            Err(Error::NothingPending) => {
                return self.ask_standing_handler(resolution, cancel).await;
            }
            claimed => claimed?,
        };
        let held = HeldLease::new(store, lease, asked);
        if let Approved::Shown { attempts, .. } = approved
            && attempt != attempts + 1
        {
            held.release().await;
            return Err(Error::Refused {
                action: Box::new(NamedAction::from(&*action)),
                reason: "another apply was tried since the approval; ask again".to_owned(),
            });
        }
        let is_first = resolution.decision == Decision::Apply && attempt == 1;
        if is_first && action.has_expired(SystemTime::now()) {
            held.release().await;
            return Err(Error::Expired(action.id.clone()));
        }
        if let Some(refused) = self.refused_here(&action, &resolution, attempt) {
            held.release().await;
            return Err(refused);
        }
        let decision = resolution.decision;
        let same_workspace = resolution.same_workspace;
        if attempt > 1 {
            match self.committed_before(&action, same_workspace).await {
                Ok(None) => {}
                Ok(Some(applied)) => {
                    let settling = self.settle(held, &action, applied, &resolution);
                    return Box::pin(settling).await;
                }
                Err(error) => {
                    held.release().await;
                    return Err(error);
                }
            }
        }
        let review = self.review_of_claimed(store, &action, decision, review);
        let review = match review.await {
            Ok(Some(review)) if !approved.has_reviewed() => self
                .demand_reviewed(&review, &resolution, is_model)
                .map(|()| Some(review.record)),
            review => review.map(|found| found.map(|it| it.record)),
        };
        let review = match review {
            Ok(review) => review,
            Err(error) => {
                held.release().await;
                return Err(error);
            }
        };
        // A map of strings to values can always be serialized.
        let extra = resolution.extra.as_ref();
        let extra = extra.and_then(|extra| serde_json::to_string(extra).ok());
        let for_guest = DecidedAction {
            action_id: action.id.as_str(),
            label: &action.label,
            source_tool_name: &action.source_tool_name,
            state: guest_state.as_deref(),
            reason: &resolution.reason,
            extra: extra.as_deref(),
            attempt,
        };
        let carrying_out = CarryingOut {
            session: self,
            action: &action,
            resolution: &for_guest,
            committing: Committing {
                session: self,
                held: &held,
                action: &action,
                resolution: &resolution,
                decided_by: &decided_by,
                reviewed: review.as_ref(),
                seen: Mutex::default(),
                cancel,
            },
            review: review.as_ref(),
            same_workspace,
            number: self.next_call(),
            granted: OnceLock::new(),
            cancel,
        };
        let number = carrying_out.number;
        let returned = match decision {
            Decision::Apply => held.during(pin!(carrying_out.apply())).await?.map(Some),
            Decision::Discard => held.during(pin!(carrying_out.reject())).await?,
        };
        let seen = carrying_out.committing.take_seen();
        let returned = match (decision, returned) {
            // Nothing was tried or nothing changed, and the decider has not heard of a discard.
            (
                _,
                Err(
                    error @ (Error::Busy { .. }
                    | Error::Unverified { .. }
                    | Error::Stale { .. }
                    | Error::Refused { .. }),
                ),
            ) => {
                held.release().await;
                return Err(error);
            }
            (_, Err(error @ Error::Different { .. })) => {
                if let (Some(review), Error::Different { difference, .. }) = (&review, &error) {
                    let mut record = review.clone();
                    record.effects = difference.now.clone();
                    // The next decision is about these effects.
                    if let Some(granted) = carrying_out.granted.get() {
                        record.seed = granted.seed.clone();
                        record.time = Some(granted.time());
                    }
                    // The effects may depend on the reason, which a rehearsal doesn't get. Don't
                    // compare a rehearsal with them; compare only the apply.
                    record.read = Some(Fingerprints::default());
                    record.replaced = true;
                    self.keep(&action, record).await;
                }
                // Nothing was committed.
                held.release().await;
                return Err(error);
            }
            (Decision::Apply, Err(error)) => {
                let error = apply_error(error);
                held.requeue(&error.to_string()).await;
                return Err(error);
            }
            (_, returned) => returned,
        };
        let outcome = returned.map(|returned| {
            let summary = DecisionSummary {
                label: action.label.clone(),
                source_tool_name: Some(action.source_tool_name.clone()),
                reason: resolution.reason,
            };
            let mut outcome = outcome(decision, resolution.extra, summary, returned);
            outcome.action = Some(NamedAction::from(&*action));
            if let Some(seen) = seen {
                outcome.effects = Some(ActionEffects::new(action.id.clone(), seen.effects));
                outcome.kept = seen.kept;
            }
            outcome
        });
        held.complete(decision, &outcome).await?;
        self.tell_decided(&action, decision, decided_by, number);
        if decision == Decision::Apply {
            self.forget_commit(&action, same_workspace).await;
            if let Ok(ResolutionOutcome {
                effects: Some(effects),
                ..
            }) = &outcome
            {
                self.tell_siblings(&action, review.as_ref(), &effects.effects)
                    .await;
            }
        }
        self.release_volatile(&action);
        outcome
    }
}

/// One claimed action and the decision about it.
struct CarryingOut<'a> {
    session: &'a Session,
    action: &'a PendingAction,
    resolution: &'a DecidedAction<'a>,
    committing: Committing<'a>,
    /// The record of the action's rehearsal.
    review: Option<&'a EffectsRecord>,
    same_workspace: bool,
    /// The call's number in the session.
    number: u64,
    /// Conditions of an apply whose policy grants its own time or randomness.
    granted: OnceLock<Conditions>,
    cancel: Option<&'a CancellationToken>,
}

impl CarryingOut<'_> {
    async fn apply(&self) -> Result<ToolResult, Error> {
        let producer = self.session.producer_of(self.action).await?;
        self.session
            .demand_verified(self.action, &producer, self.review)?;
        let call = self.call();
        let conditions = conditions(self.action, self.review, producer.policy())?;
        if conditions.are_granted {
            // Set only once.
            let _ = self.granted.set(conditions.clone());
        }
        let (action, resolution) = (self.action, self.resolution);
        let applying = producer.apply(&call, action, resolution, conditions, &self.committing);
        let applying = pin!(applying);
        let function = ToolFunction::Apply;
        self.session
            .watched(&call, producer.name(), function, applying)
            .await
    }

    /// Returns `None` if the producer has no answer or is gone: a discard always removes the
    /// action.
    async fn reject(&self) -> Result<Option<ToolResult>, Error> {
        let elsewhere = || self.session.other_workspace(self.action).is_some();
        if !self.action.has_reject || (!self.same_workspace && elsewhere()) {
            return Ok(None);
        }
        let producer = match self.session.producer_of(self.action).await {
            Ok(producer) => producer,
            Err(Error::PluginGone(_) | Error::ProducerGone { .. } | Error::InstanceGone) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let call = self.call();
        let rejecting = pin!(producer.reject(&call, self.action, self.resolution));
        let function = ToolFunction::Reject;
        self.session
            .watched(&call, producer.name(), function, rejecting)
            .await
    }

    fn call(&self) -> Call<'_> {
        Call {
            number: self.number,
            tool: &self.action.source_tool_name,
            limits: &self.session.inner.limits,
            cancel: self.cancel,
            spent: Duration::ZERO,
        }
    }
}
