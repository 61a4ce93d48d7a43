//! A call and its result.

use airlock_model::content::{CallOutcome, Content};
use airlock_model::error::Error;
use airlock_model::pending::Decision;
use airlock_model::tool::RESOLVE;
use serde::Deserialize;
use serde_json::Value;

use super::action::origin;
use super::{Block, Decided, Line, Role};

impl Block {
    /// Returns a block for the result of a call and the actions that it pushed.
    pub fn call(outcome: &CallOutcome) -> Self {
        let content = Block::content(&outcome.content);
        if outcome.pushed.is_empty() {
            return content;
        }
        let content = if content.is_empty() {
            content
        } else {
            content.line("")
        };
        let heading = content.line("Pending; nothing has changed yet:");
        outcome.pushed.iter().fold(heading, |block, action| {
            let label = Line::new().with_quoted(Role::Title, &*action.label);
            let entry = Block::from(label.hanging(2)).line(origin(action, None).hanging(2));
            let entry = entry.block(Block::grants(&action.grants));
            let mut seen = outcome.effects.iter();
            let entry = match seen.find(|seen| seen.action == action.id) {
                Some(seen) => {
                    let effects = Block::effects_below(&seen.effects, &outcome.content);
                    entry.block(effects.indented(2))
                }
                None => entry.block(Block::effects_summary(None).indented(2)),
            };
            block.block(entry.indented(2))
        })
    }

    /// Returns a block for a tool call and its result, as a conversation shows it. The result is
    /// `None` while the call runs. A call of `resolve` is shown as a decision.
    pub fn tool_call(
        name: &str,
        params: &Value,
        result: Option<Result<&CallOutcome, &Error>>,
    ) -> Self {
        if name == RESOLVE {
            let label = label(result);
            if let Some(decided) = decided(params, label.as_deref(), result) {
                return Block::decision(&decided);
            }
        }
        let heading = match result {
            Some(Err(_)) => Line::new().with_role(Role::Failed, "Failed:").with(" "),
            _ => Line::new(),
        };
        let params = params.to_string();
        let called = Block::from(heading.with_quoted(Role::Title, name))
            .block(Block::new().text(&params).indented(2));
        match result {
            None => called,
            Some(Err(error)) => called.named_below(Role::Error, "error:", &error.to_string()),
            Some(Ok(outcome)) => {
                let result = Block::call(outcome);
                if result.is_empty() {
                    called
                } else {
                    called.line("").block(result.indented(2))
                }
            }
        }
    }
}

/// Returns the label of the action that a call of `resolve` was about.
fn label(result: Option<Result<&CallOutcome, &Error>>) -> Option<String> {
    #[derive(Deserialize)]
    struct Details {
        label: Option<String>,
    }
    let details = result?.ok()?.details.as_ref()?;
    details.parse::<Details>().ok()?.label
}

/// Returns the decision of a call of `resolve`, if its params are valid.
fn decided<'a>(
    params: &'a Value,
    label: Option<&'a str>,
    result: Option<Result<&'a CallOutcome, &'a Error>>,
) -> Option<Decided<'a>> {
    let text = |key| params.get(key).and_then(Value::as_str);
    let decision = match text("action")? {
        "apply" => Decision::Apply,
        "discard" => Decision::Discard,
        _ => return None,
    };
    let outcome = result.map(|result| result.map(|outcome| -> &[Content] { &outcome.content }));
    Some(Decided {
        label,
        outcome,
        ..Decided::new(decision, text("reason")?)
    })
}
