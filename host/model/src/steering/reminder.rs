//! Reminders of pending actions, as text and as data.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::pending::{ActionState, BriefAction, NamedAction};
use crate::visible::quoted;

/// The steering message for previews that wait. Fixed by the contract.
pub const REMINDER: &str = "<system-reminder>
This is a preview. Call the `resolve` tool to apply or discard these changes.
</system-reminder>";

/// A message for the model, with the actions that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Reminder {
    /// The kind of the message.
    #[serde(rename = "type")]
    pub kind: ReminderKind,
    /// The text for the model, word for word.
    pub text: String,
    /// The actions that the message is about, topmost first; not empty.
    pub actions: Vec<NamedAction>,
}

/// The subject of a [`Reminder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReminderKind {
    /// Previews that wait for a decision. The text is [`REMINDER`].
    Preview,
    /// An apply that may have taken effect, because its outcome is unknown.
    Interrupted,
    /// A preview that the tool kept in memory and that is gone. It can only be discarded.
    Lost,
}

impl ReminderKind {
    /// Returns the message's type, for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            ReminderKind::Preview => "resolve-reminder",
            ReminderKind::Interrupted => "resolve-interrupted",
            ReminderKind::Lost => "resolve-lost",
        }
    }
}

impl fmt::Display for ReminderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Serializes as the message's type.
impl Serialize for ReminderKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Returns the messages about these actions, which are given topmost first: one for all previews,
/// and one for each interrupted or lost action. The last message is about the topmost action.
pub(super) fn about(actions: &[&BriefAction]) -> Vec<Reminder> {
    let mut reminders: Vec<Reminder> = Vec::new();
    let mut said_of_previews = false;
    for action in actions {
        let (kind, text) = match action.state {
            ActionState::Interrupted => (ReminderKind::Interrupted, interrupted(action)),
            ActionState::Lost => (ReminderKind::Lost, lost_preview(action)),
            _ if said_of_previews => continue,
            _ => (ReminderKind::Preview, REMINDER.to_owned()),
        };
        let actions = match kind {
            ReminderKind::Preview => {
                said_of_previews = true;
                actions
                    .iter()
                    .filter(|it| !matches!(it.state, ActionState::Interrupted | ActionState::Lost))
                    .map(|it| it.named())
                    .collect()
            }
            ReminderKind::Interrupted | ReminderKind::Lost => vec![action.named()],
        };
        reminders.push(Reminder {
            kind,
            text,
            actions,
        });
    }
    reminders.reverse();
    reminders
}

fn interrupted(action: &BriefAction) -> String {
    format!(
        "<system-reminder>
An apply of {} (id {}) was interrupted in attempt {}: it may have taken effect, wholly or in part. Find out before you call the `resolve` tool to apply it again or to discard it.
</system-reminder>",
        quoted(action.label()),
        action.id(),
        action.attempts
    )
}

fn lost_preview(action: &BriefAction) -> String {
    format!(
        "<system-reminder>
The preview {} (id {}) is lost: its tool kept it only in memory, where it no longer is. Call the `resolve` tool to discard it, and preview again.
</system-reminder>",
        quoted(action.label()),
        action.id()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_displayed_as_programs_know_it() {
        let kinds = [
            (ReminderKind::Preview, "resolve-reminder"),
            (ReminderKind::Interrupted, "resolve-interrupted"),
            (ReminderKind::Lost, "resolve-lost"),
        ];
        for (kind, name) in kinds {
            assert_eq!(kind.to_string(), name);
        }
    }
}
