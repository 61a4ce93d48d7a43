//! `airlock completions`: a script for a shell.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::failure::{Exit, Failure};
use crate::output::Output;

pub fn print(args: &CompletionsArgs, out: &mut Output) -> Result<Exit, Failure> {
    // Not straight to standard output: the generator panics where it can't write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "airlock", &mut script);
    out.write(String::from_utf8_lossy(&script).trim_end());
    Ok(Exit::Done)
}
