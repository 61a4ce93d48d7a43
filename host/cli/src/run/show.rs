//! What a call pushed, for people.

use std::sync::Arc;

use airlock_host::PendingAction;

use crate::output::Output;
use crate::pending::origin;
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
        out.line(format_args!("  {}", paint(DIM, origin(action, &[]))));
    }
}
