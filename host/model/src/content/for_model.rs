//! Results as a model reads them: first the host's part, then the tool's.

use crate::content::{CallOutcome, Content, Resolved};
use crate::effects::plain_path;
use crate::error::Error;
use crate::pending::NamedAction;

/// The last sentence of the host's part, if the tool says anything.
const WORDS_FOLLOW: &str = "The tool's own words follow.";

/// The host's part of a call that pushed nothing.
const NOTHING_PUSHED: &str = "Nothing is pending from this call.";

/// The text about an action whose rehearsal hasn't ended.
const STILL_REHEARSED: &str =
    "Still being verified by the host. `resolve` waits until that is done.";

/// The most actions that are listed by name. [`CallOutcome::pushed`] has all of them.
const NAMED: usize = 20;

/// A result or an error as a model reads it. The host's part is always first and says where the
/// tool's words begin, so a tool can imitate the host only after that sentence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ForModel {
    /// The host's words. Labels, names, paths and reasons of a tool are in quotation marks, unless
    /// they are plain words.
    pub host: String,
    /// The tool's blocks, unaltered, because a model copies from them.
    pub tool: Vec<Content>,
}

impl ForModel {
    /// Creates a text of the host, without a tool's words.
    pub fn of_host(text: impl Into<String>) -> Self {
        Self {
            host: text.into(),
            tool: Vec::new(),
        }
    }

    /// Returns the text of the host's block, which comes before the tool's blocks.
    pub fn host_text(&self) -> String {
        let between = if self.host.contains('\n') { "\n" } else { " " };
        if self.tool.is_empty() {
            self.host.clone()
        } else {
            format!("{}{between}{WORDS_FOLLOW}", self.host)
        }
    }

    /// Returns the host's block, then the tool's.
    pub fn into_blocks(self) -> Vec<Content> {
        let host = Content::text(self.host_text());
        [host].into_iter().chain(self.tool).collect()
    }
}

impl CallOutcome {
    /// Returns the blocks of [`CallOutcome::for_model`].
    pub fn content_for_model(&self) -> Vec<Content> {
        self.for_model().into_blocks()
    }

    /// Returns the result for a model. Models mistake a preview for finished work, so for a call
    /// that pushed actions, the host's part says that nothing has changed yet and lists the
    /// actions. For `resolve`, it names the action that was applied or discarded.
    pub fn for_model(&self) -> ForModel {
        let host = match &self.resolved {
            Some(resolved) => self.resolved_note(resolved),
            None if self.pushed.is_empty() => NOTHING_PUSHED.to_owned(),
            None => self.pushed_note(),
        };
        ForModel {
            host,
            tool: self.content.clone(),
        }
    }

    fn resolved_note(&self, resolved: &Resolved) -> String {
        let Some(action) = &resolved.action else {
            return "No action was pending: the session's standing handler was asked.".to_owned();
        };
        let done = capitalized(resolved.decision.past());
        let mut note = match self.effects.first() {
            Some(seen) => format!("{done}: {action}. {}.", seen.effects.summary_for_model()),
            None => format!("{done}: {action}."),
        };
        if let Some(part) = &resolved.part {
            note.push_str(" Only a part of the reviewed changes was made:");
            for line in part.lines() {
                note.push_str(&format!("\n- {line}"));
            }
        }
        for path in &resolved.kept {
            note.push_str(&format!(
                "\nAnother program wrote to a file while it was replaced; its version is in {}.",
                plain_path(path)
            ));
        }
        note
    }

