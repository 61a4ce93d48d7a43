//! Effects of actions in the in-memory store.

use std::sync::Arc;

use super::stack::Stack;
use crate::effects::EffectsRecord;
use crate::pending::ActionId;
use crate::store::{Room, StoreError};

impl Stack {
    /// Keeps the effects of an action, which take `bytes` of the session's room.
    pub fn keep_effects(
        &mut self,
        action: &ActionId,
        record: Arc<EffectsRecord>,
        bytes: u64,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        let mut held = self.room();
        let Some(open) = self.open.iter_mut().find(|it| it.action.id == *action) else {
            return Ok(());
        };
        held.bytes -= open.effects_bytes;
        let more = Room { actions: 0, bytes };
        held.check(more, usize::MAX, capacity_bytes)?;
        self.bytes = held.bytes + bytes;
        open.bytes = open.bytes - open.effects_bytes + bytes;
        open.effects_bytes = bytes;
        open.effects = Some(record);
        Ok(())
    }
}
