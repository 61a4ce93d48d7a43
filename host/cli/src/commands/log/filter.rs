//! Which decisions are shown.

use std::time::SystemTime;

use airlock_host::effects::Effects;
use airlock_host::pending::Decision;
use airlock_host::store::ActionRecord;
use airlock_rules::Pattern;

/// Selects decisions. An empty filter takes all.
#[derive(Debug, Default)]
pub struct Filter {
    /// Not before this moment.
    pub since: Option<SystemTime>,
    /// Before this moment.
    pub until: Option<SystemTime>,
    /// A part of the decider's name, or the decider's kind: `model`, `person`, `program` or
    /// `unknown`.
    pub by: Option<String>,
    /// The tool that made the preview.
    pub tool: Option<String>,
    /// A path that it changed, before or after.
    pub path: Option<Pattern>,
    /// How it ended.
    pub state: Option<Decision>,
}

impl Filter {
    /// Whether it takes all.
    pub fn is_empty(&self) -> bool {
        let moments = self.since.is_none() && self.until.is_none();
        let texts = self.by.is_none() && self.tool.is_none();
        moments && texts && self.path.is_none() && self.state.is_none()
    }

    /// Whether the decision passes, its paths aside.
    pub fn takes(&self, record: &ActionRecord) -> bool {
        let Some(resolved) = &record.resolved else {
            return false;
        };
        let by = &resolved.decided_by.actor;
        let is_by = |wanted: &String| {
            by.kind() == wanted || by.name().is_some_and(|name| name.contains(&**wanted))
        };
        self.since.is_none_or(|since| resolved.at >= since)
            && self.until.is_none_or(|until| resolved.at < until)
            && self.by.as_ref().is_none_or(is_by)
            && (self.tool.as_ref()).is_none_or(|tool| *tool == record.action.source_tool_name)
            && self.state.is_none_or(|state| state == resolved.decision)
    }

    /// Whether it changed such a path. Changes that the host hasn't seen don't count.
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
