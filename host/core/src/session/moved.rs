//! An action that changes files in which other lines have changed since it was previewed: rehearsed
//! again, it makes the same edits on other lines.

use std::sync::Arc;

use airlock_model::effects::{Change, ChangeKind, Effects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, StackedAction};
use airlock_model::reads::{StaleFile, Staleness};
use airlock_model::store::PendingStore;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::rehearsing::Keeping;
use crate::instance::unless_cancelled;

impl Session {
    /// What a pending action does now, where files that it changes have changed elsewhere since it
    /// was previewed, and its edits are the same on other lines: this is what an apply would do.
    /// None where nothing of the kind is the case. Nothing is kept of it.
    ///
    /// # Errors
    /// As of [`stale_files`](Self::stale_files).
    pub async fn moved_effects(&self, id: &ActionId) -> Result<Option<Effects>, Error> {
        let stale = self.stale_files(id).await?;
        let store = self.store()?;
        let found = self.stacked(&**store, Some(id)).await?;
        let review = store.effects(self.id(), id).await?;
        let (Some(found), Some(review)) = (found, review) else {
            return Ok(None);
        };
        let now = self.rehearse_moved(&found, &review, &stale, None).await?;
        Ok(now.map(|now| now.effects))
    }

    /// The review from now on, where the action makes the same edits of the stale files.
    pub(super) async fn moved(
        &self,
        store: &Arc<dyn PendingStore>,
        found: &StackedAction,
        review: Option<&EffectsRecord>,
        stale: &[StaleFile],
        cancel: Option<&CancellationToken>,
    ) -> Result<Option<EffectsRecord>, Error> {
        let Some(review) = review else {
            return Ok(None);
        };
        let Some(mut now) = self.rehearse_moved(found, review, stale, cancel).await? else {
            return Ok(None);
        };
        // Not if somebody has applied it meanwhile.
        if !self.waits_as(found, store).await? {
            return Ok(None);
        }
        // Its call has read these before, and they are known to whoever decides now.
        for change in now.effects.changes.iter().filter(|it| is_among(it, stale)) {
            let digest = change.before.as_ref().and_then(|it| it.digest.clone());
            now.left_by_others.insert(change.path.clone(), digest);
        }
        Ok(Some(self.keep(&found.action, now).await))
    }

    async fn rehearse_moved(
        &self,
        found: &StackedAction,
        review: &EffectsRecord,
        stale: &[StaleFile],
        cancel: Option<&CancellationToken>,
    ) -> Result<Option<EffectsRecord>, Error> {
        let edits = |file: &StaleFile| {
            let mut changes = review.effects.changes.iter();
            file.what == Staleness::Changed
                && changes.any(|it| it.path == file.path && it.kind == ChangeKind::Modified)
        };
        if stale.is_empty() || !review.effects.verified || !stale.iter().all(edits) {
            return Ok(None);
        }
        let Ok(producer) = self.producer_of(&found.action).await else {
            // Whoever resolves it is told by the claim.
            return Ok(None);
        };
        let Some(folder) = self.rehearsed_anew_in(&found.action, &producer) else {
            return Ok(None);
        };
        let before = review.clone();
        let rehearsing = self.rehearse_again(found, producer, folder, before, Keeping::Nothing);
        let Some(mut now) = unless_cancelled(cancel, rehearsing).await?? else {
            return Ok(None);
        };
        now.effects.moved = true;
        Ok(review.effects.has_same_edits(&now.effects).then_some(now))
    }
}

fn is_among(change: &Change, stale: &[StaleFile]) -> bool {
    stale.iter().any(|file| file.path == change.path)
}
