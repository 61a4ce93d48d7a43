//! The prompts at the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use airlock_host::PendingAction;
use airlock_host::pending::Decision;
use airlock_render::{Block, Line, Role};
use rustix::termios::{QueueSelector, tcflush};
use tokio::task::spawn_blocking;

use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{on_stderr, show_on_stderr};

/// The answer to a question.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// A decision about this action and, if `all`, about those after it.
    Decided {
        decision: Decision,
        reason: String,
        all: bool,
    },
    /// Leave it pending.
    Leave,
    /// Choose what to apply of it.
    Pick,
    /// Call its tool again and replace the preview.
    Refresh,
    /// Leave this and all following actions pending.
    Quit,
}

/// A kind of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The choice between applying, discarding and leaving it.
    Which,
    /// The confirmation of this decision.
    Whether(Decision),
    /// The choice of how to proceed, because it can't be applied any more.
    Stale,
}

/// A question about an action.
pub struct Question<'a> {
    pub action: &'a PendingAction,
    /// Its index, and the number of actions.
    pub place: (usize, usize),
    pub asked: Asked,
    /// The reason, if already given.
    pub reason: Option<&'a str>,
    /// True if a part of it can be chosen.
    pub has_parts: bool,
}

impl Question<'_> {
    /// Asks the question. If the input ends or Ctrl-C is pressed, the action is left as it is.
    pub async fn ask(&self, show: impl AsyncFn(), interrupt: &Interrupt) -> Answer {
        on_stderr("");
        let (index, count) = self.place;
        if count > 1 {
            let place = Line::from(format!("{} of {count}: ", index + 1));
            let place = place.with_quoted(Role::Title, &*self.action.label);
            show_on_stderr(&Block::from(place.hanging(2)));
        }
        let (decision, all) = loop {
            let Some(line) = read(self.words(), interrupt).await else {
                return Answer::Quit;
            };
            match self.parse(&line) {
                Some(PromptAnswer::Decide(decision, all)) => break (decision, all),
                Some(PromptAnswer::Leave) => return Answer::Leave,
                Some(PromptAnswer::Pick) => return Answer::Pick,
                Some(PromptAnswer::Refresh) => return Answer::Refresh,
                Some(PromptAnswer::Quit) => return Answer::Quit,
                Some(PromptAnswer::Show) => show().await,
                Some(PromptAnswer::Help) => self.help(),
                None => on_stderr("Please answer one of these, or ? for help."),
            }
        };
        match self.ask_for_reason(interrupt).await {
            None => Answer::Quit,
            Some(reason) => Answer::Decided {
                reason,
                decision,
                all,
            },
        }
    }

    /// Asks for the reason, unless it is known. Returns `None` at the end of the input, and after
    /// Ctrl-C.
    pub async fn ask_for_reason(&self, interrupt: &Interrupt) -> Option<String> {
        ask_for_reason(self.reason, interrupt).await
    }

    fn words(&self) -> &'static str {
        match self.asked {
            Asked::Which if self.has_parts => "[a]pply, [p]art, [d]iscard, [l]eave, [?]: ",
            Asked::Whether(Decision::Apply) if self.has_parts => {
                "Apply it? [y]es, [p]art, [n]o, [?]: "
            }
            Asked::Which => "[a]pply, [d]iscard, [l]eave, [?]: ",
            Asked::Whether(Decision::Apply) => "Apply it? [y]es, [n]o, [?]: ",
            Asked::Whether(Decision::Discard) => "Discard it? [y]es, [n]o, [?]: ",
            Asked::Stale => "It is stale: [r]efresh, [d]iscard, [l]eave, [?]: ",
        }
    }

    fn parse(&self, line: &str) -> Option<PromptAnswer> {
        let line = line.to_ascii_lowercase();
        use Asked::{Stale, Whether, Which};
        Some(match (self.asked, line.as_str()) {
            (Which, "a" | "apply") => PromptAnswer::Decide(Decision::Apply, false),
            (Which | Stale, "d" | "discard") => PromptAnswer::Decide(Decision::Discard, false),
            (Which | Stale, "l" | "leave") => PromptAnswer::Leave,
            (Which, "apply all") => PromptAnswer::Decide(Decision::Apply, true),
            (Which, "discard all") => PromptAnswer::Decide(Decision::Discard, true),
            (Whether(decision), "y" | "yes") => PromptAnswer::Decide(decision, false),
            (Whether(decision), "all") => PromptAnswer::Decide(decision, true),
            (Whether(_), "n" | "no") => PromptAnswer::Leave,
            (Stale, "r" | "refresh") => PromptAnswer::Refresh,
            (Which | Whether(Decision::Apply), "p" | "part") if self.has_parts => {
                PromptAnswer::Pick
            }
            (_, "q" | "quit") => PromptAnswer::Quit,
            (_, "s" | "show") => PromptAnswer::Show,
            (_, "?" | "h" | "help") => PromptAnswer::Help,
            _ => return None,
        })
    }

    fn help(&self) {
        let several = self.place.1 > 1;
        let answers: &[(&str, &str, bool)] = match self.asked {
            Asked::Stale => &[
                (
                    "r",
                    "call its tool again, for a new preview in its place",
                    true,
                ),
                ("d", "discard it", true),
                ("l", "leave it pending", true),
            ],
            Asked::Which => &[
                ("a", "apply it", true),
                ("p", "choose the changes to apply", self.has_parts),
                ("d", "discard it", true),
                ("l", "leave it pending", true),
                ("apply all", "apply it and those that follow", several),
                ("discard all", "discard it and those that follow", several),
            ],
            Asked::Whether(_) => &[
                ("y", "yes", true),
                ("p", "choose the changes to apply", self.has_parts),
                ("n", "no, leave it pending", true),
                ("all", "yes, also for those that follow", several),
            ],
        };
        let others = [
            ("s", "show it again", true),
            ("q", "quit: leave all that is undecided", true),
        ];
        for (answer, meaning, _) in answers.iter().chain(&others).filter(|it| it.2) {
            on_stderr(format!("  {answer:<12}{meaning}"));
        }
    }
}

