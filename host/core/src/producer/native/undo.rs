//! The tool `undo`, which takes back what an applied action has changed in the workspace.
//!
//! It is a tool like any other: its preview is a draft that the host compares with the apply, its
//! apply is one commit, and that commit can be undone, too.

use std::fmt::Write;
use std::time::SystemTime;

use airlock_model::content::{Content, ToolResult};
use airlock_model::error::Error;
use airlock_model::json::Json;
use airlock_model::tool::{ToolDefinition, ToolTraits};
use airlock_workspace::{ConflictKind, Originals, RecoverError, RestoreError, Restored, Workspace};
use serde_json::{Value, json};

use super::{
    ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
};
use crate::workspace::WritableFolder;

/// The name of the tool.
pub const UNDO: &str = "undo";

/// The fewest characters of an id that name an action.
const MIN_ID: usize = 4;

/// The most conflicts that a message lists.
const MAX_CONFLICTS: usize = 20;

const DESCRIPTION: &str = "Previews an undo of an action that was applied to the workspace: \
    contents, names, permissions and links become as they were. Nothing changes until \
    the undo itself is applied. Texts that were edited since are merged with the undo, line by \
    line. If a file can't be merged, it fails and names the file.";

/// Follows the commit's id in the state of an undo that skips what has changed since.
const SKIP_CHANGED: &str = " skip-changed";

/// The tool `undo`. Its param `action` is the id of an applied action, or at least four of its
/// first or last characters; without it, the tool undoes the last one. With `skip_changed`, files
/// that have changed since and can't be merged stay as they are. See
/// [`Session::undo`](crate::Session::undo).
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Undo;

impl Undo {
    /// Returns the producer, which sessions can bind.
    pub fn producer() -> NativeProducer {
        match NativeProducer::new(Self) {
            Ok(producer) => producer,
            // A test loads the definition.
            Err(rejected) => unreachable!("the definition of undo is refused: {rejected}"),
        }
    }
}

impl NativeTool for Undo {
    fn definition(&self) -> ToolDefinition {
        let schema = json!({
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "minLength": MIN_ID,
                    "description": "The id of an applied action, or at least 4 of its first or last characters. Default: the action that was applied last",
                },
                "skip_changed": {
                    "type": "boolean",
                    "description": "Leave the files as they are that have changed since and can't be merged, and undo the rest. Default: false",
                },
            },
            "additionalProperties": false,
        });
        let mut traits = ToolTraits::default();
        traits.deferrable = true;
        ToolDefinition {
            name: UNDO.to_owned(),
            label: "Undo".to_owned(),
            description: DESCRIPTION.to_owned(),
            parameters: Json::of_own(&schema),
            output: None,
            traits,
        }
    }

    fn state_version(&self) -> u32 {
        1
    }

    fn preview(&self, params: &Value, call: &PreviewCall) -> Result<Preview, Error> {
        let workspace = call.kept()?;
        let unreadable = |error: RecoverError| failed(&error.into(), false);
        let kept = workspace.originals().map_err(unreadable)?;
        let commit = match params.get("action").and_then(Value::as_str) {
            Some(named) => find(&kept, named)?,
            None => last(&kept, workspace.last_committed().map_err(unreadable)?)?,
        };
        let skips = params.get("skip_changed").and_then(Value::as_bool);
        let skips = skips.unwrap_or_default();
        let restored = restore(&call.draft()?, &workspace, &commit.id, skips)?;
        let title = &restored.title;
        let mut text = format!("Undoes \"{title}\", applied {}.", age(commit.committed));
        text.push_str(&differences(&restored));
        let details = json!({
            "undoes": commit.id,
            "title": title,
            "left": restored.left,
            "merged": restored.merged,
            "skipped": restored.skipped,
        });
        let suffix = if skips { SKIP_CHANGED } else { "" };
        let state = format!("{}{suffix}", commit.id);
        let action = ProposedAction::new(format!("Undo: {title}"), state);
        let action = action.details(Json::of_own(&details));
        Ok(Preview::of(result(text)).proposing(action))
    }

    fn apply(&self, action: &DecidedAction, call: &ApplyCall) -> Result<ToolResult, Error> {
        let state = String::from_utf8_lossy(&action.state);
        let (commit, skips) = match state.strip_suffix(SKIP_CHANGED) {
            Some(commit) => (commit, true),
            None => (&*state, false),
        };
        let restored = restore(&call.folder()?, &call.kept()?, commit, skips)?;
        let mut text = format!("Undid \"{}\".", restored.title);
        text.push_str(&differences(&restored));
        Ok(result(text))
    }
}

