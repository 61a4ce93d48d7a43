//! Carries out a decision about a claimed action, through its tool.

use std::pin::pin;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use airlock_model::content::{ResolutionOutcome, ToolResult};
use airlock_model::effects::ActionEffects;
use airlock_model::error::Error;
use airlock_model::event::ToolFunction;
use airlock_model::pending::{Decision, NamedAction, PendingAction, Resolution};
use airlock_model::reads::Fingerprints;
use airlock_model::store::StoreError;
use tokio_util::sync::CancellationToken;

use super::Decisions;
use super::approve::Asked;
use super::claim::HeldAction;
use super::commit::{Committing, Seen};
use super::conditions::conditions;
use super::lease::while_renewing;
use super::outcome::{DecisionSummary, apply_error, outcome};
use crate::instance::{Call, Conditions};
use crate::session::base::Base;
use crate::session::place::Committed;
use crate::session::review::Reviewed;
use crate::workspace::Step;
use crate::world::DecidedAction;

/// The end of a decision about a claimed action, if it was tried.
pub(super) enum Ending {
    Carried(Box<Carried>),
    /// An apply failed, and changed nothing.
    Failed(Error),
    /// An earlier apply was committed.
    AppliedBefore(Committed),
    /// The claim was lost while the tool was running.
    Lost(StoreError),
}

/// A decision that was carried out, or a discard that its tool failed to handle.
pub(super) struct Carried {
    pub outcome: Result<ResolutionOutcome, Error>,
    /// The review before the decision.
    pub review: Option<Box<Reviewed>>,
    /// The rest of a part, if it is to be kept.
    pub rest: Vec<Step>,
    /// The call's number in the session.
    pub number: u64,
}

impl Decisions {
    /// # Errors
    /// If nothing was tried, or if nothing was changed and the tool was not notified of a discard.
    pub(super) async fn carry_out(
        &self,
        held: &HeldAction<'_>,
        asked: &Asked,
        review: Option<Box<Reviewed>>,
        cancel: Option<&CancellationToken>,
    ) -> Result<Ending, Error> {
        let (action, resolution) = (&*held.action, &asked.resolution);
        // A map of strings to values can always be serialized.
        let extra = resolution.extra.as_ref();
        let extra = extra.and_then(|extra| serde_json::to_string(extra).ok());
        let for_guest = DecidedAction {
            state: held.guest_state.as_deref(),
            extra: extra.as_deref(),
            ..DecidedAction::of(action, &resolution.reason, held.attempt)
        };
        let carrying_out = CarryingOut {
            committing: Committing {
                decisions: self,
                held,
                asked,
                reviewed: review.as_ref().map(|review| &review.record),
                seen: Mutex::default(),
                cancel,
            },
            resolution: &for_guest,
            number: self.base.events.next_call(),
            granted: OnceLock::new(),
        };
        let decision = resolution.decision;
        let during = match decision {
            Decision::Apply => {
                let applying = pin!(carrying_out.apply());
                let applied = while_renewing(&[&held.lease], applying).await;
                applied.map(|applied| applied.map(Some))
            }
            Decision::Discard => while_renewing(&[&held.lease], pin!(carrying_out.reject())).await,
        };
        let returned = match during {
            Ok(returned) => returned,
            Err(lost) => return Ok(Ending::Lost(lost)),
        };
        match returned {
            Err(
                error @ (Error::Busy { .. }
                | Error::Unverified { .. }
                | Error::Stale { .. }
                | Error::Refused { .. }),
            ) => Err(error),
            Err(error @ Error::Different { .. }) => {
                carrying_out.keep_difference(&error).await;
                Err(error)
            }
            Err(error) if decision == Decision::Apply => Ok(Ending::Failed(apply_error(error))),
            returned => {
                let mut seen = carrying_out.committing.take_seen();
                let rest = seen.as_mut().map(|seen| std::mem::take(&mut seen.rest));
                let number = carrying_out.number;
                Ok(Ending::Carried(Box::new(Carried {
                    outcome: returned
                        .map(|returned| outcome_of(action, resolution, returned, seen)),
                    number,
                    review,
                    rest: rest.unwrap_or_default(),
                })))
            }
        }
    }
}

