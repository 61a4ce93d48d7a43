//! Rehearses actions: before the decision, the host applies an action on a layer that is never
//! committed, to see its effects.

mod kept;
mod reading;
mod under_way;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use airlock_model::content::ToolResult;
use airlock_model::effects::{ActionEffects, Answer, Effects, EffectsRecord, Seed};
use airlock_model::error::{Error, HostError};
use airlock_model::event::ToolFunction;
use airlock_model::pending::{ActionId, PendingAction, StackedAction};
use airlock_model::policy::{Phase, Rehearse};
use airlock_model::reads::Fingerprints;
use airlock_workspace::View;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::Reviews;
use crate::instance::{Call, Conditions, LookedAt, new_seed};
use crate::producer::{Draft, Producer};
use crate::workspace::WorkspaceFolder;
use crate::world::DecidedAction;
use reading::{read_changes, unverified};
pub(super) use under_way::Rehearsals;
use under_way::UnderWay;

/// The time for which a call waits for the rehearsal of the actions it pushed.
const REHEARSAL_WAIT: Duration = Duration::from_secs(2);

/// Possible cause of a failure, if the plugin's calls have left something in `/scratch`.
const STAGED: &str = " (`/scratch` is empty when a durable action is applied, whatever its call has left there: what applying needs belongs into its state)";

/// The use of the result of a rehearsal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// The result becomes the review.
    Review,
    /// The result is not stored: it may differ from the review.
    Nothing,
}

/// A rehearsal to run.
struct Rehearsal {
    under_way: UnderWay,
    action: Arc<PendingAction>,
    attempts: u32,
    producer: Producer,
    folder: Arc<WorkspaceFolder>,
    /// The result of an earlier rehearsal.
    before: Option<EffectsRecord>,
    keeping: Keeping,
    /// The effects, if the call that pushed the action produced them itself.
    drafted: Option<Draft>,
}

impl Reviews {
    /// Returns the effects of a pending action, rehearsed now if they are not known yet.
    pub async fn effects(&self, id: &ActionId) -> Result<Option<Effects>, Error> {
        Ok(self.review(id).await?.map(|record| record.effects))
    }