/// The answer to a question about several actions.
#[derive(Debug, PartialEq, Eq)]
pub enum AnswerForAll {
    /// Apply all of them, for this reason.
    Yes(String),
    /// Review them hunk by hunk, and ask again.
    Review,
    /// Ask about each of them.
    OneByOne,
    /// Leave them pending.
    No,
    /// There is no answer.
    Quit,
}

/// Asks whether to apply all of these actions in one step. Some of their hunks are left to review.
pub async fn ask_about_all(
    (count, left): (usize, usize),
    reason: Option<&str>,
    show: impl AsyncFn(),
    interrupt: &Interrupt,
) -> AnswerForAll {
    on_stderr("");
    let review = if left > 0 { "[r]eview, " } else { "" };
    let question =
        format!("Apply all {count} in one step? [y]es, {review}[o]ne by one, [n]o, [?]: ");
    loop {
        let Some(line) = read(&question, interrupt).await else {
            return AnswerForAll::Quit;
        };
        match &*line.to_ascii_lowercase() {
            "y" | "yes" => break,
            "r" | "review" if left > 0 => return AnswerForAll::Review,
            "o" | "one" | "one by one" => return AnswerForAll::OneByOne,
            "n" | "no" => return AnswerForAll::No,
            "q" | "quit" => return AnswerForAll::Quit,
            "s" | "show" => show().await,
            "?" | "h" | "help" => {
                on_stderr("  y           yes: all of them, or none if one can't be applied");
                if left > 0 {
                    on_stderr("  r           review: step through the hunks, and mark them");
                }
                on_stderr("  o           ask about each action separately, in this order");
                on_stderr("  n           no, leave them pending");
                on_stderr("  s           show them again");
                on_stderr("  q           quit: leave them pending");
            }
            _ => on_stderr("Please answer one of these, or ? for help."),
        }
    }
    match ask_for_reason(reason, interrupt).await {
        Some(reason) => AnswerForAll::Yes(reason),
        None => AnswerForAll::Quit,
    }
}

