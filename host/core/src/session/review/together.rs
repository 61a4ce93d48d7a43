//! The changes of several pending actions, each applied on top of those before it.

mod conflicts;

use std::collections::BTreeSet;

use airlock_model::effects::{Answer, Effects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::event::ToolFunction;
use airlock_model::pending::{ActionState, PendingAction, Resolution, StackedAction};
use airlock_workspace::View;
use tokio_util::sync::CancellationToken;

use super::step::{Stacked, Step};
use super::{Reviews, is_producer_gone};
use crate::session::place::in_background;
use crate::workspace::changes_of;
use conflicts::{Proposal, conflict, is_same_call};

const UNVERIFIED: &str = "its effects couldn't be verified";

/// A pending action to review as one with others.
#[derive(Clone, Copy)]
pub(in crate::session) struct Waiting<'a> {
    /// The reviews of its session.
    pub reviews: &'a Reviews,
    pub stacked: &'a StackedAction,
}

/// The changes of several actions, reviewed as one.
pub(in crate::session) struct JointEffects {
    /// The reviewed effects of each one alone.
    pub each: Vec<Effects>,
    pub together: Effects,
    /// What each one answers on top of the others.
    pub answers: Vec<Answer>,
}

/// The reason why actions can't be applied together, as a clause about the action with this index.
pub(in crate::session) struct Obstacle {
    pub at: usize,
    pub reason: String,
}

/// Reviews these actions as one, to be applied in this order.
///
/// # Errors
/// The errors of the store and the workspace, and [`Error::Cancelled`].
pub(in crate::session) async fn review_together(
    actions: &[Waiting<'_>],
    cancel: Option<&CancellationToken>,
) -> Result<Result<JointEffects, Obstacle>, Error> {
    let obstacle = |at, reason| Ok(Err(Obstacle { at, reason }));
    let mut records: Vec<EffectsRecord> = Vec::new();
    for (at, waiting) in actions.iter().enumerate() {
        if let Some(reason) = waiting.is_elsewhere_than(actions[0]) {
            return obstacle(at, reason);
        }
        let record = match waiting.joinable(cancel).await? {
            Ok(record) => record,
            Err(reason) => return obstacle(at, reason),
        };
        // It may depend on an earlier action of its call, and fail alone.
        let mut before = actions[..at].iter();
        let builds_on_another = before.any(|it| is_same_call(it.action(), waiting.action()));
        if !record.effects.verified && !builds_on_another {
            return obstacle(at, UNVERIFIED.to_owned());
        }
        records.push(record);
    }
    let steps = actions.iter().zip(&records).map(|(waiting, record)| Step {
        reviews: waiting.reviews,
        action: waiting.action(),
        seed: &record.seed,
        reason: Answer::REASON,
        attempt: waiting.stacked.attempts + 1,
    });
    let steps: Vec<_> = steps.collect();
    let Stacked { changes, results } =
        match Stacked::of(&steps, ToolFunction::Rehearse, cancel).await? {
            Ok(stacked) => stacked,
            Err((at, error)) => {
                let reason = format!("its rehearsal on top of the earlier actions failed: {error}");
                return obstacle(at, reason);
            }
        };
    let mut together = effects_of(actions, changes).await?;
    let mut reads = Vec::new();
    for waiting in actions {
        let base = &waiting.reviews.base;
        let call = base.records()?.call_record(base.id(), &waiting.action().id);
        reads.push(call.await?.map(|call| call.read.files).unwrap_or_default());
    }
    let each: Vec<_> = records.into_iter().map(|record| record.effects).collect();
    together.uses_time = each.iter().any(|it| it.uses_time);
    together.uses_randomness = each.iter().any(|it| it.uses_randomness);
    let proposals = actions.iter().zip(&each).zip(&reads);
    let proposals = proposals.map(|((waiting, effects), read)| Proposal {
        action: waiting.action(),
        effects,
        has_read: Box::new(|path| read.contains_key(path)),
    });
    let found = conflict(&together, &proposals.collect::<Vec<_>>());
    match found {
        Some((at, reason)) => obstacle(at, reason),
        None => Ok(Ok(JointEffects {
            answers: results.iter().map(|(it, _)| Answer::of(it)).collect(),
            each,
            together,
        })),
    }
}

impl<'a> Waiting<'a> {
    fn action(self) -> &'a PendingAction {
        &self.stacked.action
    }

    /// Returns the reason why the sessions of the two can't commit together.
    fn is_elsewhere_than(self, other: Self) -> Option<String> {
        let place = |it: Self| {
            let folder = it.reviews.base.place.workspace.as_ref();
            folder.map(|folder| folder.path().to_owned())
        };
        (place(self) != place(other)).then(|| "its session is in another workspace".to_owned())
    }

    /// Returns the review of an action that can be applied in one commit with others, or the reason
    /// why it can't.
    async fn joinable(
        self,
        cancel: Option<&CancellationToken>,
    ) -> Result<Result<EffectsRecord, String>, Error> {
        let (action, reviews) = (&self.stacked.action, self.reviews);
        let not = |reason: &str| Ok(Err(reason.to_owned()));
        match self.stacked.state {
            ActionState::Pending => {}
            ActionState::Interrupted => return not("its last apply was interrupted"),
            _ => return not("it is not pending"),
        }
        if !action.durable {
            return not("its tool keeps the preview only in memory");
        }
        if reviews.base.place.other_workspace(action).is_some() {
            return not("it was previewed in another workspace");
        }
        let producer = match reviews.base.tools.producer_of(action).await {
            Err(error) if is_producer_gone(&error) => return Ok(Err(error.to_string())),
            producer => producer?,
        };
        let policy = producer.policy();
        if policy.real_time || policy.fresh_randomness {
            return not("its tool was granted real time or fresh randomness");
        }
        if reviews.rehearsed_anew_in(action, &producer).is_none() {
            return not(UNVERIFIED);
        }
        let apply = Resolution::apply("").with_id(action.id.clone());
        let review = match reviews.review_of(&apply, cancel).await {
            Err(Error::Stale { files, .. }) => {
                let path = files.first().map_or("a file", |file| &*file.path);
                return Ok(Err(format!("{path} has changed since its preview")));
            }
            Err(Error::Different { .. }) => {
                return not("its effects have changed since its review");
            }
            review => review?,
        };
        match review {
            Some(review) => Ok(Ok(review.record)),
            None => not(UNVERIFIED),
        }
    }
}

