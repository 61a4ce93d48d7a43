//! What a call pushed, for people.

use std::fmt::Display;
use std::sync::Arc;

use airlock_host::PendingAction;

use crate::output::Output;
use crate::sanitize;
use crate::style::{BOLD, DIM, paint};

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
