//! The person's side: what they see, and what they are asked.

use std::io::{self, BufRead, IsTerminal, Write};

use airlock_host::Error;
use airlock_host::approval::{Approval, ApprovalRequest, Approver};
use airlock_host::content::CallOutcome;
use airlock_host::event::{Event, EventSource};
use airlock_host::pending::{Actor, DecidedBy, Evidence};
use airlock_render::{Block, Line, Renderer, Role, escape_line};
use async_trait::async_trait;

/// Asks whoever sits there. What they have seen is the preview, which is shown when it is made.
pub struct AsksOnTheTerminal;

#[async_trait]
impl Approver for AsksOnTheTerminal {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Approval::NeedsPerson {
                how: "Tell the user to run this agent in a terminal.".to_owned(),
            };
        }
        // Labels and reasons come from others, and could drive a terminal.
        let label = escape_line(&request.action.action.label).into_owned();
        let reason = escape_line(&request.resolution.reason).into_owned();
        let question =
            format!("The model wants to apply: {label}\n  reason: {reason}\nApply it? [y/N] ");
        let answer = tokio::task::spawn_blocking(move || read(&question)).await;
        match answer {
            Ok(Ok(answer)) if matches!(answer.trim(), "y" | "yes") => Approval::AllowedBy(user()),
            Ok(Ok(_)) => Approval::Decline {
                decided_by: user(),
                reason: "the user said no".to_owned(),
                advice: String::new(),
            },
            _ => Approval::Drop {
                reason: "the user could not be asked".to_owned(),
            },
        }
    }
}

fn user() -> DecidedBy {
    let user = std::env::var("USER").unwrap_or_else(|_| "somebody".to_owned());
    Actor::person(user).with_evidence(Evidence::Terminal)
}

fn read(question: &str) -> io::Result<String> {
    let mut stderr = io::stderr();
    write!(stderr, "{question}")?;
    stderr.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

pub fn show(outcome: &CallOutcome) {
    eprintln!("{}\n", renderer().render(&Block::call(outcome)));
}

pub fn show_error(tool: &str, error: &Error) {
    let line = Line::new()
        .with_role(Role::Error, "error: ")
        .with_quoted(Role::Plain, format!("{tool}: {error}"));
    eprintln!("{}\n", renderer().render(&Block::from(line)));
}

/// On a terminal, one line that each report writes over.
pub fn show_progress(_: EventSource<'_>, event: &Event) {
    let mut stderr = io::stderr();
    if !stderr.is_terminal() {
        return;
    }
    // Where it can't be shown, it is not.
    let _ = match event {
        Event::Progress { message, .. } => {
            write!(stderr, "\r\x1b[K{}", escape_line(message))
        }
        Event::Ended { .. } => write!(stderr, "\r\x1b[K"),
        _ => return,
    };
    let _ = stderr.flush();
}

fn renderer() -> Renderer {
    if io::stderr().is_terminal() {
        Renderer::ansi()
    } else {
        Renderer::plain()
    }
}