/// Reads the changes of the layer, and drops it.
async fn effects_of(actions: &[Waiting<'_>], changes: Option<View>) -> Result<Effects, Error> {
    let place = actions.first().map(|it| &it.reviews.base.place);
    let folder = place.and_then(|place| place.workspace.clone());
    let (Some(place), Some(folder), Some(changes)) = (place, folder, changes) else {
        return Ok(Effects::default());
    };
    let reading = in_background(move || {
        let found = folder.view().and_then(|view| changes_of(&changes, &view));
        changes.abandon();
        found.map_err(|error| Error::workspace(folder.path(), error))
    });
    let mut effects = Effects::verified(reading.await?);
    effects.beyond_undo = place.is_beyond_undo(&effects);
    Ok(effects)
}

/// Returns the share of each action in the joint effects. Changes that no review of one alone has
/// are the share of the last action of a call.
pub(in crate::session) fn shares(
    actions: &[(&PendingAction, &Effects)],
    together: &Effects,
) -> Vec<Effects> {
    let paths = |effects: &Effects| -> BTreeSet<String> {
        let changes = effects.changes.iter();
        changes.map(|change| change.path.clone()).collect()
    };
    let known: BTreeSet<_> = actions.iter().flat_map(|it| paths(it.1)).collect();
    let share = |(at, (action, alone)): (usize, &(&PendingAction, &Effects))| {
        let is_sibling = |other: &usize| *other != at && is_same_call(action, actions[*other].0);
        let Some(last) = (0..actions.len()).rfind(is_sibling) else {
            return (*alone).clone();
        };
        let own = paths(alone);
        let mut share = together.clone();
        share.changes.retain(|change| {
            own.contains(&change.path) || (at > last && !known.contains(&change.path))
        });
        share
    };
    actions.iter().enumerate().map(share).collect()
}
