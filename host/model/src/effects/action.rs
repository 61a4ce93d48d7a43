//! Effects with the action that has them.

use serde::Serialize;

use super::Effects;
use crate::pending::ActionId;

/// The effects of one action in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ActionEffects {
    /// The action.
    pub action: ActionId,
    /// The effects.
    #[serde(flatten)]
    pub effects: Effects,
}

impl ActionEffects {
    /// Creates the entry of an action.
    pub fn new(action: ActionId, effects: Effects) -> Self {
        Self { action, effects }
    }
}
