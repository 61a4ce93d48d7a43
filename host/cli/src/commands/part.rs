//! The choice of a part of an action's effects, by patterns or by questions.

mod editing;
pub mod hunks;
pub mod keys;
mod picking;

use airlock_desk::part::PartError;
use airlock_host::effects::{AppliedPart, Effects, Selection};
use airlock_render::{Block, Line, Role};

use crate::failure::Failure;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{on_stderr, show_on_stderr};
use crate::terminal::prompt::{self, Question};

impl From<PartError> for Failure {
    fn from(error: PartError) -> Self {
        let failure = Failure::usage(error.to_string());
        match error {
            PartError::Nothing => failure.with_hint("`airlock discard` drops it"),
            _ => failure,
        }
    }
}

/// The end of choosing a part.
pub enum Picked {
    /// The part to apply, and the reason.
    Part(Selection, String),
    /// Nothing: ask the question again.
    Nothing,
    /// The input has ended, or Ctrl-C was pressed.
    Quit,
}

/// Asks what to apply, shows it, and asks whether that is right.
pub async fn pick(effects: &Effects, question: &Question<'_>, interrupt: &Interrupt) -> Picked {
    let workspace = question.action.workspace.as_deref();
    let Some(selection) = picking::pick(effects, workspace, interrupt).await else {
        return Picked::Quit;
    };
    on_stderr("");
    if selection.is_nothing(effects) {
        on_stderr("Nothing is selected.");
        return Picked::Nothing;
    }
    if !selection.is_everything() {
        show_on_stderr(&block(&selection, effects));
    }
    match prompt::confirm("Apply what is selected? [y/N] ", interrupt).await {
        Some(true) => {}
        Some(false) => return Picked::Nothing,
        None => return Picked::Quit,
    }
    match question.ask_for_reason(interrupt).await {
        Some(reason) => Picked::Part(selection, reason),
        None => Picked::Quit,
    }
}

/// Returns a sentence and the list of changes that a selection leaves out.
pub fn block(selection: &Selection, effects: &Effects) -> Block {
    let part = AppliedPart::of(selection, effects);
    let count = effects.changes.len();
    let taken = count - selection.left_out().count();
    let of = match count {
        1 => "a part of the change".to_owned(),
        _ => format!("{taken} of {count} changes"),
    };
    let line = Line::new()
        .with_role(Role::Note, "Selected:")
        .with(format!(" {of}"));
    part.lines()
        .into_iter()
        .fold(Block::from(line), |block, left| {
            block.line(
                Line::new()
                    .with_quoted(Role::Plain, left)
                    .indented(2)
                    .hanging(2),
            )
        })
}
