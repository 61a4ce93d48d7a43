//! The reviewed effects of an action, which an apply must reproduce.

mod moved;
mod rehearsing;
mod siblings;
mod stale;
mod step;
mod together;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use airlock_model::digest::Digest;
use airlock_model::effects::{Effects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, Decision, NamedAction, PendingAction, Resolution};
use airlock_model::policy::{Phase, Rehearse};
use tokio_util::sync::CancellationToken;

use super::base::Base;
use crate::instance::unless_cancelled;
use crate::producer::Producer;
use rehearsing::Rehearsals;
pub(super) use stale::stale_files;
pub(super) use step::{Stacked, Step};
pub(super) use together::{JointEffects, Obstacle, Waiting, review_together, shares};

/// The reviews of a session's actions. Clones are the same reviews.
#[derive(Clone)]
pub(super) struct Reviews {
    base: Arc<Base>,
    rehearse: Rehearse,
    rehearsals: Arc<Rehearsals>,
    told: Arc<Mutex<Option<Told>>>,
}

impl Reviews {
    pub fn new(base: Arc<Base>, rehearse: Rehearse) -> Self {
        Self {
            base,
            rehearse,
            rehearsals: Arc::default(),
            told: Arc::default(),
        }
    }

    /// Returns the review of the action before it is claimed. Waits for its rehearsal, and makes
    /// sure that the result is still current.
    pub async fn review_of(
        &self,
        resolution: &Resolution,
        cancel: Option<&CancellationToken>,
    ) -> Result<Option<Box<Reviewed>>, Error> {
        if resolution.decision != Decision::Apply || self.base.place.workspace.is_none() {
            return Ok(None);
        }
        let found = self.base.stack.find(resolution.id.as_ref()).await?;
        // If the action is missing, the claim reports it.
        let Some(found) = found else {
            return Ok(None);
        };
        let id = found.action.id.clone();
        let record = if self.may_rehearse() {
            match unless_cancelled(cancel, self.review(&id)).await? {
                // The claim reports that, too.
                Err(error) if is_producer_gone(&error) => return Ok(None),
                record => record?,
            }
        } else {
            self.base.records()?.effects(self.base.id(), &id).await?
        };
        let same_workspace = resolution.same_workspace;
        let current = self.current_review(&found, record, same_workspace, cancel);
        let action = Arc::clone(&found.action);
        Ok(current.await?.map(|record| Reviewed::new(action, record)))
    }

    /// Returns the review that an apply must reproduce, if there is one. Another action may have
    /// become the topmost since the first look. A review that another session made also binds a
    /// session that rehearses nothing itself.
    pub async fn review_of_claimed(
        &self,
        action: &Arc<PendingAction>,
        decision: Decision,
        before: Option<Box<Reviewed>>,
    ) -> Result<Option<Box<Reviewed>>, Error> {
        match before {
            Some(before) if before.action.id == action.id => Ok(Some(before)),
            _ if decision == Decision::Discard || self.base.place.workspace.is_none() => Ok(None),
            _ => {
                let records = self.base.records()?;
                let record = records.effects(self.base.id(), &action.id).await?;
                let action = Arc::clone(action);
                Ok(record.map(|record| Reviewed::new(action, record)))
            }
        }
    }

    /// Checks that the decision is about the current effects: those of the review that it names, or
    /// those of the push. A model can't name a review; its decision is about the effects that the
    /// session reported to it last.
    pub fn demand_reviewed(
        &self,
        review: &Reviewed,
        resolution: &Resolution,
        is_model: bool,
    ) -> Result<(), Error> {
        let record = &review.record;
        let is_reviewed = match &resolution.review {
            _ if resolution.decision == Decision::Discard => true,
            Some(named) => named == review.digest(),
            None if !record.replaced => true,
            None => is_model && self.has_told(review),
        };
        if is_reviewed {
            Ok(())
        } else {
            Err(Error::NotReviewed {
                action: Box::new(NamedAction::from(&*review.action)),
                now: Box::new(record.effects.clone()),
            })
        }
    }

    fn has_told(&self, review: &Reviewed) -> bool {
        let told = self.lock();
        (told.as_ref())
            .is_some_and(|told| told.id == review.action.id && told.effects == *review.digest())
    }

    /// Remembers the action's current effects if the model is about to be informed of them.
    pub fn remember_told<T>(&self, outcome: &Result<T, Error>) {
        let (action, now) = match outcome {
            Err(Error::Different { action, difference }) => (action, &difference.now),
            Err(Error::NotReviewed { action, now }) => (action, &**now),
            _ => return,
        };
        let (id, effects) = (action.id.clone(), now.digest());
        *self.lock() = Some(Told { id, effects });
    }

    fn lock(&self) -> MutexGuard<'_, Option<Told>> {
        let told = self.told.lock();
        told.unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the host has seen the effects of the apply, if the session requires that.
    pub fn demand_verified(
        &self,
        action: &PendingAction,
        producer: &Producer,
        review: Option<&EffectsRecord>,
    ) -> Result<(), Error> {
        let effects = review.map(|review| &review.effects);
        let is_verified = effects.is_some_and(|effects| effects.verified);
        let harmless =
            !producer.policy().allows_workspace_change(Phase::Apply) && producer.native().is_none();
        if self.rehearse_mode(producer) != Rehearse::Always || is_verified || harmless {
            return Ok(());
        }
        let problem = effects.and_then(|effects| effects.problem.clone());
        let problem = problem.unwrap_or_else(|| match (action.durable, producer.native()) {
            (_, Some(_)) => "its tool is a part of the host, and has drafted nothing".to_owned(),
            (false, None) => "its tool keeps the preview only in memory".to_owned(),
            (true, None) => "it was not rehearsed here".to_owned(),
        });
        Err(Error::Unverified {
            action: Box::new(NamedAction::from(action)),
            problem,
        })
    }
}

/// Returns whether nothing is left that could rehearse or apply the action.
pub(super) fn is_producer_gone(error: &Error) -> bool {
    matches!(
        error,
        Error::PluginGone(_) | Error::ProducerGone { .. } | Error::InstanceGone
    )
}

/// The effects of which a model was last informed, for an action whose effects have changed since
/// its push.
struct Told {
    id: ActionId,
    effects: Digest,
}

/// Known effects of one action.
pub(super) struct Reviewed {
    action: Arc<PendingAction>,
    pub record: EffectsRecord,
    digest: OnceLock<Digest>,
}

impl Reviewed {
    /// Boxed, because a resolution would be kilobytes larger otherwise.
    fn new(action: Arc<PendingAction>, record: EffectsRecord) -> Box<Self> {
        Box::new(Self {
            action,
            record,
            digest: OnceLock::new(),
        })
    }

    /// Returns the digest by which a decision names the review. Cached, because it is used before
    /// and after the claim and hashes all changes.
    fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| self.record.effects.digest())
    }

    /// Returns the effects of this action, or `None` if the review is about another one.
    pub fn effects_of(&self, action: &PendingAction) -> Option<&Effects> {
        (self.action.id == action.id).then_some(&self.record.effects)
    }
}
