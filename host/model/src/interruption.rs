//! Applies whose outcome isn't recorded.

use serde::Serialize;

/// The [`last_error`](crate::pending::StackedAction::last_error) of an action whose apply has no
/// known outcome.
pub const APPLY_INTERRUPTED: &str = "an apply was begun, and its host stopped before the end was recorded: it may have taken effect, wholly or in part";

/// The [`last_error`](crate::pending::StackedAction::last_error) of an action whose discard has no
/// known outcome.
pub const DISCARD_INTERRUPTED: &str =
    "a discard was begun, and its host stopped before the end was recorded";

/// The place that records how an action's last apply ended, if the store doesn't.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Interruption {
    /// The outcomes are all recorded.
    #[default]
    None,
    /// The action's workspace, which records commits.
    InWorkspace,
    /// Nowhere: a version without atomic commits began the apply, or it may have been carried out
    /// since a backup was made.
    Unknown,
}

impl Interruption {
    /// The list of all values, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::None, Self::InWorkspace, Self::Unknown];

    /// Returns true if an outcome is not recorded.
    pub fn is_some(self) -> bool {
        self != Self::None
    }

    /// Returns the number for a store's column.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads a store's column. Returns `None` for a number that no version writes.
    pub fn from_number(number: i64) -> Option<Self> {
        usize::try_from(number)
            .ok()
            .and_then(|at| Self::ALL.get(at).copied())
    }
}
