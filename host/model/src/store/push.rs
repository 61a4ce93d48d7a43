//! What is put on a stack, and how much room it takes there.

use std::sync::Arc;

use bytes::Bytes;

use super::{PluginBytes, StoreError};
use crate::actor::DecidedBy;
use crate::call_record::PackedCall;
use crate::digest::Digest;
use crate::json::Json;
use crate::pending::{ActionId, PendingAction, SessionId};

/// A number of actions, and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Room {
    /// How many actions.
    pub actions: usize,
    /// What they [count for](Push::bytes).
    pub bytes: u64,
}

/// What a store has, and still takes, before a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionRoom {
    /// What the session has on its stack or claimed.
    pub held: Room,
    /// How many bytes the store takes beside all that it holds, of whatever session; `u64::MAX`
    /// where it has no limit.
    pub store_bytes_left: u64,
}

impl Room {
    /// Whether as many more fit. Nothing always does.
    ///
    /// # Errors
    /// [`StoreError::Full`] and [`StoreError::SessionFull`], as
    /// [`PendingStore::push`](super::PendingStore::push) has them.
    pub fn check(self, more: Self, capacity: usize, capacity_bytes: u64) -> Result<(), StoreError> {
        if more == Self::default() {
            return Ok(());
        }
        if self.actions.saturating_add(more.actions) > capacity {
            return Err(StoreError::Full { capacity });
        }
        if self.bytes.saturating_add(more.bytes) > capacity_bytes {
            return Err(StoreError::SessionFull {
                limit: capacity_bytes,
                held: self.bytes,
                pushed: more.bytes,
            });
        }
        Ok(())
    }
}

/// An action that is to be pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAction {
    /// The action.
    pub action: Arc<PendingAction>,
    /// What the plugin needs to apply it, as bytes of its own format; none for a volatile action.
    pub guest_state: Option<Vec<u8>>,
}

impl NewAction {
    /// What it counts for by itself where bytes are bounded: its label, details and state.
    pub fn bytes(&self) -> u64 {
        let details = self.action.details.as_ref().map(Json::as_str);
        let bytes = self.action.label.len()
            + details.map_or(0, str::len)
            + self.guest_state.as_ref().map_or(0, Vec::len);
        bytes as u64
    }
}

/// What one call pushes, and all that the store must keep for it to be resolved later.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct Push {
    /// Whose stack it goes to.
    pub session: SessionId,
    /// The actions, the topmost last.
    pub actions: Vec<NewAction>,
    /// What was called, and what the caller got: what the actions are decided by.
    pub call: Option<PackedCall>,
    /// The plugin that pushed them.
    pub plugin: PluginBytes,
    /// The most actions that the session may have on the stack or claimed.
    pub capacity: usize,
    /// The most bytes that those may have together: of labels, details and states.
    pub capacity_bytes: u64,
}

impl Push {
    /// A volatile action of a plugin, for a stack without bounds.
    pub fn new(
        session: &SessionId,
        action: impl Into<Arc<PendingAction>>,
        plugin: &PluginBytes,
    ) -> Self {
        let only = NewAction {
            action: action.into(),
            guest_state: None,
        };
        Self::of_call(session, vec![only], plugin)
    }

    /// All that one call of a plugin pushed, the topmost last, for a stack without bounds.
    pub fn of_call(session: &SessionId, actions: Vec<NewAction>, plugin: &PluginBytes) -> Self {
        Self {
            session: session.clone(),
            actions,
            call: None,
            plugin: plugin.clone(),
            capacity: usize::MAX,
            capacity_bytes: u64::MAX,
        }
    }

    /// Nothing, in the place of what is discarded.
    pub fn nothing(session: &SessionId) -> Self {
        let none = PluginBytes {
            digest: Digest::from_bytes([0; 32]),
            name: "".into(),
            bytes: Bytes::new(),
        };
        Self::of_call(session, Vec::new(), &none)
    }

    /// With what the plugin needs to apply the last of the actions.
    pub fn with_guest_state(mut self, state: impl Into<Option<Vec<u8>>>) -> Self {
        if let Some(last) = self.actions.last_mut() {
            last.guest_state = state.into();
        }
        self
    }

    /// With the record of the call, which the actions name.
    pub fn with_call(mut self, call: PackedCall) -> Self {
        self.call = Some(call);
        self
    }

    /// How much of its session's room it takes.
    pub fn room(&self) -> Room {
        Room {
            actions: self.actions.len(),
            bytes: self.bytes().sum(),
        }
    }

    /// What each of the actions counts for, in their order. The record of the call counts with the
    /// lowest of them, which is the last to be resolved from the top.
    pub fn bytes(&self) -> impl Iterator<Item = u64> {
        let call = self.call.as_ref().map_or(0, PackedCall::bytes);
        let calls = std::iter::once(call).chain(std::iter::repeat(0));
        let actions = self.actions.iter().map(NewAction::bytes);
        actions.zip(calls).map(|(action, call)| action + call)
    }

    /// With the most actions that the stack may have.
    pub fn with_capacity(mut self, actions: usize) -> Self {
        self.capacity = actions;
        self
    }

    /// With the most bytes that the actions on the stack may have together.
    pub fn with_capacity_bytes(mut self, bytes: u64) -> Self {
        self.capacity_bytes = bytes;
        self
    }
}

/// What a push takes the place of: pending actions, which are discarded.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// The one that must be pending: where it isn't, nothing happens.
    pub action: ActionId,
    /// Those that go with it, as far as they are pending.
    pub others: Vec<ActionId>,
    /// Why, as it is kept with the decision.
    pub reason: String,
    /// Whose decision it is.
    pub decided_by: DecidedBy,
}

impl Replacement {
    /// All that are to go.
    pub fn ids(&self) -> impl Iterator<Item = &ActionId> {
        std::iter::once(&self.action).chain(&self.others)
    }
}
