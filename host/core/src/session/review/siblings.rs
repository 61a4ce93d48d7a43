//! Files changed by other actions of the same call don't make an action stale: they were all
//! previewed together.

use std::collections::BTreeMap;

use airlock_model::effects::{Effects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::pending::{PendingAction, StackedAction};

use super::Reviews;

/// The SHA-256 of each file by path, or `None` for a removed file.
pub(super) type Left = BTreeMap<String, Option<String>>;

impl Reviews {
    /// Returns the action that keeps the notes for all actions of its call: the lowest pending one
    /// on the stack, which by default is decided last.
    async fn keeper(&self, action: &PendingAction) -> Result<Option<StackedAction>, Error> {
        match &action.call {
            Some(call) => Ok(self
                .base
                .stacks()?
                .lowest_of_call(self.base.id(), call)
                .await?),
            None => Ok(None),
        }
    }

    /// Returns the files that other actions of the call have changed.
    pub(super) async fn left_by_siblings(&self, action: &PendingAction) -> Result<Left, Error> {
        let keeper = self.keeper(action).await?;
        let Some(keeper) = keeper.filter(|it| it.action.id != action.id) else {
            return Ok(Left::new());
        };
        let records = self.base.records()?;
        let record = records.effects(self.base.id(), &keeper.action.id).await?;
        Ok(record.map(|it| it.left_by_others).unwrap_or_default())
    }

    /// Notes the files that an apply changed, once for all actions of its call.
    pub async fn tell_siblings(
        &self,
        applied: &PendingAction,
        review: Option<&EffectsRecord>,
        effects: &Effects,
    ) {
        let telling = self.try_to_tell_siblings(applied, review, effects);
        if let Err(error) = telling.await {
            tracing::warn!("could not note the changes of an apply: {error}");
        }
    }

    async fn try_to_tell_siblings(
        &self,
        applied: &PendingAction,
        review: Option<&EffectsRecord>,
        effects: &Effects,
    ) -> Result<(), Error> {
        if effects.changes.is_empty() {
            return Ok(());
        }
        let Some(keeper) = self.keeper(applied).await? else {
            return Ok(());
        };
        let records = self.base.records()?;
        let call = records
            .call_record(self.base.id(), &keeper.action.id)
            .await?;
        let read = call.map(|call| call.read.files).unwrap_or_default();
        // The keeper itself may have been applied before the others.
        let mut left = review
            .map(|it| it.left_by_others.clone())
            .unwrap_or_default();
        for change in &effects.changes {
            if let Some(from) = change.from.as_ref().filter(|from| read.contains_key(*from)) {
                left.insert(from.clone(), None);
            }
            if read.contains_key(&change.path) {
                let digest = change.after.as_ref().and_then(|after| after.digest.clone());
                left.insert(change.path.clone(), digest);
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        if let Some(mut record) = records.effects(self.base.id(), &keeper.action.id).await? {
            record.left_by_others.extend(left);
            self.keep(&keeper.action, record).await;
        }
        Ok(())
    }
}
