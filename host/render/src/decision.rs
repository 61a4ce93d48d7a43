//! A decision, in one block with its outcome.

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
    /// Why.
    pub reason: &'a str,
    /// The action's label, if known.
    pub label: Option<&'a str>,
    /// The preview, where it is to stand in the same block: the content of the call that pushed the
    /// action.
    pub preview: &'a [Content],
    /// Its outcome; none while it is being carried out.
    pub outcome: Option<Result<&'a [Content], &'a Error>>,
}

impl<'a> Decided<'a> {
    /// A decision that is being carried out.
    pub fn new(decision: Decision, reason: &'a str) -> Self {
        Self {
            decision,
            reason,
            label: None,
            preview: &[],
            outcome: None,
        }
    }

    /// What `Session::resolve` gave. The action is what it was about, where that is known
    /// beforehand: an outcome tells its label, and an error does not.
    pub fn resolved(
        resolution: &'a Resolution,
        action: Option<&'a PendingAction>,
        outcome: &'a Result<ResolutionOutcome, Error>,
    ) -> Self {
        let told = match outcome {
            Ok(outcome) => outcome.details.label.as_deref(),
            Err(_) => None,
        };
        Self {
            label: told.or(action.map(|action| action.label.as_str())),
            outcome: Some(outcome.as_ref().map(|outcome| &*outcome.content)),
            ..Self::new(resolution.decision, &resolution.reason)
        }
    }

    /// The tool's content, where it says more than the heading and the reason do.
    fn told(&self) -> Option<&'a [Content]> {
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
    /// A decision: `Accept: …`, `Discard: …` or `Failed: …` with the action's label, then the
    /// reason, the preview if it is to stand there too, and what the tool said.
    pub fn decision(decided: &Decided<'_>) -> Self {
        let told = decided.told();
        let mut block = heading(decided);
        // The tool's first line stands right below the heading, unless a preview does.
        let is_told = decided.preview.is_empty()
            && matches!(told, Some([Content::Text { text }, ..]) if tells_reason(text, decided.reason));
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
            _ => block.paragraph(told.unwrap_or_default()),
        }
    }

    /// A name and a text behind it, below a heading.
    pub(super) fn named_below(self, role: Role, name: &str, text: &str) -> Self {
        self.block(Block::new().named(role, name, text, 2).indented(2))
    }

    /// Content below a heading, after an empty line where there is more than the heading.
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

/// A verb before a label, as in `Accept: Batch rename: 3 files`: the whole label, as in the list of
/// pending actions.
pub(super) fn labelled(role: Role, verb: &str, label: &str) -> Line {
    Line::new()
        .with_role(role, verb)
        .with(" ")
        .with_quoted(Role::Title, label)
        .hanging(2)
}

/// Whether a tool's first line ends with the reason, as `Applied batch rename. Reason: …` does.
fn tells_reason(text: &str, reason: &str) -> bool {
    let told = format!("Reason: {reason}");
    text.split_once(&*told)
        .is_some_and(|(before, after)| !before.contains('\n') && is_line_end(after))
}

fn is_line_end(text: &str) -> bool {
    let text = text.strip_prefix('\r').unwrap_or(text);
    text.is_empty() || text.starts_with('\n')
}
