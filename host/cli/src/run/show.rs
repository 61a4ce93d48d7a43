//! What a call and its resolutions gave, for people.

use std::fmt::Display;
use std::sync::Arc;

use airlock_host::{Content, PendingAction};

use crate::output::Output;
use crate::sanitize;
use crate::style::{BOLD, DIM, paint};

/// A result's blocks.
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

/// What waits for a decision.
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
    let lifetime = if action.durable {
        "durable"
    } else {
        "volatile"
    };
    let tool = sanitize::line(&action.source_tool_name);
    format!("from {tool}, {lifetime}, id {}", action.id)
}
