//! The filter of log entries.

use std::time::SystemTime;

use airlock_host::effects::Effects;
use airlock_host::pending::Decision;
use airlock_rules::Pattern;

use super::entry::Entry;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// An action that was applied.
    Applied,
    /// An action that was discarded.
    Discarded,
    /// A request that a rule refused.
    Refused,
    /// A request that a person declined.
    Declined,
}

impl State {
    /// Returns the kind of a decision.
    pub fn of_decision(decision: Decision) -> Self {
        match decision {
            Decision::Apply => State::Applied,
            Decision::Discard => State::Discarded,
        }
    }

    /// Returns whether this is a decision.
    pub fn is_decision(self) -> bool {
        matches!(self, State::Applied | State::Discarded)
    }
}

/// A filter of entries. An empty filter matches all.
#[derive(Debug, Default)]
pub struct Filter {
    /// The time of the earliest entries that match.
    pub since: Option<SystemTime>,
    /// The time before which entries match.
    pub until: Option<SystemTime>,
    /// A part of the name of the decider or requester, or their kind: `model`, `person`, `program`
    /// or `unknown`.
    pub by: Option<String>,
    /// The tool that made the preview.
    pub tool: Option<String>,
    /// A path that the action changed, by its old or new name.
    pub path: Option<Pattern>,
    /// The kind of the entry.
    pub state: Option<State>,
}

impl Filter {
    /// Returns whether the filter matches all entries.
    pub fn is_empty(&self) -> bool {
        let moments = self.since.is_none() && self.until.is_none();
        let texts = self.by.is_none() && self.tool.is_none();
        moments && texts && self.path.is_none() && self.state.is_none()
    }

    /// Returns whether the filter matches the entry, not counting paths.
    pub fn takes(&self, entry: &Entry) -> bool {
        let (Some(at), Some(state)) = (entry.at(), entry.state()) else {
            return false;
        };
        let is_by = |wanted: &String| {
            let mut actors = entry.people().map(|by| &by.actor);
            actors.any(|by| {
                by.kind() == wanted || by.name().is_some_and(|name| name.contains(&**wanted))
            })
        };
        let tool_name = &entry.record().action.source_tool_name;
        self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at < until)
            && self.by.as_ref().is_none_or(is_by)
            && self.tool.as_ref().is_none_or(|tool| tool == tool_name)
            && self.state.is_none_or(|wanted| wanted == state)
    }

    /// Returns whether an action changed a matching path. Changes that the host hasn't seen don't
    /// count.
    pub fn takes_paths(&self, effects: Option<&Effects>) -> bool {
        let Some(path) = &self.path else {
            return true;
        };
        let Some(effects) = effects.filter(|effects| effects.verified) else {
            return false;
        };
        effects.changes.iter().any(|change| {
            let ends = [Some(&change.path), change.from.as_ref()];
            ends.into_iter().flatten().any(|it| path.matches(it))
        })
    }
}
