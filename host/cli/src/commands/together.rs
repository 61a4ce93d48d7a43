//! Applying several actions in one commit.

mod hunks;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use airlock_desk::resolution::Resolved;
use airlock_host::pending::{ActionId, DecidedBy, JointReview, SessionId, StackedAction, Together};
use airlock_host::{Error, Session};
use airlock_render::{Block, Line, Role};

use super::context::CommandContext;
use crate::terminal::output::{Output, show_on_stderr};
pub use hunks::MarkedEffects;

/// Reviews pending actions as one, in this order. Each comes with its session. Returns `None` if
/// they can't be applied together; on a terminal, a note says why.
///
/// # Errors
/// Those of [`JointReview::of`].
pub async fn review(
    context: &CommandContext,
    named: &[(&Session, &ActionId)],
    out: &Output,
) -> Result<Option<JointReview>, Error> {
    let mut pending: HashMap<&SessionId, Vec<StackedAction>> = HashMap::new();
    let mut actions = Vec::new();
    for (session, id) in named {
        let listed = match pending.entry(session.id()) {
            Entry::Occupied(listed) => listed.into_mut(),
            Entry::Vacant(new) => new.insert(session.pending().await?),
        };
        let Some(found) = listed.iter().find(|it| it.action.id == **id) else {
            // It was resolved elsewhere.
            return Ok(None);
        };
        actions.push(((*session).clone(), found.clone()));
    }
    match context.review_together(actions).await? {
        Together::Reviewed(review) => Ok(Some(*review)),
        Together::Apart { action, reason } => {
            if !out.is_json() {
                tell_why(&action.label, &reason);
            }
            Ok(None)
        }
    }
}

fn tell_why(label: &str, reason: &str) {
    let note = Line::new().with_role(Role::Note, "note:");
    let note = note.with(" these actions can't be applied in one step, so each is decided by itself. The obstacle is \"");
    let note = note.with_quoted(Role::Title, label).with("\": ");
    show_on_stderr(&Block::from(
        note.with_quoted(Role::Plain, reason).hanging(2),
    ));
}

/// Applies all actions of the review, and shows the outcomes.
///
/// # Errors
/// Those of [`JointReview::apply`].
pub async fn apply(
    context: &CommandContext,
    review: &JointReview,
    reason: &str,
    decided_by: DecidedBy,
    out: &mut Output,
) -> Result<Vec<Resolved>, Error> {
    let applied = context.apply_together(review, reason, decided_by).await?;
    for resolved in &applied {
        out.gap();
        out.show(&resolved.block());
    }
    let count = applied.len();
    let undo = if review.effects.beyond_undo {
        ""
    } else {
        " One `airlock undo` takes all of them back."
    };
    out.gap();
    out.line(format!(
        "All {count} actions were applied in one step.{undo}"
    ));
    Ok(applied)
}

/// Returns the subject of the question: the actions, and their joint changes.
pub fn block(review: &JointReview, effects: &MarkedEffects<'_>) -> Block {
    let count = review.actions.len();
    let title = format!("{count} actions to apply in one step, in this order:");
    let block = Block::new().line(title);
    let block = review
        .actions
        .iter()
        .zip(1..)
        .fold(block, |block, (it, number)| {
            let line =
                Line::from(format!("{number}. ")).with_quoted(Role::Title, &*it.action.label);
            let line = line.with_role(Role::Faint, " from ");
            let line = line.with_quoted(Role::Faint, &*it.action.source_tool_name);
            block.line(line.indented(2).hanging(3))
        });
    block.block(effects.block().indented(2))
}
