//! The program `airlock`: runs WebAssembly tools from a shell, and asks before they have an effect.

mod args;
mod bundled;
mod commands;
mod documents;
mod exit;
mod failure;
mod input;
mod load;
mod rules;
mod terminal;

use std::env;
use std::ffi::OsString;
#[cfg(feature = "serve")]
use std::num::NonZeroUsize;
use std::process::ExitCode;
#[cfg(feature = "serve")]
use std::thread::available_parallelism;

use airlock_desk::configuration::OperatorFiles;
use airlock_host::Limits;
use airlock_host::pending::Decision;
use clap::Parser;
use tokio::runtime::Runtime;

use crate::args::run_line::RunLine;
use crate::args::{Cli, Command, PolicyCommand};
#[cfg(feature = "author")]
use crate::commands::author;
#[cfg(feature = "serve")]
use crate::commands::serve;
use crate::commands::{
    audit, config, doctor, inspect, install, installed, log, pending, plugins, policy, push,
    refresh, resolve, show, store, undo, update,
};
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

fn main() -> ExitCode {
    // If the program started itself to compile a component or to parse sources, these calls don't
    // return.
    #[cfg(unix)]
    airlock_host::compile::compiler_main();
    #[cfg(all(unix, feature = "ast-edit"))]
    airlock_ast_edit::parser_main();
    airlock_host::memory::limit_arenas();
    if args::completing::answer() {
        return Exit::Done.into();
    }
    let exit = match args::command_line::expanded(env::args_os().collect()) {
        Ok(words) => answer_words(&words),
        Err(error) => args::usage::report(&error),
    };
    exit.into()
}

fn answer_words(words: &[OsString]) -> Exit {
    match RunLine::of(words) {
        Some(line) => answer_line(line),
        None => match Cli::try_parse_from(words) {
            Ok(cli) => answer(cli),
            Err(error) => args::usage::report(&error),
        },
    }
}

fn answer_line(line: RunLine) -> Exit {
    terminal::style::use_everywhere(line.color.into());
    terminal::log::start(line.verbose);
    let mut out = Output::new(line.format());
    let done = block_on(line.run(&mut out));
    finish(done, out)
}

fn answer(cli: Cli) -> Exit {
    terminal::style::use_everywhere(cli.color.into());
    terminal::log::start(cli.verbose);
    let mut out = Output::new(cli.command.format());
    let done = dispatch(cli.command, cli.verbose, &mut out);
    finish(done, out)
}

fn finish(done: Result<Exit, Failure>, mut out: Output) -> Exit {
    let done = done.unwrap_or_else(|failure| failure.report(&mut out));
    match out.finish() {
        Ok(()) => done,
        Err(error) => {
            let message = format!("could not write the output: {error}");
            Failure::host(message).report_on_stderr()
        }
    }
}

/// Runs a command. From here on, the code handles requests and not the command line.
fn dispatch(command: Command, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    match command {
        // `RunLine` has all lines that name a plugin.
        Command::Run(_) => Err(Failure::usage("`run` needs a plugin")),
        Command::Pending(args) => block_on(pending::list(&args.request(verbose > 0)?, out)),
        Command::Policy(PolicyCommand::Explain(args)) => {
            block_on(policy::explain(&args.id, &args.store.into(), verbose, out))
        }
        Command::Show(args) if args.patch => {
            block_on(show::patch(&args.id, &args.store.into(), verbose, out))
        }
        Command::Show(args) => block_on(show::show(&args.id, &args.store.into(), verbose, out)),
        Command::Resolve(args) => block_on(resolve::resolve(&args.request()?, verbose, out)),
        Command::Apply(args) => {
            let request = args.request(Decision::Apply)?;
            block_on(resolve::resolve(&request, verbose, out))
        }
        Command::Discard(args) => {
            let request = args.request(Decision::Discard)?;
            block_on(resolve::resolve(&request, verbose, out))
        }
        Command::Refresh(args) => block_on(refresh::refresh(&args.request()?, verbose, out)),
        Command::Undo(args) => block_on(undo::undo(&args.request()?, verbose, out)),
        Command::Log(args) => block_on(log::list(&args.request()?, out)),
        #[cfg(feature = "serve")]
        Command::Serve(args) => {
            let request = args.request()?;
            let threads = match request.http {
                Some(_) => available_parallelism().map_or(1, NonZeroUsize::get),
                None => 1,
            };
            block_on_threads(threads, serve::serve(request, verbose))
        }
        Command::Store(command) => block_on(store::run(&command.into(), out)),
        Command::Config(command) => config::run(&command.into(), out),
        Command::Inspect(args) => {
            let limits = args.call.limits_over(Limits::default());
            let config = args.config;
            block_on(inspect::inspect(&args.plugin, config, limits, verbose, out))
        }
        #[cfg(feature = "author")]
        Command::New(args) => block_on(author::new::new(args.into(), out)),
        #[cfg(feature = "author")]
        Command::Build(args) => block_on(author::build::build(&args.into(), verbose, out)),
        #[cfg(feature = "author")]
        Command::Test(args) => block_on(author::test::test(&args.into(), verbose, out)),
        #[cfg(not(feature = "author"))]
        Command::Author(_) => Err(args::usage::without_author()),
        Command::Install(args) => block_on(install::install(args.into(), verbose, out)),
        Command::Update(args) => block_on(update::update(args.into(), verbose, out)),
        Command::Uninstall(args) => installed::uninstall(&args.names, &args.lock.files(), out),
        Command::List(args) => installed::list(&args.lock.files(), out),
        Command::Push(args) => block_on(push::push(&args.try_into()?, verbose, out)),
        Command::Doctor(args) => block_on(doctor::doctor(&args.into(), verbose, out)),
        Command::Audit(args) => block_on(audit::audit(&args.into(), verbose, out)),
        Command::Plugins(args) => plugins::list(&OperatorFiles::new(args.config), out),
        Command::Completions(args) => {
            out.write(args::completing::script(args.shell)?);
            Ok(Exit::Done)
        }
        Command::Man(args) => args::manual::write(&args.folder, out),
    }
}

fn block_on<F>(command: F) -> Result<Exit, Failure>
where
    F: Future<Output = Result<Exit, Failure>>,
{
    // Guests run on the thread that waits for them. The other one wakes it at a timeout or Ctrl-C.
    block_on_threads(1, command)
}

/// Runs a command on a runtime with `threads` threads in addition to the one that waits.
fn block_on_threads<F>(threads: usize, command: F) -> Result<Exit, Failure>
where
    F: Future<Output = Result<Exit, Failure>>,
{
    let runtime = runtime(threads)?;
    let done = runtime.block_on(command);
    // Compiling a plugin or reading a line can't be interrupted, so don't wait for them.
    runtime.shutdown_background();
    done
}

fn runtime(threads: usize) -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(|error| Failure::host(format!("could not start the runtime: {error}")))
}
