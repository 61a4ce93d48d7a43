//! Storage of an action's effects.

use airlock_model::effects::{Effects, EffectsRecord};
use airlock_model::pending::PendingAction;
use airlock_model::store::{Records, StoreError};

use crate::session::review::Reviews;

impl Reviews {
    /// Stores the effects with the action: without contents if there is no room for them, and as
    /// unverified if even that fails.
    pub async fn keep(&self, action: &PendingAction, record: EffectsRecord) -> EffectsRecord {
        let Ok(records) = self.base.records() else {
            return record;
        };
        let kept = self.try_to_keep(records, action, &record).await;
        let full = match kept {
            Ok(()) => return record,
            Err(full) => full,
        };
        let only = |effects| EffectsRecord {
            replaced: record.replaced,
            ..EffectsRecord::new(effects, record.seed.clone())
        };
        let shorter = only(record.effects.without_contents());
        if self.try_to_keep(records, action, &shorter).await.is_ok() {
            return shorter;
        }
        let problem = format!("its effects could not be kept: {full}");
        let unverified = only(Effects::unverified(problem));
        if let Err(error) = self.try_to_keep(records, action, &unverified).await {
            tracing::warn!("could not keep an action's effects: {error}");
        }
        unverified
    }

    async fn try_to_keep(
        &self,
        records: &dyn Records,
        action: &PendingAction,
        record: &EffectsRecord,
    ) -> Result<(), StoreError> {
        let packed = record.pack();
        let most = self.base.limits().pending_bytes;
        records
            .keep_effects(self.base.id(), &action.id, &packed, most)
            .await
    }
}
