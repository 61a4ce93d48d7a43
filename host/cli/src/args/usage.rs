//! Invalid command lines, and the help.

use std::env;

use clap::Error;
use clap::error::ErrorKind;

use crate::failure::{Exit, Failure};
use crate::terminal::output::{Format, Output};

/// Prints the parser's message: help, the version, or the problem.
pub fn report(error: &Error) -> Exit {
    let asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if !asked_for && env::args_os().any(|arg| arg == "--json") {
        let mut out = Output::new(Format::Json);
        return failure(error).report(&mut out);
    }
    // Printing fails if the reader stops early, as `head` does.
    let _ = error.print();
    if asked_for { Exit::Done } else { Exit::Usage }
}

/// Returns the parser's message as a failure. Its first paragraph is the problem; the rest is
/// advice and a synopsis.
fn failure(error: &Error) -> Failure {
    let text = error.render().to_string();
    let text = text.trim_start().strip_prefix("error: ").unwrap_or(&text);
    let (message, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    let tip = rest
        .lines()
        .find_map(|line| line.trim().strip_prefix("tip: "));
    Failure::usage(lines.join(" ")).with_hint(tip.unwrap_or("`airlock help` shows what there is"))
}

/// Returns the failure of a command for authors of tools, if the program was built without them.
#[cfg(not(feature = "author"))]
pub fn without_author() -> Failure {
    let message = "this airlock was built without `new`, `build` and `test` (its feature `author`)";
    Failure::usage(message)
        .with_hint("running tools doesn't need them; to write tools, build it with that feature")
}
