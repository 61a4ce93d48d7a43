//! Applies whose end isn't recorded.

use serde::Serialize;

/// The [`last_error`](crate::pending::StackedAction::last_error) of an action whose apply has no
/// known end.
pub const APPLY_INTERRUPTED: &str = "an apply was begun, and its host stopped before the end was recorded: it may have taken effect, wholly or in part";

/// The [`last_error`](crate::pending::StackedAction::last_error) of an action whose discard has no
/// known end.
pub const DISCARD_INTERRUPTED: &str =
    "a discard was begun, and its host stopped before the end was recorded";

/// Where to find out how the last apply of an action ended, if its end isn't recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Interruption {
    /// All ends are recorded.
    #[default]
    None,
    /// In the action's workspace, which records commits.
    InWorkspace,
    /// Nowhere: it was begun by a version that committed in no one step, or may have been carried
    /// out since a backup was made.
    Unknown,
}

impl Interruption {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::None, Self::InWorkspace, Self::Unknown];

    /// Whether an end is not recorded.
    pub fn is_some(self) -> bool {
        self != Self::None
    }

    /// For stores: as a column has it.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// For stores: reads a column. None for a number that no version writes.
    pub fn from_number(number: i64) -> Option<Self> {
        usize::try_from(number)
            .ok()
            .and_then(|at| Self::ALL.get(at).copied())
    }
}
