//! Pending actions in brief: by their names, and how they stand.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;

use super::{ActionId, ActionState, PendingAction, StackedAction, quoted};

/// An action, as it is named where there may be several. For a model it displays as
/// `"<label>" of "<tool>", id <id>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NamedAction {
    /// Its id.
    pub id: ActionId,
    /// What would happen, in one line, as its tool wrote it.
    pub label: String,
    /// The name of the tool that made the preview, as that gave it.
    pub tool: String,
}

impl NamedAction {
    /// An action of this id, with its label and the name of its tool.
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

/// A pending action as it stands on the stack, without what only whoever decides about it needs: a
/// name, how it stands, and until when.
#[derive(Debug, Clone)]
pub struct BriefAction {
    name: Name,
    /// When it can no longer be applied, by this machine's clock; none for never.
    pub expires_at: Option<SystemTime>,
    /// How often somebody has tried to apply it.
    pub attempts: u32,
    /// [`Pending`](ActionState::Pending), [`Interrupted`](ActionState::Interrupted) or
    /// [`Lost`](ActionState::Lost).
    pub state: ActionState,
}

/// A store in memory has the whole action, and need not copy its texts.
#[derive(Debug, Clone)]
enum Name {
    Shared(Arc<PendingAction>),
    Read(NamedAction),
}

impl BriefAction {
    /// An action that nobody has tried to apply, and that never expires.
    pub fn new(name: NamedAction, state: ActionState) -> Self {
        Self {
            name: Name::Read(name),
            expires_at: None,
            attempts: 0,
            state,
        }
    }

    /// One that is there as it was pushed, likewise.
    pub fn of(action: Arc<PendingAction>, state: ActionState) -> Self {
        Self {
            expires_at: action.expires_at,
            name: Name::Shared(action),
            attempts: 0,
            state,
        }
    }

    /// Its id.
    pub fn id(&self) -> &ActionId {
        match &self.name {
            Name::Shared(action) => &action.id,
            Name::Read(name) => &name.id,
        }
    }

    /// What would happen, in one line, as its tool wrote it.
    pub fn label(&self) -> &str {
        match &self.name {
            Name::Shared(action) => &action.label,
            Name::Read(name) => &name.label,
        }
    }

    /// As it is named to a model.
    pub fn named(&self) -> NamedAction {
        match &self.name {
            Name::Shared(action) => NamedAction::from(&**action),
            Name::Read(name) => name.clone(),
        }
    }

    /// Whether nobody may apply it any more at this time.
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

/// As whoever reads it sees it, wherever its texts are.
impl PartialEq for BriefAction {
    fn eq(&self, other: &Self) -> bool {
        let tells = |it: &Self| (it.expires_at, it.attempts, it.state);
        tells(self) == tells(other) && self.named() == other.named()
    }
}