fn result(text: String) -> ToolResult {
    ToolResult {
        content: vec![Content::text(text)],
        details: None,
    }
}

fn refusal(message: String) -> Error {
    Error::Tool { message }
}

/// Returns the last commit, if its originals are kept.
fn last(kept: &[Originals], last: Option<String>) -> Result<&Originals, Error> {
    match (kept.last(), last) {
        (Some(kept), Some(last)) if kept.id == last => Ok(kept),
        (Some(_), Some(last)) => Err(refusal(format!(
            "the action that was applied last, {last}, can't be undone, since the files that it replaced are not kept; name another one"
        ))),
        _ => Err(refusal(
            "nothing was applied here that can be undone: an apply keeps the files that it replaces for a limited time, up to a limited size".to_owned(),
        )),
    }
}

/// Returns the commit with this id.
fn find<'a>(kept: &'a [Originals], named: &str) -> Result<&'a Originals, Error> {
    let matches = |id: &String| id.starts_with(named) || id.ends_with(named);
    let is_named = |it: &&Originals| matches(&it.id) || it.others.iter().any(matches);
    let mut found = kept.iter().filter(is_named);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(refusal(format!(
            "several applied actions have an id with {named}; use more of it"
        ))),
        (None, _) => Err(refusal(format!(
            "{named} can't be undone here: no such action was applied in this workspace, or the files that it replaced are no longer kept"
        ))),
    }
}

fn restore(
    folder: &WritableFolder,
    workspace: &Workspace,
    commit: &str,
    skip_changed: bool,
) -> Result<Restored, Error> {
    let restored = folder.restore(workspace, commit, skip_changed);
    restored.map_err(|error| failed(&error, skip_changed))
}

/// Returns the error for the caller, with each file that has changed.
fn failed(error: &RestoreError, skips: bool) -> Error {
    let RestoreError::Changed(conflicts) = error else {
        return refusal(format!("can't undo it: {error}"));
    };
    let mut message =
        "can't undo it, since something else has changed its files since it was applied:"
            .to_owned();
    for conflict in conflicts.iter().take(MAX_CONFLICTS) {
        let what = match conflict.what {
            ConflictKind::Changed => "has changed or is gone".to_owned(),
            ConflictKind::Appeared => "is new and in the way".to_owned(),
            ConflictKind::Overlap { first, last } if first == last => {
                format!("has changed at line {first}, where the undo changes it too")
            }
            ConflictKind::Overlap { first, last } => {
                format!("has changed at lines {first}–{last}, where the undo changes it too")
            }
        };
        let _ = write!(message, "\n- {} {what}", conflict.path);
    }
    if let Some(more) = conflicts.len().checked_sub(MAX_CONFLICTS)
        && more > 0
    {
        let _ = write!(message, "\n- and {more} more");
    }
    if !skips {
        message.push_str("\nWith skip_changed, these stay as they are, and the rest is undone.");
    }
    refusal(message)
}

/// Returns sentences about what will not be as it was before the action.
fn differences(restored: &Restored) -> String {
    let mut text = String::new();
    let cases = [
        (&restored.left, "Stays, since something else is in it"),
        (&restored.permissions, "Keeps its permissions"),
        (&restored.merged, "Merged with later changes"),
        (&restored.skipped, "Stays, since it has changed since"),
    ];
    for (paths, what) in cases {
        if !paths.is_empty() {
            let _ = write!(text, " {what}: {}.", paths.join(", "));
        }
    }
    text
}

fn age(time: SystemTime) -> String {
    let seconds = time.elapsed().unwrap_or_default().as_secs();
    let count = |count: u64, unit: &str| match count {
        1 => format!("1 {unit} ago"),
        count => format!("{count} {unit}s ago"),
    };
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => count(seconds / 60, "minute"),
        3600..86_400 => count(seconds / 3600, "hour"),
        _ => count(seconds / 86_400, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_passes_the_checks_of_plugins() {
        assert_eq!(Undo::producer().name(), UNDO);
    }
}
