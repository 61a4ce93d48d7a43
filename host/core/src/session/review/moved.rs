//! Handles actions whose files have changed on other lines since the preview. A new rehearsal makes
//! the same edits on the moved lines.

use airlock_model::effects::{Change, ChangeKind, Effects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, StackedAction};
use airlock_model::reads::{StaleFile, Staleness};
use tokio_util::sync::CancellationToken;

use super::Reviews;
use super::rehearsing::Keeping;
use crate::instance::unless_cancelled;

impl Reviews {
    /// Returns the current effects of a pending action, if its edits are the same on moved lines.
    pub async fn moved_effects(&self, id: &ActionId) -> Result<Option<Effects>, Error> {
        let stale = self.stale_files(id).await?;
        let records = self.base.records()?;
        let found = self.base.stack.find(Some(id)).await?;
        let review = records.effects(self.base.id(), id).await?;
        let (Some(found), Some(review)) = (found, review) else {
            return Ok(None);
        };
        let now = self.rehearse_moved(&found, &review, &stale, None).await?;
        Ok(now.map(|now| now.effects))
    }

    /// Returns the new review, if the action still makes the same edits.
    pub(super) async fn moved(
        &self,
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
        // It may have been applied since.
        if !self.base.stack.waits_as(found).await? {
            return Ok(None);
        }
        // Its call read the earlier contents; the review has the new ones.
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
        let Ok(producer) = self.base.tools.producer_of(&found.action).await else {
            // The claim fails for the same reason.
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
