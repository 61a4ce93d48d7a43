//! What else is pending in a session when a command ends.

use airlock_desk::store::Store;
use airlock_render::{Line, Role};

use crate::output::on_stderr;

/// Says how many actions are pending beside those that the command has told of. The words name the session.
pub fn tell_of_others(count: usize, words: &[String], store: &Store) {
    let are = match count {
        0 => return,
        1 => "action is",
        _ => "actions are",
    };
    let list = ["pending"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let list = store.command(&list.collect::<Vec<_>>());
    on_stderr("");
    let told = Line::from(format!("{count} more {are} pending in this session: "));
    on_stderr(told.with_role(Role::Command, format!("`{list}`")));
}