pub(super) fn outcome_of(
    action: &PendingAction,
    resolution: &Resolution,
    returned: Option<ToolResult>,
    seen: Option<Seen>,
) -> ResolutionOutcome {
    let summary = DecisionSummary {
        label: action.label.clone(),
        source_tool_name: Some(action.source_tool_name.clone()),
        reason: resolution.reason.clone(),
    };
    let extra = resolution.extra.clone();
    let mut outcome = outcome(resolution.decision, extra, summary, returned);
    outcome.action = Some(NamedAction::from(action));
    if let Some(seen) = seen {
        outcome.effects = Some(ActionEffects::new(action.id.clone(), seen.effects));
        outcome.kept = seen.kept;
        outcome.details.part = seen.part;
    }
    outcome
}

/// A claimed action and the decision about it.
struct CarryingOut<'a> {
    committing: Committing<'a>,
    resolution: &'a DecidedAction<'a>,
    /// The call's number in the session.
    number: u64,
    /// Conditions of an apply whose policy grants its own time or randomness.
    granted: OnceLock<Conditions>,
}

impl CarryingOut<'_> {
    fn base(&self) -> &Base {
        &self.committing.decisions.base
    }

    fn action(&self) -> &PendingAction {
        &self.committing.held.action
    }

    async fn apply(&self) -> Result<ToolResult, Error> {
        let (action, review) = (self.action(), self.committing.reviewed);
        let producer = self.base().tools.producer_of(action).await?;
        let reviews = &self.committing.decisions.reviews;
        reviews.demand_verified(action, &producer, review)?;
        let call = self.call();
        let conditions = conditions(action, review, producer.policy())?;
        if conditions.are_granted {
            // Set only once.
            let _ = self.granted.set(conditions.clone());
        }
        let committing = &self.committing;
        let applying = producer.apply(&call, action, self.resolution, conditions, committing);
        let applying = pin!(applying);
        let (name, function) = (producer.name(), ToolFunction::Apply);
        let watched = self.base().events.watched(&call, name, function, applying);
        watched.await
    }

    /// Calls the producer's reject handler. Returns `None` if the producer has no answer or is
    /// gone. A discard removes the action in either case.
    async fn reject(&self) -> Result<Option<ToolResult>, Error> {
        let action = self.action();
        let same_workspace = self.committing.asked.resolution.same_workspace;
        let elsewhere = || self.base().place.other_workspace(action).is_some();
        if !action.has_reject || (!same_workspace && elsewhere()) {
            return Ok(None);
        }
        let producer = match self.base().tools.producer_of(action).await {
            Ok(producer) => producer,
            Err(Error::PluginGone(_) | Error::ProducerGone { .. } | Error::InstanceGone) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let call = self.call();
        let rejecting = pin!(producer.reject(&call, action, self.resolution));
        let (name, function) = (producer.name(), ToolFunction::Reject);
        let watched = self.base().events.watched(&call, name, function, rejecting);
        watched.await
    }

    /// Keeps the effects that differ from the review. The next decision is about these effects.
    async fn keep_difference(&self, error: &Error) {
        let review = self.committing.reviewed;
        let (Some(review), Error::Different { difference, .. }) = (review, error) else {
            return;
        };
        let mut record = review.clone();
        record.effects = difference.now.clone();
        if let Some(granted) = self.granted.get() {
            record.seed = granted.seed.clone();
            record.time = Some(granted.time());
        }
        // The effects may depend on the reason, which a rehearsal doesn't get. Don't compare a
        // rehearsal with them; compare only the apply.
        record.read = Some(Fingerprints::default());
        record.replaced = true;
        let reviews = &self.committing.decisions.reviews;
        reviews.keep(self.action(), record).await;
    }

    fn call(&self) -> Call<'_> {
        Call {
            number: self.number,
            tool: &self.action().source_tool_name,
            limits: self.base().limits(),
            cancel: self.committing.cancel,
            spent: Duration::ZERO,
        }
    }
}
