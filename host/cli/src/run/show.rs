//! What a call and its resolutions gave, for people and for programs.

use std::fmt::Display;
use std::sync::Arc;

use airlock_host::{CallOutcome, Content, PendingAction, StackedAction};
use serde_json::{Value, json};

use super::decide::Resolved;
use crate::output::Output;
use crate::sanitize;
use crate::style::{BOLD, DIM, paint};

/// A result's blocks, for people.
pub fn content(out: &mut Output, content: &[Content]) {
    for block in content {
        match block {
            Content::Text { text } => out.line(sanitize::text(text).trim_end_matches('\n')),
            other => out.line(paint(DIM, describe(other))),
        }
    }
}

/// What can't be shown as text, in a line.
fn describe(content: &Content) -> String {
    match content {
        Content::Image { data, mime_type } => {
            format!(
                "[image: {}, {} bytes]",
                sanitize::line(mime_type),
                data.len()
            )
        }
        Content::ResourceLink { uri, name, .. } => {
            format!("[link: {}, {}]", sanitize::line(name), sanitize::line(uri))
        }
        other => format!(
            "[{}]",
            sanitize::line(&serde_json::to_string(other).unwrap_or_default())
        ),
    }
}

/// What waits for a decision, for people.
pub fn pending(out: &mut Output, pushed: &[Arc<PendingAction>]) {
    if pushed.is_empty() {
        return;
    }
    out.line("\nPending; nothing has changed yet:");
    for action in pushed {
        out.line(format_args!(
            "  {}",
            paint(BOLD, sanitize::line(&action.label))
        ));
        out.line(format_args!("  {}", paint(DIM, origin(action))));
    }
}

fn origin(action: &PendingAction) -> impl Display {
    let lifetime = if action.is_durable() {
        "durable"
    } else {
        "volatile"
    };
    let tool = sanitize::line(&action.source_tool_name);
    format!("from {tool}, {lifetime}, id {}", action.id)
}

/// The object for programs.
pub fn report(outcome: &CallOutcome, left: &[StackedAction], resolved: Option<&Resolved>) -> Value {
    json!({
        "content": outcome.content,
        "details": outcome.details,
        "isError": false,
        "pending": left.iter().map(|stacked| pending_object(&stacked.action)).collect::<Vec<_>>(),
        "resolved": resolved.map(resolution_object),
    })
}

fn pending_object(action: &PendingAction) -> Value {
    json!({
        "id": action.id,
        "label": action.label,
        "sourceToolName": action.source_tool_name,
        "details": action.details,
        "durable": action.is_durable(),
    })
}

fn resolution_object(resolved: &Resolved) -> Value {
    match &resolved.outcome {
        Ok(outcome) => json!({
            "content": outcome.content,
            "details": outcome.details,
            "isError": false,
        }),
        Err(error) => json!({
            "content": [Content::text(error.to_string())],
            "details": {
                "action": resolved.decision,
                "reason": resolved.reason,
                "sourceToolName": resolved.action.source_tool_name,
                "label": resolved.action.label,
            },
            "isError": true,
        }),
    }
}
