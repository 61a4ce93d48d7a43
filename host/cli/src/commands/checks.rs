//! Checks that several commands make, and how they are shown.

use airlock_desk::lock::Installed;
use airlock_desk::plugin::Source;
use airlock_render::{Block, Line, Role};

use crate::documents::doctor::{Check, CheckState};
use crate::failure::Exit;

/// Returns the exit code for the outcome of all checks.
pub fn exit(checks: &[Check]) -> Exit {
    match checks.iter().find(|it| it.state == CheckState::Wrong) {
        Some(_) => Exit::Failed,
        None => Exit::Done,
    }
}

/// Returns a check for people.
pub fn shown(check: &Check) -> Block {
    let (word, role) = match check.state {
        CheckState::Well => ("ok", Role::Faint),
        CheckState::Note => ("note", Role::Note),
        CheckState::Wrong => ("wrong", Role::Error),
    };
    let line = Line::from("  ").with_role(role, format!("{word:<5}"));
    let line = line.with(format!("  {:<13}  ", check.part));
    let block = Block::from(line.with_quoted(Role::Plain, &*check.text).hanging(24));
    match &check.hint {
        Some(hint) => {
            let hint = Line::new().with_role(Role::Hint, "hint: ").with(&**hint);
            block.line(hint.indented(24).hanging(2))
        }
        None => block,
    }
}

/// Checks that a plugin's component is there, and is the one that the lock pins.
pub fn component(installed: &Installed) -> Check {
    let name = &installed.entry.name;
    let source = Source::Installed(Box::new(installed.clone()));
    match source.bytes() {
        Ok(_) => Check::well("plugin", format!("{name}: its component is there")),
        Err(error) => Check::wrong("plugin", &error.into()),
    }
}
