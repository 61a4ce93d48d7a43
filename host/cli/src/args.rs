//! The arguments of the command line, and the help.

mod actions;
mod audit;
#[cfg(feature = "author")]
mod build;
pub mod command_line;
pub mod completing;
mod config;
pub mod configured;
mod doctor;
mod examples;
mod install;
mod log;
pub mod manual;
#[cfg(feature = "author")]
mod new;
mod policy;
pub mod run_line;
#[cfg(feature = "serve")]
mod serve;
mod shared;
mod store;
#[cfg(feature = "author")]
mod test;
mod tool_options;
mod undo;
pub mod usage;
pub mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use airlock_desk::configuration::{Given, Grant, GrantWord, OperatorFiles, Settings};
use airlock_desk::session::SessionChoice;
use airlock_desk::store::StoreOptions;
use airlock_host::pending::Decision;
use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand, ValueHint};
use clap_complete::{ArgValueCompleter, Shell};

use crate::commands::run;
use crate::failure::Failure;
use crate::terminal::output::Format;

use actions::{DecisionArgs, PendingArgs, RefreshArgs, ResolveArgs, ShowArgs};
use audit::AuditArgs;
#[cfg(feature = "author")]
use build::BuildArgs;
use completing::{Plugins, Tools};
use config::ConfigCommand;
use doctor::DoctorArgs;
use install::{InstallArgs, ListArgs, PushArgs, UninstallArgs, UpdateArgs};
use log::LogArgs;
use manual::ManualArgs;
#[cfg(feature = "author")]
use new::NewArgs;
pub use policy::PolicyCommand;
#[cfg(feature = "serve")]
use serve::ServeArgs;
use shared::{CallArgs, SessionArgs, StoreArgs};
use store::StoreCommand;
#[cfg(feature = "author")]
use test::TestArgs;
use undo::UndoArgs;
use values::{ColorWhen, RehearseWhen, age};

use examples::{
    APPLY_EXAMPLES, COMPLETIONS_EXAMPLES, DISCARD_EXAMPLES, EXIT_CODES, GRANTS, HELP,
    INSPECT_EXAMPLES, LEFT_OUT, LONG_HELP, NOTIFY, PLUGINS_EXAMPLES, RUN_EXAMPLES,
};

/// Runs WebAssembly tools that can't have an effect before you decide.
///
/// A tool first makes a preview, during which it can't change a file. What it would do is pending
/// until you apply or discard it: at once, or later with `airlock resolve`.
#[derive(Debug, Parser)]
#[command(name = "airlock", version, arg_required_else_help = true)]
#[command(after_help = HELP, after_long_help = format!("{HELP}\n\n{EXIT_CODES}\n\n{LONG_HELP}{LEFT_OUT}"))]
pub struct Cli {
    /// Log tools' messages, decisions and warnings on standard error; -vv and -vvv log more
    ///
    /// -vv adds what Airlock does, and -vvv all that its libraries do. Each line begins with the
    /// time in UTC and the level. `airlock pending` shows the previews too.
    #[arg(short, long, global = true, action = ArgAction::Count, display_order = 100)]
    pub verbose: u8,

    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        display_order = 101
    )]
    pub color: ColorWhen,

    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArgs),
    Pending(PendingArgs),
    Show(ShowArgs),
    Resolve(ResolveArgs),
    /// Apply a pending action: short for `airlock resolve apply`
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(DecisionArgs),
    /// Discard a pending action: short for `airlock resolve discard`
    #[command(after_help = DISCARD_EXAMPLES)]
    Discard(DecisionArgs),
    Refresh(RefreshArgs),
    Undo(UndoArgs),
    Log(LogArgs),
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Maintain the store in which pending actions are kept
    #[command(subcommand)]
    Store(StoreCommand),
    /// Check the operator's configuration, and show the settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Explain which rule decides about an action or a file
    #[command(subcommand)]
    Policy(PolicyCommand),
    Install(InstallArgs),
    Update(UpdateArgs),
    Uninstall(UninstallArgs),
    List(ListArgs),
    Inspect(InspectArgs),
    #[cfg(feature = "author")]
    New(NewArgs),
    #[cfg(feature = "author")]
    Build(BuildArgs),
    #[cfg(feature = "author")]
    Test(TestArgs),
    Push(PushArgs),
    Doctor(DoctorArgs),
    Audit(AuditArgs),
    #[cfg(not(feature = "author"))]
    #[command(name = "new", aliases = ["build", "test"], hide = true, disable_help_flag = true)]
    Author(LeftOut),
    Plugins(PluginsArgs),
    Completions(CompletionsArgs),
    #[command(hide = true)]
    Man(ManualArgs),
}

