//! The changes of several pending actions, each applied on top of those before it.

mod conflicts;

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use airlock_model::content::ToolResult;
use airlock_model::effects::{Effects, EffectsRecord, Seed};
use airlock_model::error::Error;
use airlock_model::event::ToolFunction;
use airlock_model::pending::{ActionState, NamedAction, PendingAction, Resolution, StackedAction};
use airlock_workspace::{Layer, View};
use tokio_util::sync::CancellationToken;

use super::rehearsing::REASON;
use super::{Reviews, is_producer_gone};
use crate::instance::{Call, Conditions};
use crate::session::place::in_background;
use crate::workspace::{LayerLimits, LayerStart, changes_of};
use crate::world::DecidedAction;
use conflicts::{Proposal, conflict, is_same_call};

const UNVERIFIED: &str = "its effects couldn't be verified";

/// The result of reviewing several pending actions as one.
#[derive(Debug, Clone)]
pub enum Together {
    /// They can be applied in one commit.
    Reviewed(Box<JointReview>),
    /// They can't. Each can still be decided by itself.
    Apart {
        /// The action that prevents it.
        action: Box<NamedAction>,
        /// The reason, as a clause about it.
        reason: String,
    },
}

/// The changes of several pending actions, reviewed as one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JointReview {
    /// The actions, in the order in which they are applied.
    pub actions: Vec<StackedAction>,
    /// The reviewed effects of each one alone, in the same order. They are not verified if it
    /// depends on an earlier action of its call.
    pub each: Vec<Effects>,
    /// Their joint changes: each changed file once, without changes that a later one takes back.
    pub effects: Effects,
}

impl JointReview {
    /// Returns the changes of one of the actions, by index. Those that no review of one alone has
    /// are the share of the last action of a call.
    pub(in crate::session) fn share(&self, at: usize) -> Effects {
        let action = |at: usize| &*self.actions[at].action;
        let is_sibling = |other: &usize| *other != at && is_same_call(action(at), action(*other));
        let Some(last) = (0..self.actions.len()).rfind(is_sibling) else {
            return self.each[at].clone();
        };
        let paths = |effects: &Effects| -> BTreeSet<String> {
            let changes = effects.changes.iter();
            changes.map(|change| change.path.clone()).collect()
        };
        let own = paths(&self.each[at]);
        let known: BTreeSet<_> = self.each.iter().flat_map(paths).collect();
        let mut share = self.effects.clone();
        share.changes.retain(|change| {
            own.contains(&change.path) || (at > last && !known.contains(&change.path))
        });
        share
    }
}

/// An action to apply on top of others.
pub(in crate::session) struct Step<'a> {
    pub action: &'a PendingAction,
    pub seed: &'a Seed,
    pub reason: &'a str,
    /// Counts the attempts to apply the action, from 1.
    pub attempt: u32,
}

/// The changes of several actions, before a commit.
pub(in crate::session) struct Stacked {
    /// The layer with all changes is open. `None` without a workspace.
    pub changes: Option<View>,
    /// The result of each tool, with the number of its call.
    pub results: Vec<(ToolResult, u64)>,
}

impl Reviews {
    /// Reviews these actions as one, to be applied in this order.
    ///
    /// # Errors
    /// The errors of the store and the workspace, and [`Error::Cancelled`].
    pub async fn review_together(
        &self,
        actions: &[StackedAction],
        cancel: Option<&CancellationToken>,
    ) -> Result<Together, Error> {
        let mut records: Vec<EffectsRecord> = Vec::new();
        for (at, stacked) in actions.iter().enumerate() {
            let record = match self.joinable(stacked, cancel).await? {
                Ok(record) => record,
                Err(reason) => return Ok(apart(stacked, reason)),
            };
            // It may depend on an earlier action of its call, and fail alone.
            let mut before = actions[..at].iter();
            let builds_on_another = before.any(|it| is_same_call(&it.action, &stacked.action));
            if !record.effects.verified && !builds_on_another {
                return Ok(apart(stacked, UNVERIFIED.to_owned()));
            }
            records.push(record);
        }
        let steps = actions.iter().zip(&records).map(|(stacked, record)| Step {
            action: &stacked.action,
            seed: &record.seed,
            reason: REASON,
            attempt: stacked.attempts + 1,
        });
        let steps: Vec<_> = steps.collect();
        let stacked = match self.stack(&steps, ToolFunction::Rehearse, cancel).await? {
            Ok(stacked) => stacked,
            Err((at, error)) => {
                let reason = format!("its rehearsal on top of the earlier actions failed: {error}");
                return Ok(apart(&actions[at], reason));
            }
        };
        let mut effects = self.effects_together(stacked.changes).await?;
        let mut reads = Vec::new();
        for stacked in actions {
            let records = self.base.records()?;
            let call = records.call_record(self.base.id(), &stacked.action.id);
            reads.push(call.await?.map(|call| call.read.files).unwrap_or_default());
        }
        let each: Vec<_> = records.into_iter().map(|record| record.effects).collect();
        effects.uses_time = each.iter().any(|it| it.uses_time);
        effects.uses_randomness = each.iter().any(|it| it.uses_randomness);
        let proposals = actions.iter().zip(&each).zip(&reads);
        let proposals = proposals.map(|((stacked, effects), read)| Proposal {
            action: &stacked.action,
            effects,
            has_read: Box::new(|path| read.contains_key(path)),
        });
        let found = conflict(&effects, &proposals.collect::<Vec<_>>());
        if let Some((at, reason)) = found {
            return Ok(apart(&actions[at], reason));
        }
        Ok(Together::Reviewed(Box::new(JointReview {
            actions: actions.to_vec(),
            each,
            effects,
        })))
    }

