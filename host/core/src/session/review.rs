//! What is decided about, beside the preview: what the host saw, which an apply must do again.

use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};

use airlock_model::digest::Digest;
use airlock_model::effects::{Effects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, Decision, NamedAction, PendingAction, Resolution};
use airlock_model::policy::{Phase, Rehearse};
use airlock_model::store::PendingStore;
use tokio_util::sync::CancellationToken;

use super::Session;
use crate::instance::unless_cancelled;
use crate::producer::Producer;

impl Session {
    /// What is known of the action that is to be applied, before it is claimed: waits for its
    /// rehearsal, and makes sure that it still holds.
    pub(super) async fn review_of(
        &self,
        store: &Arc<dyn PendingStore>,
        resolution: &Resolution,
        cancel: Option<&CancellationToken>,
    ) -> Result<Option<Review>, Error> {
        if resolution.decision != Decision::Apply || self.inner.workspace.is_none() {
            return Ok(None);
        }
        let found = self.stacked(&**store, resolution.id.as_ref()).await?;
        // Whoever resolves what is not there is told by the claim.
        let Some(found) = found else {
            return Ok(None);
        };
        let id = found.action.id.clone();
        let record = match self.may_rehearse() {
            true => match unless_cancelled(cancel, self.review(&id)).await? {
                // By the claim, too.
                Err(Error::PluginGone(_) | Error::ProducerGone { .. } | Error::InstanceGone) => {
                    return Ok(None);
                }
                record => record?,
            },
            false => store.effects(self.id(), &id).await?,
        };
        let same_workspace = resolution.same_workspace;
        let current = self.current_review(store, &found, record, same_workspace, cancel);
        let action = Arc::clone(&found.action);
        Ok(current.await?.map(|record| Review::new(action, record)))
    }

    /// What an apply must do the same as, if anything. Another action may have become the topmost
    /// since somebody looked; and what was reviewed elsewhere binds a session too that rehearses
    /// nothing itself.
    pub(super) async fn review_of_claimed(
        &self,
        store: &Arc<dyn PendingStore>,
        action: &Arc<PendingAction>,
        decision: Decision,
        before: Option<Review>,
    ) -> Result<Option<Review>, Error> {
        match before {
            Some(before) if before.action.id == action.id => Ok(Some(before)),
            _ if decision == Decision::Discard || self.inner.workspace.is_none() => Ok(None),
            _ => {
                let record = store.effects(self.id(), &action.id).await?;
                let action = Arc::clone(action);
                Ok(record.map(|record| Review::new(action, record)))
            }
        }
    }

    /// An apply is decided by the review that the decision names, or by the one of the push. A
    /// model can't name any: it means what the session told it last.
    pub(super) fn demand_reviewed(
        &self,
        review: &Review,
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
        match is_reviewed {
            true => Ok(()),
            false => Err(Error::NotReviewed {
                action: Box::new(NamedAction::from(&*review.action)),
                now: Box::new(record.effects.clone()),
            }),
        }
    }

    fn has_told(&self, review: &Review) -> bool {
        let told = self.told();
        (told.as_ref())
            .is_some_and(|told| told.id == review.action.id && told.effects == *review.digest())
    }

    /// Remembers what an action does now, if this is what a model is about to be told.
    pub(super) fn remember_told<T>(&self, outcome: &Result<T, Error>) {
        let (action, now) = match outcome {
            Err(Error::Different { action, difference }) => (action, &difference.now),
            Err(Error::NotReviewed { action, now }) => (action, &**now),
            _ => return,
        };
        let (id, effects) = (action.id.clone(), now.digest());
        *self.told() = Some(Told { id, effects });
    }

    fn told(&self) -> MutexGuard<'_, Option<Told>> {
        let told = self.inner.told.lock();
        told.unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the session demands that the host has seen what an apply would do, it must have.
    pub(super) fn demand_verified(
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

/// What a model was told last about an action that does something else than its push.
pub(super) struct Told {
    id: ActionId,
    effects: Digest,
}

/// What is known of one action.
pub(super) struct Review {
    action: Arc<PendingAction>,
    pub record: EffectsRecord,
    digest: OnceLock<Digest>,
}

impl Review {
    fn new(action: Arc<PendingAction>, record: EffectsRecord) -> Self {
        Self {
            action,
            record,
            digest: OnceLock::new(),
        }
    }

    /// As a decision names it: asked for before and after the claim, and all changes are hashed for
    /// it.
    fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| self.record.effects.digest())
    }

    /// What this action does; none where the review is of another one.
    pub fn effects_of(&self, action: &PendingAction) -> Option<&Effects> {
        (self.action.id == action.id).then_some(&self.record.effects)
    }
}
