//! The question at the terminal.

use std::io::{self, BufRead, Write};

use airlock_host::PendingAction;
use airlock_host::pending::Decision;
use airlock_render::{Line, Role};
use tokio::task::spawn_blocking;

use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::on_stderr;

/// What somebody answered.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Decided(Decision, String),
    Leave,
}

/// Asks about one action, which is the `index`th of `count`. Who closes the input or presses Ctrl-C
/// leaves it pending.
pub async fn ask(
    action: &PendingAction,
    (index, count): (usize, usize),
    interrupt: &Interrupt,
) -> Answer {
    on_stderr("");
    if count > 1 {
        let place = Line::from(format!("{} of {count}: ", index + 1));
        on_stderr(place.with_quoted(Role::Title, &*action.label));
    }
    let decision = loop {
        let Some(line) = read("[a]pply, [d]iscard, [l]eave? ", interrupt).await else {
            return Answer::Leave;
        };
        match parse(&line) {
            Some(Choice::Decide(decision)) => break decision,
            Some(Choice::Leave) => return Answer::Leave,
            None => on_stderr("Please answer a, d or l."),
        }
    };
    match read("Reason (may be empty): ", interrupt).await {
        None => Answer::Leave,
        Some(reason) if reason.is_empty() => {
            Answer::Decided(decision, default_reason(decision).to_owned())
        }
        Some(reason) => Answer::Decided(decision, reason),
    }
}

/// Asks whether to go on. No answer is no.
pub async fn confirm(question: &str, interrupt: &Interrupt) -> bool {
    let answer = read(question, interrupt).await;
    answer.is_some_and(|answer| matches!(&*answer.to_ascii_lowercase(), "y" | "yes"))
}

#[derive(Debug, PartialEq, Eq)]
enum Choice {
    Decide(Decision),
    Leave,
}

fn parse(line: &str) -> Option<Choice> {
    match line.to_ascii_lowercase().as_str() {
        "a" | "apply" => Some(Choice::Decide(Decision::Apply)),
        "d" | "discard" => Some(Choice::Decide(Decision::Discard)),
        "l" | "leave" => Some(Choice::Leave),
        _ => None,
    }
}

fn default_reason(decision: Decision) -> &'static str {
    match decision {
        Decision::Apply => "approved in the terminal",
        Decision::Discard => "discarded in the terminal",
    }
}

/// One line without surrounding space; none at the end of the input, and after Ctrl-C.
async fn read(question: &str, interrupt: &Interrupt) -> Option<String> {
    let mut stderr = io::stderr();
    let _ = write!(stderr, "{question}").and_then(|()| stderr.flush());
    let line = spawn_blocking(|| {
        let mut line = Vec::new();
        io::stdin()
            .lock()
            .read_until(b'\n', &mut line)
            .map(|_| line)
    });
    let line = interrupt.token().run_until_cancelled(line).await;
    match line {
        Some(Ok(Ok(line))) if !line.is_empty() => {
            Some(String::from_utf8_lossy(&line).trim().to_owned())
        }
        // The cursor is still behind the question.
        _ => {
            on_stderr("");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_letter_or_the_word() {
        let check = |line, expected| assert_eq!(parse(line), expected, "{line:?}");
        check("a", Some(Choice::Decide(Decision::Apply)));
        check("APPLY", Some(Choice::Decide(Decision::Apply)));
        check("d", Some(Choice::Decide(Decision::Discard)));
        check("leave", Some(Choice::Leave));
        // No answer is the default: what happens should have been chosen.
        check("", None);
        check("yes", None);
    }
}