    /// Boxed, like [cancellable](crate::cancel::Cancellable) operations.
    pub(super) fn review<'a>(
        &'a self,
        id: &'a ActionId,
    ) -> BoxFuture<'a, Result<Option<EffectsRecord>, Error>> {
        Box::pin(async move {
            let records = self.base.records()?;
            self.rehearsed(id).await;
            if let Some(record) = records.effects(self.base.id(), id).await? {
                return Ok(Some(record));
            }
            if !self.may_rehearse() {
                return Ok(None);
            }
            let Some(found) = self.base.stack.find(Some(id)).await? else {
                return Ok(None);
            };
            let producer = self.base.tools.producer_of(&found.action).await?;
            let Some(folder) = self.rehearsed_in(&found.action, &producer) else {
                return Ok(None);
            };
            let Some(under_way) = self.begin(id) else {
                self.rehearsed(id).await;
                return Ok(records.effects(self.base.id(), id).await?);
            };
            let rehearsal = Rehearsal {
                under_way,
                action: found.action,
                attempts: found.attempts,
                producer,
                folder,
                before: None,
                keeping: Keeping::Review,
                drafted: None,
            };
            self.rehearse_apart(rehearsal).await.map(Some)
        })
    }

    /// Rehearses an action again, with the same randomness. Returns `None` if another rehearsal
    /// ended in the meantime without a known result.
    pub(super) async fn rehearse_again(
        &self,
        found: &StackedAction,
        producer: Producer,
        folder: Arc<WorkspaceFolder>,
        before: EffectsRecord,
        keeping: Keeping,
    ) -> Result<Option<EffectsRecord>, Error> {
        let id = &found.action.id;
        let Some(under_way) = self.begin(id) else {
            self.rehearsed(id).await;
            return Ok(self.base.records()?.effects(self.base.id(), id).await?);
        };
        let rehearsal = Rehearsal {
            under_way,
            action: Arc::clone(&found.action),
            attempts: found.attempts,
            producer,
            folder,
            before: Some(before),
            keeping,
            drafted: None,
        };
        self.rehearse_apart(rehearsal).await.map(Some)
    }

    /// Runs in a separate task, so that it continues if this future is dropped: other callers may
    /// wait for it.
    async fn rehearse_apart(&self, rehearsal: Rehearsal) -> Result<EffectsRecord, Error> {
        let rehearsing = tokio::spawn(self.clone().rehearse(rehearsal, Duration::ZERO));
        Ok(rehearsing.await.map_err(HostError::Rehearsal)?)
    }

    /// Rehearses the actions that a call pushed, or reads the effects of its draft, which has
    /// exactly one action. Returns the results that are known within a short time. The rest
    /// continues, and a decision waits for it.
    pub async fn rehearse_pushed(
        &self,
        producer: &Producer,
        pushed: &[Arc<PendingAction>],
        drafted: Option<Draft>,
    ) -> Vec<ActionEffects> {
        let rehearsals: Vec<Rehearsal> = pushed
            .iter()
            .filter_map(|action| {
                let folder = match &drafted {
                    Some(_) => self.wanted_in(action, producer),
                    None => self.rehearsed_in(action, producer),
                };
                Some(Rehearsal {
                    folder: folder?,
                    under_way: self.begin(&action.id)?,
                    action: Arc::clone(action),
                    attempts: 0,
                    producer: producer.clone(),
                    before: None,
                    keeping: Keeping::Review,
                    drafted: drafted.clone(),
                })
            })
            .collect();
        if rehearsals.is_empty() {
            return Vec::new();
        }
        let (known, mut told) = mpsc::unbounded_channel();
        let reviews = self.clone();
        tokio::spawn(async move {
            let began = Instant::now();
            for rehearsal in rehearsals {
                let action = rehearsal.action.id.clone();
                // All actions of a call share the time of one call.
                let rehearsing = reviews.clone().rehearse(rehearsal, began.elapsed());
                let record = rehearsing.await;
                // The receiver may have stopped waiting.
                let _ = known.send(ActionEffects::new(action, record.effects));
            }
        });
        let deadline = Instant::now() + REHEARSAL_WAIT;
        let mut effects = Vec::new();
        while let Ok(Some(one)) = timeout_at(deadline, told.recv()).await {
            effects.push(one);
        }
        effects
    }

    /// Returns the workspace in which to rehearse an action. Returns `None` if rehearsals are not
    /// wanted, if the action can't change anything or only its own process can apply it, or if its
    /// producer is part of the host.
    pub(super) fn rehearsed_in(
        &self,
        action: &PendingAction,
        producer: &Producer,
    ) -> Option<Arc<WorkspaceFolder>> {
        let can_be = producer.native().is_none()
            && producer.policy().allows_workspace_change(Phase::Rehearse);
        self.wanted_in(action, producer).filter(|_| can_be)
    }

    /// Returns the workspace in which to rehearse an action after its files have changed.
    pub(super) fn rehearsed_anew_in(
        &self,
        action: &PendingAction,
        producer: &Producer,
    ) -> Option<Arc<WorkspaceFolder>> {
        self.wanted_in(action, producer)
            .filter(|_| producer.can_be_rehearsed())
    }

    /// Returns the workspace if knowing the action's effects would be useful.
    fn wanted_in(
        &self,
        action: &PendingAction,
        producer: &Producer,
    ) -> Option<Arc<WorkspaceFolder>> {
        if !action.durable || self.rehearse_mode(producer) == Rehearse::Never {
            return None;
        }
        self.base.place.workspace_of(action, false)
    }

    pub(super) fn rehearse_mode(&self, producer: &Producer) -> Rehearse {
        producer.policy().rehearse.unwrap_or(self.rehearse)
    }

    /// Returns whether this session rehearses anything. Checked before querying a store.
    pub fn may_rehearse(&self) -> bool {
        let of_plugins = || {
            let producers = self.base.tools.producers();
            producers.iter().any(|it| it.policy().rehearse.is_some())
        };
        self.base.place.workspace.is_some() && (self.rehearse != Rehearse::Never || of_plugins())
    }

    async fn rehearse(self, rehearsal: Rehearsal, spent: Duration) -> EffectsRecord {
        let action = &*rehearsal.action;
        let before = rehearsal.before.as_ref();
        let run = rehearsal.drafted.as_ref().and_then(|it| it.run.as_ref());
        let known = run.map(|it| &it.seed).or(before.map(|before| &before.seed));
        let seed = match known.map_or_else(new_seed, |seed| Ok(seed.clone())) {
            Ok(seed) => seed,
            Err(error) => {
                let effects = Effects::unverified(format!("there is no randomness: {error}"));
                return EffectsRecord::new(effects, Seed::new([0; 32]));
            }
        };
        let (effects, read) = self.effects_of(&rehearsal, &seed, spent).await;
        let mut record = EffectsRecord::new(effects, seed).with_read(read);
        if let Some(before) = before {
            record.left_by_others = before.left_by_others.clone();
            // If the result is not kept as the review, the caller compares it.
            let is_other = rehearsal.keeping == Keeping::Review
                && before.effects.verified
                && !before.effects.is_same(&record.effects);
            record.replaced = before.replaced || is_other;
        }
        if rehearsal.keeping == Keeping::Review {
            record = self.keep(action, record).await;
        }
        drop(rehearsal.under_way);
        record
    }

    /// Applies the action on a layer, unless the call already did, and reads the changes and the
    /// tool's inputs.
    async fn effects_of(
        &self,
        rehearsal: &Rehearsal,
        seed: &Seed,
        spent: Duration,
    ) -> (Effects, Option<Fingerprints>) {
        let action = &*rehearsal.action;
        if let Some(Draft { changes, run }) = &rehearsal.drafted {
            let looked_at = run.as_ref().map(|it| it.looked_at.clone());
            let read = self.read(
                changes.clone(),
                looked_at.unwrap_or_default(),
                run.as_ref().map(|it| &it.result),
                rehearsal,
            );
            return read.await;
        }
        let most = self.base.limits().call_time;
        if spent >= most {
            let seconds = most.as_secs_f64();
            return unverified(format!(
                "what else its call has pushed was rehearsed for {seconds} s, the limit for a call"
            ));
        }
        let guest_state = match self.guest_state(action).await {
            Ok(guest_state) => guest_state,
            Err(error) => return unverified(error.to_string()),
        };
        let call = Call {
            number: self.base.events.next_call(),
            tool: &action.source_tool_name,
            limits: self.base.limits(),
            cancel: None,
            spent,
        };
        let resolution = DecidedAction {
            state: guest_state.as_deref(),
            ..DecidedAction::of(action, Answer::REASON, rehearsal.attempts + 1)
        };
        let conditions = Conditions::new(seed.clone(), action.pushed_at);
        let producer = &rehearsal.producer;
        let rehearsing = pin!(producer.rehearse(&call, action, &resolution, conditions));
        let rehearsed = self
            .base
            .events
            .watched(&call, producer.name(), ToolFunction::Rehearse, rehearsing)
            .await;
        let rehearsed = match rehearsed {
            Ok(rehearsed) => rehearsed,
            Err(error) => {
                let hint = if producer.has_scratch() { STAGED } else { "" };
                return unverified(format!("its rehearsal failed: {error}{hint}"));
            }
        };
        let Some(changes) = rehearsed.changes else {
            // It can't change anything, whatever it reads.
            let nothing = Fingerprints::default();
            return (Effects::verified(Vec::new()), Some(nothing));
        };
        let (looked_at, result) = (rehearsed.looked_at, Some(&rehearsed.result));
        self.read(changes, looked_at, result, rehearsal).await
    }

    async fn read(
        &self,
        changes: View,
        looked_at: LookedAt,
        result: Option<&ToolResult>,
        rehearsal: &Rehearsal,
    ) -> (Effects, Option<Fingerprints>) {
        let folder = Arc::clone(&rehearsal.folder);
        let (mut effects, read) = read_changes(changes, looked_at, folder).await;
        effects.beyond_undo = self.base.place.is_beyond_undo(&effects);
        let policy = rehearsal.producer.policy();
        if effects.verified && !policy.real_time && !policy.fresh_randomness {
            effects.answer = result.map(Answer::of).map(Box::new);
        }
        (effects, read)
    }

    async fn guest_state(&self, action: &PendingAction) -> Result<Option<Vec<u8>>, Error> {
        Ok(self
            .base
            .records()?
            .guest_state(self.base.id(), &action.id)
            .await?)
    }
}