/// Call a tool, see the changes it proposes, and apply or discard them
///
/// No file in the workspace changes before you apply.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES, after_long_help = format!("{RUN_EXAMPLES}\n\n{GRANTS}\n\n{NOTIFY}\n\n{EXIT_CODES}"))]
#[command(group = ArgGroup::new("decision").args(["apply", "discard"]))]
pub struct RunArgs {
    /// A bundled or installed plugin (see `airlock plugins`), or a WebAssembly component's file
    #[arg(add = ArgValueCompleter::new(Plugins))]
    pub plugin: OsString,

    /// The tool's name, if the plugin has several
    #[arg(add = ArgValueCompleter::new(Tools))]
    pub tool: Option<String>,

    /// Run a program for WASI (`wasi:cli/command`) instead of a plugin; its arguments follow after
    /// `--`
    // `command_line` has replaced it in a line that names a program.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "plugin")]
    pub command: Option<OsString>,

    /// The tool's params: JSON, `@FILE`, or `-` for standard input. Or give each as an option, such
    /// as `--files '*.jpeg'`: `airlock run PLUGIN --help` lists them
    pub params: Option<String>,

    #[command(flatten)]
    pub session: SessionArgs,

    #[command(flatten)]
    pub call: CallArgs,

    /// Apply what the tool proposes without asking; the log keeps REASON
    #[arg(long, value_name = "REASON")]
    pub apply: Option<String>,

    /// Discard what the tool proposes without asking
    #[arg(long, value_name = "REASON")]
    pub discard: Option<String>,

    /// More data for the tool, with the reason of `--apply` or `--discard`: a JSON object, `@FILE`,
    /// or `-` for standard input
    #[arg(
        long,
        value_name = "JSON",
        allow_hyphen_values = true,
        requires = "decision"
    )]
    pub extra: Option<String>,

    /// Discard actions that are not resolved within AGE, such as 12h or 30d [default: never]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub expires: Option<Duration>,

    /// When to rehearse an action: Airlock applies it to a throwaway layer over the workspace, and
    /// shows what changes there [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub rehearse: Option<RehearseWhen>,

    /// What the plugin may do, in place of the configured grants (repeatable): read=PATH,
    /// change=PATH, environment=NAME, real-time, fresh-randomness. See `airlock help run`
    #[arg(long = "grant", value_name = "GRANT")]
    pub grants: Vec<GrantWord>,

    /// Ask again before an apply that could not be rehearsed changes a file, and show its changes
    #[arg(long)]
    pub confirm_effects: bool,

    /// A shell command to run when an action waits for a decision, or is decided elsewhere: see
    /// `airlock help run` [default: AIRLOCK_NOTIFY]
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Show a plugin's tools and permissions, or why it doesn't fit the world
#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub struct InspectArgs {
    /// A component's file, or the name of a bundled or installed plugin (see `airlock plugins`)
    #[arg(add = ArgValueCompleter::new(Plugins))]
    pub plugin: OsString,

    /// The operator's configuration file, instead of the user's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,

    /// Print one JSON object, with the full schemas
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub call: CallArgs,
}