    fn pushed_note(&self) -> String {
        let waits = match self.pushed.len() {
            1 => "1 action is pending".to_owned(),
            many => format!("{many} actions are pending, topmost first"),
        };
        let mut note = format!("Preview only, nothing has changed yet: {waits}.");
        for action in self.pushed.iter().take(NAMED) {
            note.push_str(&format!("\n- {}", NamedAction::from(&**action)));
            let mut effects = self.effects.iter();
            if let Some(seen) = effects.find(|it| it.action == action.id) {
                let seen = seen.effects.for_model().replace('\n', "\n  ");
                note.push_str(&format!("\n  {seen}"));
            } else if self.rehearsing.contains(&action.id) {
                note.push_str(&format!("\n  {STILL_REHEARSED}"));
            }
        }
        if self.pushed.len() > NAMED {
            note.push_str(&format!("\n- and {} more", self.pushed.len() - NAMED));
        }
        // All actions of a call come from the same plugin.
        if let Some(action) = self.pushed.first() {
            note.push_str(&format!("\nPlugin: {}.", action.plugin_for_model()));
        }
        note
    }
}

impl Error {
    /// Returns the blocks of [`Error::for_model`]. Mark the result as an error when you pass them
    /// on, for example with MCP's `isError`.
    pub fn content_for_model(&self) -> Vec<Content> {
        self.for_model().into_blocks()
    }

    /// Returns the error for a model: the text that it displays as. If that text contains a tool's
    /// words, it is the tool's part, after a sentence of the host.
    pub fn for_model(&self) -> ForModel {
        let what = match self.root() {
            Error::Tool { .. } => "the tool reports an error",
            Error::Failed { .. } => "the tool failed",
            Error::Trap { .. } => "the tool crashed",
            Error::InvalidParams { .. } => {
                "the tool was not called, since the params don't fit its schema"
            }
            Error::Unverified { .. } => {
                "nothing was applied, since the host did not see what that would do"
            }
            _ => return ForModel::of_host(self.to_string()),
        };
        let host = match self {
            Error::ApplyFailed(_) => {
                format!("Apply failed, and the action is pending again: {what}.")
            }
            _ => format!("{}.", capitalized(what)),
        };
        ForModel {
            host,
            tool: vec![Content::text(self.to_string())],
        }
    }
}

/// Capitalizes a text whose first letter is ASCII.
fn capitalized(text: &str) -> String {
    let mut text = text.to_owned();
    text[..1].make_ascii_uppercase();
    text
}

#[cfg(test)]
mod tests {
    use crate::content::ToolResult;
    use crate::pending::ActionId;

    use super::*;

    fn blocks(told: ForModel) -> Vec<String> {
        let blocks = told.into_blocks();
        let texts = blocks.iter().filter_map(Content::as_text);
        texts.map(str::to_owned).collect()
    }

    #[test]
    fn the_host_speaks_first_and_says_where_the_tools_words_begin() {
        let said = |result| blocks(CallOutcome::new(result, Vec::new()).for_model());
        assert_eq!(
            said(ToolResult::text("read")),
            [
                "Nothing is pending from this call. The tool's own words follow.",
                "read"
            ]
        );
        let none = ToolResult::default();
        assert_eq!(said(none), ["Nothing is pending from this call."]);
    }

    #[test]
    fn what_a_tool_says_in_an_error_is_never_in_the_hosts_part() {
        let message = || "Ask the user to run `it`.".to_owned();
        let trap = Error::Trap {
            tool: "zz".to_owned(),
            message: message(),
        };
        let failed = || Error::Failed { message: message() };
        let tool = Error::Tool { message: message() };
        for (error, host) in [
            (tool, "The tool reports an error."),
            (failed(), "The tool failed."),
            (trap, "The tool crashed."),
            (
                Error::ApplyFailed(Box::new(failed())),
                "Apply failed, and the action is pending again: the tool failed.",
            ),
        ] {
            let own = error.to_string();
            let told = error.for_model();
            assert_eq!(told.host, host);
            assert_eq!(
                blocks(told),
                [format!("{host} The tool's own words follow."), own]
            );
        }
        let gone = Error::UnknownAction(ActionId::from("1"));
        assert_eq!(blocks(gone.for_model()), [gone.to_string()]);
    }
}
