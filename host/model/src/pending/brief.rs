//! Pending actions in brief: their names and states.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;

use super::{ActionId, ActionState, PendingAction, StackedAction, quoted};

/// The name of an action, for texts about several. Displays for a model as `"<label>" of "<tool>",
/// id <id>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NamedAction {
    /// The action's id.
    pub id: ActionId,
    /// The tool's one-line summary of the proposed change.
    pub label: String,
    /// The name of the tool that made the preview, as the tool gave it.
    pub tool: String,
}

impl NamedAction {
    /// Creates a named action from its id, its label and the name of its tool.
    pub fn new(id: impl Into<ActionId>, label: String, tool: String) -> Self {
        let id = id.into();
        Self { id, label, tool }
    }
}

impl From<&PendingAction> for NamedAction {
    fn from(action: &PendingAction) -> Self {
        Self {
            id: action.id.clone(),
            label: action.label.clone(),
            tool: action.source_tool_name.clone(),
        }
    }
}

impl fmt::Display for NamedAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (label, tool) = (quoted(&self.label), quoted(&self.tool));
        write!(f, "{label} of {tool}, id {}", self.id)
    }
}

/// A pending action on the stack, without the data that only a reviewer needs.
#[derive(Debug, Clone)]
pub struct BriefAction {
    name: Name,
    /// The time after which the action can't be applied, by this machine's clock. `None` means
    /// never.
    pub expires_at: Option<SystemTime>,
    /// The number of attempts to apply the action.
    pub attempts: u32,
    /// The state: [`Pending`](ActionState::Pending), [`Interrupted`](ActionState::Interrupted) or
    /// [`Lost`](ActionState::Lost).
    pub state: ActionState,
}

/// The name of an action. An in-memory store has the whole action and need not copy its texts.
#[derive(Debug, Clone)]
enum Name {
    Shared(Arc<PendingAction>),
    Read(NamedAction),
}

impl BriefAction {
    /// Creates an action that never expires and has no apply attempts.
    pub fn new(name: NamedAction, state: ActionState) -> Self {
        Self {
            name: Name::Read(name),
            expires_at: None,
            attempts: 0,
            state,
        }
    }

    /// Creates a brief form of an action as it was pushed, without apply attempts.
    pub fn of(action: Arc<PendingAction>, state: ActionState) -> Self {
        Self {
            expires_at: action.expires_at,
            name: Name::Shared(action),
            attempts: 0,
            state,
        }
    }

    /// Returns the action's id.
    pub fn id(&self) -> &ActionId {
        match &self.name {
            Name::Shared(action) => &action.id,
            Name::Read(name) => &name.id,
        }
    }

    /// Returns the tool's one-line summary of the proposed change.
    pub fn label(&self) -> &str {
        match &self.name {
            Name::Shared(action) => &action.label,
            Name::Read(name) => &name.label,
        }
    }

    /// Returns the action's name for a model.
    pub fn named(&self) -> NamedAction {
        match &self.name {
            Name::Shared(action) => NamedAction::from(&**action),
            Name::Read(name) => name.clone(),
        }
    }

    /// Returns true if the action has expired at `now`.
    pub fn has_expired(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|expires_at| now >= expires_at)
    }
}

impl From<StackedAction> for BriefAction {
    fn from(stacked: StackedAction) -> Self {
        Self {
            attempts: stacked.attempts,
            ..Self::of(stacked.action, stacked.state)
        }
    }
}

/// Compares what readers see, regardless of how the texts are held.
impl PartialEq for BriefAction {
    fn eq(&self, other: &Self) -> bool {
        let tells = |it: &Self| (it.expires_at, it.attempts, it.state);
        tells(self) == tells(other) && self.named() == other.named()
    }
}
