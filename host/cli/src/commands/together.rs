//! Applying several actions in one commit.

use airlock_desk::resolution::Resolved;
use airlock_host::Error;
use airlock_host::pending::{ActionId, DecidedBy, JointReview, StackedAction, Together};
use airlock_render::{Block, Line, Role};

use super::context::CommandContext;
use crate::terminal::output::{Output, show_on_stderr};

/// Reviews pending actions as one, in this order. Returns `None` if they can't be applied together;
/// on a terminal, a note says why.
///
/// # Errors
/// Those of [`Session::review_together`](airlock_host::Session::review_together).
pub async fn review(
    context: &CommandContext,
    ids: &[&ActionId],
    out: &Output,
) -> Result<Option<JointReview>, Error> {
    let pending = context.session.pending().await?;
    let find = |id: &&ActionId| pending.iter().find(|it| it.action.id == **id).cloned();
    let Some(actions) = ids.iter().map(find).collect::<Option<Vec<StackedAction>>>() else {
        // One of them was resolved elsewhere.
        return Ok(None);
    };
    match context.review_together(&actions).await? {
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
/// Those of [`Session::apply_together`](airlock_host::Session::apply_together).
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
pub fn block(review: &JointReview) -> Block {
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
    block.block(Block::effects(&review.effects).indented(2))
}
