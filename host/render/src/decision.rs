//! A decision and its outcome, in one block.

use airlock_model::content::{self, Content, ResolutionOutcome};
use airlock_model::error::Error;
use airlock_model::pending::{Decision, PendingAction, Resolution};

use super::item::Item;
use super::{Block, Line, Role};

/// A decision about an action and its outcome, for [`Block::decision`].
#[derive(Debug, Clone, Copy)]
pub struct Decided<'a> {
    /// Apply or discard.
    pub decision: Decision,
    /// The reason.
    pub reason: &'a str,
    /// The action's label, if known.
    pub label: Option<&'a str>,
    /// The preview to include in the block: the content of the call that pushed the action.
    pub preview: &'a [Content],
    /// The outcome; `None` while the decision is being carried out.
    pub outcome: Option<Result<&'a [Content], &'a Error>>,
}

impl<'a> Decided<'a> {
    /// Creates a decision that is being carried out.
    pub fn new(decision: Decision, reason: &'a str) -> Self {
        Self {
            decision,
            reason,
            label: None,
            preview: &[],
            outcome: None,
        }
    }

    /// Creates a decision from the result of `Session::resolve`. Pass the action if it is known: an
    /// outcome contains its label, but an error doesn't.
    pub fn resolved(
        resolution: &'a Resolution,
        action: Option<&'a PendingAction>,
        outcome: &'a Result<ResolutionOutcome, Error>,
    ) -> Self {
        let message = match outcome {
            Ok(outcome) => outcome.details.label.as_deref(),
            Err(_) => None,
        };
        Self {
            label: message.or(action.map(|action| action.label.as_str())),
            outcome: Some(outcome.as_ref().map(|outcome| &*outcome.content)),
            ..Self::new(resolution.decision, &resolution.reason)
        }
    }

    /// Returns the tool's content if it says more than the heading and the reason.
    fn message_content(&self) -> Option<&'a [Content]> {
        let content = self.outcome?.ok()?;
        let [Content::Text { text }] = content else {
            return Some(content);
        };
        let says_nothing_new = self.decision == Decision::Discard
            && self
                .label
                .is_some_and(|label| *text == content::discarded(label, self.reason));
        (!says_nothing_new).then_some(content)
    }
}

impl Block {
    /// Returns a block for a decision: `Accept: …`, `Discard: …` or `Failed: …` with the action's
    /// label, followed by the reason, the preview if one is included, and the tool's content.
    pub fn decision(decided: &Decided<'_>) -> Self {
        let message = decided.message_content();
        let mut block = heading(decided);
        // The tool's first line directly follows the heading, unless a preview does.
        let is_told = decided.preview.is_empty()
            && matches!(message, Some([Content::Text { text }, ..]) if tells_reason(text, decided.reason));
        if !decided.reason.is_empty() && !is_told {
            let name = match (decided.outcome, decided.decision) {
                (Some(Err(_)), Decision::Apply) => "reason to apply:",
                (Some(Err(_)), Decision::Discard) => "reason to discard:",
                _ => "reason:",
            };
            block = block.named_below(Role::Faint, name, decided.reason);
        }
        block = block.paragraph(decided.preview);
        match decided.outcome {
            Some(Err(error)) => block.named_below(Role::Error, "error:", &error.root().to_string()),
            _ => block.paragraph(message.unwrap_or_default()),
        }
    }

    /// Adds a name and a text, indented below a heading.
    pub(super) fn named_below(self, role: Role, name: &str, text: &str) -> Self {
        self.block(Block::new().named(role, name, text, 2).indented(2))
    }

    /// Adds content below a heading, after an empty line if more than the heading precedes it.
    pub(super) fn paragraph(self, content: &[Content]) -> Self {
        let content = Block::content(content);
        let lines: usize = self.items.iter().map(Item::count).sum();
        match (content.is_empty(), lines) {
            (true, _) => self,
            (false, 1) => self.block(content.indented(2)),
            (false, _) => self.line("").block(content.indented(2)),
        }
    }
}

fn heading(decided: &Decided<'_>) -> Block {
    let (role, verb) = match (decided.outcome, decided.decision) {
        (None, Decision::Apply) => (Role::Note, "Applying:"),
        (None, Decision::Discard) => (Role::Note, "Discarding:"),
        (Some(Err(_)), _) => (Role::Failed, "Failed:"),
        (Some(Ok(_)), Decision::Apply) => (Role::Accept, "Accept:"),
        (Some(Ok(_)), Decision::Discard) => (Role::Discard, "Discard:"),
    };
    let label = decided.label.unwrap_or("pending action");
    Block::new().line(labelled(role, verb, label))
}

/// Returns a verb and a full label, as in `Accept: Batch rename: 3 files`, like the list of pending
/// actions.
pub(super) fn labelled(role: Role, verb: &str, label: &str) -> Line {
    Line::new()
        .with_role(role, verb)
        .with(" ")
        .with_quoted(Role::Title, label)
        .hanging(2)
}

/// Returns true if the tool's first line ends with the reason, as in `Applied batch rename. Reason:
/// …`.
fn tells_reason(text: &str, reason: &str) -> bool {
    let message = format!("Reason: {reason}");
    text.split_once(&*message)
        .is_some_and(|(before, after)| !before.contains('\n') && is_line_end(after))
}

fn is_line_end(text: &str) -> bool {
    let text = text.strip_prefix('\r').unwrap_or(text);
    text.is_empty() || text.starts_with('\n')
}
