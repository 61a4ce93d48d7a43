//! Pushes onto a stack, and the room that they take there.

use std::sync::Arc;

use bytes::Bytes;

use super::{PluginBytes, StoreError};
use crate::actor::DecidedBy;
use crate::call_record::PackedCall;
use crate::digest::Digest;
use crate::json::Json;
use crate::pending::{ActionId, PendingAction, SessionId};

/// A number of actions and their total size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Room {
    /// The number of actions.
    pub actions: usize,
    /// The total size in bytes, as [counted](Push::bytes) for limits.
    pub bytes: u64,
}

/// The room of a session and a store, before a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionRoom {
    /// The room that the session's actions take, on its stack or claimed.
    pub held: Room,
    /// The number of bytes that the store still accepts, for all sessions together; `u64::MAX` if
    /// it has no limit.
    pub store_bytes_left: u64,
}

impl Room {
    /// Checks that `more` fits too. Nothing always fits.
    ///
    /// # Errors
    /// [`StoreError::Full`] and [`StoreError::SessionFull`], as for
    /// [`Stacks::push`](super::Stacks::push).
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

/// An action to push.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAction {
    /// The action.
    pub action: Arc<PendingAction>,
    /// The state that the plugin needs to apply the action, in the plugin's own format. `None` for
    /// a volatile action.
    pub guest_state: Option<Vec<u8>>,
}

impl NewAction {
    /// Returns the size of the action's label, details and state, which counts towards byte limits.
    pub fn bytes(&self) -> u64 {
        let details = self.action.details.as_ref().map(Json::as_str);
        let bytes = self.action.label.len()
            + details.map_or(0, str::len)
            + self.guest_state.as_ref().map_or(0, Vec::len);
        bytes as u64
    }
}

/// The actions that one call pushes, and everything that the store must keep to resolve them later.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct Push {
    /// The session whose stack the actions go to.
    pub session: SessionId,
    /// The actions, topmost last.
    pub actions: Vec<NewAction>,
    /// The record of the call and its preview, by which the actions are decided.
    pub call: Option<PackedCall>,
    /// The plugin that pushed the actions.
    pub plugin: PluginBytes,
    /// The maximum number of actions that the session may have on its stack or claimed.
    pub capacity: usize,
    /// The maximum total size of these actions in bytes, as counted by [`Push::bytes`].
    pub capacity_bytes: u64,
}

impl Push {
    /// Creates a push of a volatile action, for a stack without limits.
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

    /// Creates a push of all actions of one call, topmost last, for a stack without limits.
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

    /// Creates a push without actions, for a replacement that only discards.
    pub fn nothing(session: &SessionId) -> Self {
        let none = PluginBytes {
            digest: Digest::from_bytes([0; 32]),
            name: "".into(),
            bytes: Bytes::new(),
        };
        Self::of_call(session, Vec::new(), &none)
    }

    /// Sets the state that the plugin needs to apply the last of the actions.
    pub fn with_guest_state(mut self, state: impl Into<Option<Vec<u8>>>) -> Self {
        if let Some(last) = self.actions.last_mut() {
            last.guest_state = state.into();
        }
        self
    }

    /// Sets the record of the call, which the actions refer to.
    pub fn with_call(mut self, call: PackedCall) -> Self {
        self.call = Some(call);
        self
    }

    /// Returns the room that the push takes in its session.
    pub fn room(&self) -> Room {
        Room {
            actions: self.actions.len(),
            bytes: self.bytes().sum(),
        }
    }

    /// Returns the size of each action as counted for limits, in their order. The record of the
    /// call counts with the lowest action, which is the last to be resolved from the top.
    pub fn bytes(&self) -> impl Iterator<Item = u64> {
        let call = self.call.as_ref().map_or(0, PackedCall::bytes);
        let calls = std::iter::once(call).chain(std::iter::repeat(0));
        let actions = self.actions.iter().map(NewAction::bytes);
        actions.zip(calls).map(|(action, call)| action + call)
    }

    /// Sets the maximum number of actions on the stack.
    pub fn with_capacity(mut self, actions: usize) -> Self {
        self.capacity = actions;
        self
    }

    /// Sets the maximum total size of the actions on the stack, in bytes.
    pub fn with_capacity_bytes(mut self, bytes: u64) -> Self {
        self.capacity_bytes = bytes;
        self
    }
}

/// The pending actions that a push replaces. They are discarded.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// The action that must be pending. If it isn't, nothing happens.
    pub action: ActionId,
    /// Other actions that are replaced with it, if they are pending.
    pub others: Vec<ActionId>,
    /// The reason that is kept with the decision.
    pub reason: String,
    /// The actor that decided, and the evidence for it.
    pub decided_by: DecidedBy,
}

impl Replacement {
    /// Returns the ids of all actions to replace.
    pub fn ids(&self) -> impl Iterator<Item = &ActionId> {
        std::iter::once(&self.action).chain(&self.others)
    }
}
