//! Records of actions in the in-memory store.

use std::sync::Arc;

use async_trait::async_trait;

use super::MemoryStore;
use super::stack::Stack;
use crate::call_record::CallRecord;
use crate::effects::{EffectsRecord, PackedEffects};
use crate::pending::{ActionId, SessionId};
use crate::store::{BackendErrorKind, Records, Room, StoreError};

#[async_trait]
impl Records for MemoryStore {
    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        let packed = self.of_open(session, action, |open| open.call.clone());
        let record = packed.map(|packed| packed.unpack()).transpose();
        record.map_err(damaged)
    }

    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        let record = Arc::new(effects.unpack().map_err(damaged)?);
        let bytes = effects.bytes();
        self.with(|sessions| {
            let Some(stack) = sessions.get_mut(session) else {
                return Ok(());
            };
            stack.keep_effects(action, record, bytes, capacity_bytes)
        })?;
        self.watchers.notify(session);
        Ok(())
    }

    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError> {
        Ok(self.of_open(session, action, |open| open.effects.as_deref().cloned()))
    }

    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.of_open(session, action, |open| open.guest_state.clone()))
    }
}

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

fn damaged(error: std::io::Error) -> StoreError {
    StoreError::backend(BackendErrorKind::Damaged, "in memory", error.to_string()).caused_by(error)
}
