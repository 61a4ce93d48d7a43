//! The note on pending actions when a command ends, and how to resolve them later.

use std::sync::Arc;

use airlock_desk::session::SessionChoice;
use airlock_desk::store::Store;
use airlock_host::PendingAction;
use airlock_render::{Line, Role};

use crate::terminal::output::on_stderr;

/// Names the commands that list and resolve them.
pub fn explain(session: &SessionChoice, store: &Store, left: &[Arc<PendingAction>]) {
    let Some(top) = left.first() else {
        return;
    };
    let words = session.words();
    let list = ["pending"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let list = store.command(&list.collect::<Vec<_>>());
    let apply = store.command(&[
        "resolve",
        "apply",
        "--id",
        top.id.short(),
        "--reason",
        "the preview is right",
    ]);
    let (what, commands) = match left.len() {
        1 => (
            "this action stays pending; to apply it later (or `discard` it)".to_owned(),
            vec![apply],
        ),
        count => (
            format!(
                "these {count} actions stay pending; to list them, and to apply the topmost later (or `discard` it)"
            ),
            vec![list, apply],
        ),
    };
    on_stderr("");
    on_stderr(
        Line::new()
            .with_role(Role::Note, "note:")
            .with(format!(" {what}:")),
    );
    for command in commands {
        on_stderr(Line::new().with_role(Role::Command, command).indented(2));
    }
}

/// Notes that a call of a tool that pushes actions pushed none. It may have found nothing to do, or
/// forgotten to push what its text describes.
pub fn tell_of_nothing() {
    on_stderr("");
    let note = Line::new().with_role(Role::Note, "note:");
    on_stderr(note.with(" nothing became pending: the tool pushed no action"));
}

/// Prints the number of pending actions in the session that `words` name.
pub fn tell_of_all(count: usize, words: &[String], store: &Store) {
    let are = if count == 1 {
        "action is"
    } else {
        "actions are"
    };
    tell(&format!("{count} {are}"), words, store);
}

/// Prints the number of pending actions that the command has not mentioned. `words` name the
/// session.
pub fn tell_of_others(count: usize, words: &[String], store: &Store) {
    let are = match count {
        0 => return,
        1 => "1 more action is".to_owned(),
        _ => format!("{count} more actions are"),
    };
    tell(&are, words, store);
}

fn tell(are: &str, words: &[String], store: &Store) {
    let list = ["pending"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let list = store.command(&list.collect::<Vec<_>>());
    on_stderr("");
    let message = Line::from(format!("{are} pending in this session: "));
    on_stderr(message.with_role(Role::Command, format!("`{list}`")));
}
