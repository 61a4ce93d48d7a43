//! The program `airlock`: runs WebAssembly tools from a shell, and asks before they have an effect.

mod args;
mod bundled;
mod commands;
mod completions;
mod failure;
mod history;
mod input;
mod inspect;
mod interrupt;
mod left;
mod load;
mod log;
mod output;
mod pending;
mod plugins;
mod progress;
mod resolve;
mod run;
mod show;
mod size;
mod stage;
mod store_commands;
mod style;
mod time;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
#[cfg(feature = "author")]
use crate::commands::author;
use crate::failure::{Exit, Failure};
use crate::output::Output;

fn main() -> ExitCode {
    // Where the program was started by itself, to compile a component or to parse sources, these don't return.
    #[cfg(unix)]
    airlock_host::compiler_main();
    #[cfg(all(unix, feature = "ast-edit"))]
    airlock_ast_edit::parser_main();
    match Cli::try_parse() {
        Ok(cli) => run(cli).into(),
        Err(error) => usage::report(&error).into(),
    }
}

fn run(cli: Cli) -> Exit {
    cli.color.use_everywhere();
    log::start(cli.verbose);
    let mut out = Output::new(cli.command.format());
    let done = match &cli.command {
        Command::Run(args) => block_on(run::run(args, cli.verbose, &mut out)),
        Command::Pending(args) => block_on(pending::list(args, &mut out)),
        Command::Show(args) => block_on(show::show(args, &mut out)),
        Command::Resolve(args) => block_on(resolve::resolve(args, cli.verbose, &mut out)),
        Command::Log(args) => block_on(history::list(args, &mut out)),
        Command::Store(command) => block_on(store_commands::run(command, &mut out)),
        Command::Inspect(args) => block_on(inspect::inspect(args, cli.verbose, &mut out)),
        #[cfg(feature = "author")]
        Command::New(args) => author::new::new(args, &mut out),
        #[cfg(feature = "author")]
        Command::Build(args) => block_on(author::build::build(args, cli.verbose, &mut out)),
        #[cfg(feature = "author")]
        Command::Test(args) => block_on(author::test::test(args, cli.verbose, &mut out)),
        #[cfg(not(feature = "author"))]
        Command::Author(_) => Err(usage::without_author()),
        Command::Plugins(_) => plugins::list(&mut out),
        Command::Completions(args) => completions::print(args, &mut out),
    };
    let done = done.unwrap_or_else(|failure| failure.report(&mut out));
    match out.finish() {
        Ok(()) => done,
        Err(failure) => failure.report_on_stderr(),
    }
}

fn block_on<F>(command: F) -> Result<Exit, Failure>
where
    F: Future<Output = Result<Exit, Failure>>,
{
    // Guests run on this thread; the other one wakes it when time is up or Ctrl-C is pressed.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Failure::host(format!("could not start the runtime: {error}")))?;
    let done = runtime.block_on(command);
    // A plugin that is being compiled, or a line that is being read, can't be interrupted and need not be waited for.
    runtime.shutdown_background();
    done
}