/// Asks for the reason, unless it is known. Returns `None` at the end of the input, and after
/// Ctrl-C.
async fn ask_for_reason(known: Option<&str>, interrupt: &Interrupt) -> Option<String> {
    match known {
        Some(reason) => Some(reason.to_owned()),
        None => read("Reason (may be empty): ", interrupt).await,
    }
}

/// Asks whether to continue. Returns `None` without an answer: at the end of the input, and after
/// Ctrl-C.
pub async fn confirm(question: &str, interrupt: &Interrupt) -> Option<bool> {
    let answer = read(question, interrupt).await?;
    Some(matches!(&*answer.to_ascii_lowercase(), "y" | "yes"))
}

#[derive(Debug, PartialEq, Eq)]
enum PromptAnswer {
    Decide(Decision, bool),
    Leave,
    Pick,
    Refresh,
    Quit,
    Show,
    Help,
}

/// Reads one trimmed line. Returns `None` at the end of the input, and after Ctrl-C. Text that was
/// typed before the question does not count as an answer.
pub async fn read(question: &str, interrupt: &Interrupt) -> Option<String> {
    discard_typed_ahead();
    let line = read_line(question, interrupt).await?;
    Some(line.trim().to_owned())
}

/// Drops keys that were typed before a question was shown, because they can't be an answer to it.
/// Input from a pipe stays.
fn discard_typed_ahead() {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        // If the terminal is gone, there is nothing to drop, and the next read reports that.
        let _ = tcflush(&stdin, QueueSelector::IFlush);
    }
}

/// Reads one line. Returns `None` at the end of the input, and after Ctrl-C.
pub async fn read_line(question: &str, interrupt: &Interrupt) -> Option<String> {
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
            let line = String::from_utf8_lossy(&line);
            Some(line.trim_end_matches(['\n', '\r']).to_owned())
        }
        // The cursor is still after the question.
        _ => {
            on_stderr("");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use airlock_host::Policy;
    use airlock_host::digest::Digest;

    use super::*;

    #[test]
    fn an_answer_is_a_letter_or_the_word_and_nothing_is_chosen_by_default() {
        let action = PendingAction::new(
            "id",
            "Rename",
            Digest::of(b""),
            "plugin",
            Policy::default(),
            SystemTime::UNIX_EPOCH,
        );
        let check = |asked, line: &str, expected| {
            let question = Question {
                action: &action,
                place: (0, 2),
                asked,
                reason: None,
                has_parts: false,
            };
            assert_eq!(question.parse(line), expected, "{line:?}");
        };
        let apply = Decision::Apply;
        check(Asked::Which, "a", Some(PromptAnswer::Decide(apply, false)));
        check(
            Asked::Which,
            "APPLY",
            Some(PromptAnswer::Decide(apply, false)),
        );
        check(
            Asked::Which,
            "apply all",
            Some(PromptAnswer::Decide(apply, true)),
        );
        check(
            Asked::Which,
            "d",
            Some(PromptAnswer::Decide(Decision::Discard, false)),
        );
        check(Asked::Which, "leave", Some(PromptAnswer::Leave));
        check(Asked::Which, "yes", None);
        check(
            Asked::Whether(apply),
            "Yes",
            Some(PromptAnswer::Decide(apply, false)),
        );
        check(
            Asked::Whether(apply),
            "all",
            Some(PromptAnswer::Decide(apply, true)),
        );
        check(Asked::Whether(apply), "n", Some(PromptAnswer::Leave));
        check(Asked::Whether(apply), "a", None);
        check(Asked::Stale, "r", Some(PromptAnswer::Refresh));
        check(
            Asked::Stale,
            "d",
            Some(PromptAnswer::Decide(Decision::Discard, false)),
        );
        check(Asked::Stale, "l", Some(PromptAnswer::Leave));
        check(Asked::Stale, "y", None);
        for asked in [Asked::Which, Asked::Whether(apply), Asked::Stale] {
            check(asked, "", None);
            check(asked, "q", Some(PromptAnswer::Quit));
            check(asked, "show", Some(PromptAnswer::Show));
            check(asked, "?", Some(PromptAnswer::Help));
        }
    }
}