    /// Returns the review of an action that can be applied in one commit with others, or the reason
    /// why it can't.
    async fn joinable(
        &self,
        stacked: &StackedAction,
        cancel: Option<&CancellationToken>,
    ) -> Result<Result<EffectsRecord, String>, Error> {
        let action = &stacked.action;
        let not = |reason: &str| Ok(Err(reason.to_owned()));
        match stacked.state {
            ActionState::Pending => {}
            ActionState::Interrupted => return not("its last apply was interrupted"),
            _ => return not("it is not pending"),
        }
        if !action.durable {
            return not("its tool keeps the preview only in memory");
        }
        if self.base.place.other_workspace(action).is_some() {
            return not("it was previewed in another workspace");
        }
        let producer = match self.base.tools.producer_of(action).await {
            Err(error) if is_producer_gone(&error) => return Ok(Err(error.to_string())),
            producer => producer?,
        };
        let policy = producer.policy();
        if policy.real_time || policy.fresh_randomness {
            return not("its tool was granted real time or fresh randomness");
        }
        if self.rehearsed_anew_in(action, &producer).is_none() {
            return not(UNVERIFIED);
        }
        let apply = Resolution::apply("").with_id(action.id.clone());
        let review = match self.review_of(&apply, cancel).await {
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

    /// Applies actions, each on top of those before it, without a commit. If one of them fails,
    /// returns its index and error.
    pub async fn stack(
        &self,
        steps: &[Step<'_>],
        function: ToolFunction,
        cancel: Option<&CancellationToken>,
    ) -> Result<Result<Stacked, (usize, Error)>, Error> {
        let mut above: Option<Arc<Layer>> = None;
        let mut results = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let running = self.run_step(step, above.clone(), function, cancel);
            match Box::pin(running).await {
                Ok((result, number, changes)) => {
                    results.push((result, number));
                    if let Some(layer) = changes.and_then(|changes| changes.take_layer()) {
                        above = Some(Arc::new(layer));
                    }
                }
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => return Ok(Err((at, error))),
            }
        }
        let changes = self.opened_above(above)?;
        Ok(Ok(Stacked { changes, results }))
    }

    /// Returns the tool's result, the call's number, and the changes on an open layer.
    async fn run_step(
        &self,
        step: &Step<'_>,
        above: Option<Arc<Layer>>,
        function: ToolFunction,
        cancel: Option<&CancellationToken>,
    ) -> Result<(ToolResult, u64, Option<View>), Error> {
        let action = step.action;
        let producer = self.base.tools.producer_of(action).await?;
        let records = self.base.records()?;
        let state = records.guest_state(self.base.id(), &action.id).await?;
        let call = Call {
            number: self.base.events.next_call(),
            tool: &action.source_tool_name,
            limits: self.base.limits(),
            cancel,
            spent: Duration::ZERO,
        };
        let decided = DecidedAction {
            state: state.as_deref(),
            ..DecidedAction::of(action, step.reason, step.attempt)
        };
        let mut conditions = Conditions::new(step.seed.clone(), action.pushed_at);
        conditions.files_moved = above.is_some();
        conditions.above = above;
        let running = pin!(producer.rehearse(&call, action, &decided, conditions));
        let events = &self.base.events;
        let watched = events.watched(&call, producer.name(), function, running);
        let applied = watched.await?;
        Ok((applied.result, call.number, applied.changes))
    }

    /// Returns a view of the workspace with an open layer on top of these changes.
    fn opened_above(&self, above: Option<Arc<Layer>>) -> Result<Option<View>, Error> {
        let Some(folder) = &self.base.place.workspace else {
            return Ok(None);
        };
        let limits = LayerLimits::of(self.base.limits());
        let start = LayerStart { time: None, above };
        let opened = folder.noted_view().and_then(|view| {
            limits.begin(&view, folder.spill()?, &start)?;
            Ok(Some(view))
        });
        opened.map_err(|error| Error::workspace(folder.path(), error))
    }

    /// Reads the changes of the layer, and drops it.
    async fn effects_together(&self, changes: Option<View>) -> Result<Effects, Error> {
        let (Some(folder), Some(changes)) = (self.base.place.workspace.clone(), changes) else {
            return Ok(Effects::default());
        };
        let reading = in_background(move || {
            let found = folder.view().and_then(|view| changes_of(&changes, &view));
            changes.abandon();
            found.map_err(|error| Error::workspace(folder.path(), error))
        });
        let mut effects = Effects::verified(reading.await?);
        effects.beyond_undo = self.base.place.is_beyond_undo(&effects);
        Ok(effects)
    }
}

fn apart(stacked: &StackedAction, reason: String) -> Together {
    let action = Box::new(NamedAction::from(&*stacked.action));
    Together::Apart { action, reason }
}