/// List the plugins that have a name: those of this program, and installed ones
#[derive(Debug, Args)]
#[command(after_help = PLUGINS_EXAMPLES)]
pub struct PluginsArgs {
    /// The operator's configuration file, instead of the user's; airlock.lock is next to it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Print a script that completes this program's command lines in a shell
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

impl RunArgs {
    /// Returns the configuration file that these arguments name, and the settings that override
    /// those of the configuration.
    pub fn given(&self) -> (Option<&Path>, Given) {
        let given = Given {
            workspace: self.session.workspace.clone(),
            timeout: self.call.timeout,
            max_memory: self.call.memory_bytes(),
            expires: self.expires,
            rehearse: self.rehearse.map(Into::into),
            grant: Grant::of_words(self.grants.iter().cloned()),
            ..Given::default()
        };
        (self.store.config.as_deref(), given)
    }

    /// Returns the settings of these arguments and the configuration.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn settings(&self, config: &OperatorFiles) -> Result<Settings, Failure> {
        configured::settings(config, &self.given().1)
    }

    /// Returns the request, for this configuration and its [settings](Self::settings).
    pub fn request(self, config: OperatorFiles, settings: Settings) -> run::Request {
        let args = self;
        let apply = args.apply.map(|reason| (Decision::Apply, reason));
        let discard = args.discard.map(|reason| (Decision::Discard, reason));
        run::Request {
            plugin: args.plugin,
            tool: args.tool,
            params: args.params,
            given: Vec::new(),
            session: SessionChoice {
                workspace: settings.workspace.value.clone(),
                session: args.session.session,
            },
            settings,
            decision: apply.or(discard),
            stage: false,
            extra: args.extra,
            confirm_effects: args.confirm_effects,
            notify: args.notify,
            store: StoreOptions {
                store: args.store.store,
                config,
            },
        }
    }
}

/// This program was built without `new`, `build` and `test` (its feature `author`)
#[cfg(not(feature = "author"))]
#[derive(Debug, Args)]
pub struct LeftOut {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

impl Command {
    pub fn format(&self) -> Format {
        let json = match self {
            Command::Run(args) => args.json,
            Command::Pending(args) => args.json,
            Command::Show(args) => args.json,
            Command::Resolve(args) => args.decision.json,
            Command::Apply(args) | Command::Discard(args) => args.json,
            Command::Refresh(args) => args.json,
            Command::Undo(args) => args.json,
            Command::Log(args) => args.json,
            #[cfg(feature = "serve")]
            Command::Serve(_) => false,
            Command::Store(command) => command.json(),
            Command::Config(command) => command.json(),
            Command::Policy(PolicyCommand::Explain(args)) => args.json,
            Command::Install(args) => args.lock.json,
            Command::Update(args) => args.lock.json,
            Command::Uninstall(args) => args.lock.json,
            Command::List(args) => args.lock.json,
            Command::Push(args) => args.json,
            Command::Doctor(args) => args.json,
            Command::Audit(args) => args.json,
            Command::Inspect(args) => args.json,
            #[cfg(feature = "author")]
            Command::New(args) => args.json,
            #[cfg(feature = "author")]
            Command::Build(args) => args.json,
            #[cfg(feature = "author")]
            Command::Test(args) => args.json,
            #[cfg(not(feature = "author"))]
            Command::Author(left_out) => left_out.words.iter().any(|word| word == "--json"),
            Command::Plugins(args) => args.json,
            Command::Completions(_) | Command::Man(_) => false,
        };
        if json { Format::Json } else { Format::Text }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[cfg(not(feature = "author"))]
    #[test]
    fn commands_that_are_left_out_take_any_words() {
        let check = |line: &[&str], is_json| {
            let cli = Cli::try_parse_from(line).unwrap();
            assert!(matches!(cli.command, Command::Author(_)), "{line:?}");
            assert_eq!(cli.command.format() == Format::Json, is_json, "{line:?}");
        };
        check(&["airlock", "build"], false);
        check(&["airlock", "test", ".", "--tries", "5", "--json"], true);
        check(&["airlock", "new", "--help"], false);
        check(&["airlock", "build", "--watch", "--", "--locked"], false);
    }
}
