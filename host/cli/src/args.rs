//! What the command line may say, and the help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgAction, Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::output::Format;
use crate::style::ColorWhen;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the tool or the resolution reported an error
  2    usage: the command line, or params that are not JSON or don't fit the tool's schema
  3    the plugin could not be loaded
  4    the tool hit a limit or crashed
  130  interrupted by Ctrl-C";

const HELP: &str = "\
Examples:
  airlock run batch-rename '{\"files\": [\"*.jpeg\"], \"find\": \"jpeg$\", \"replace\": \"jpg\"}'
  airlock inspect ./my_plugin.wasm
  airlock help run";

const LONG_HELP: &str = "\
Environment:
  NO_COLOR           where set, no colours
  AIRLOCK_CACHE_DIR  the folder for compiled plugins; default: airlock/ in the user's cache folder";

const RUN_EXAMPLES: &str = "\
Examples:
  Preview, and be asked what to do:
    airlock run batch-rename '{\"files\": [\"*.jpeg\"], \"find\": \"jpeg$\", \"replace\": \"jpg\"}'

  Preview and apply, in another directory, with params from a file:
    airlock run batch-rename @params.json --workspace ~/photos --apply 'I read the list'

  A plugin of your own that has several tools, between two programs:
    make-params | airlock run ./my_plugin.wasm my_tool - --json | jq .pending";

const INSPECT_EXAMPLES: &str = "\
Examples:
  What does it do, and what does it get?
    airlock inspect ./my_plugin.wasm

  The JSON Schema of its first tool's params:
    airlock inspect batch-rename --json | jq '.tools[0].parameters'";

const PLUGINS_EXAMPLES: &str = "\
Examples:
  airlock plugins
  airlock inspect batch-rename";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  airlock completions bash > ~/.local/share/bash-completion/completions/airlock
  airlock completions zsh > ~/.zfunc/_airlock
  airlock completions fish > ~/.config/fish/completions/airlock.fish";

/// Runs WebAssembly tools that can't have an effect before you decided.
///
/// A tool first makes a preview, during which it can't change a file. What it would do is pending until you apply or discard it.
#[derive(Debug, Parser)]
#[command(name = "airlock", version, arg_required_else_help = true)]
#[command(after_help = HELP, after_long_help = format!("{HELP}\n\n{EXIT_CODES}\n\n{LONG_HELP}"))]
pub struct Cli {
    /// Show on standard error what the tool and the host log; -vv and -vvv show more
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
    Inspect(InspectArgs),
    Plugins(PluginsArgs),
    Completions(CompletionsArgs),
}

/// Call a tool, and decide about what it wants to do
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES, after_long_help = format!("{RUN_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct RunArgs {
    /// A component's file, or the name of a bundled plugin (see `airlock plugins`)
    #[arg(value_hint = ValueHint::FilePath)]
    pub plugin: OsString,

    /// The tool's name; may be left out where the plugin has one tool
    pub tool: Option<String>,

    /// The tool's parameters: JSON, `@FILE`, or `-` for standard input [default: {}]
    pub params: Option<String>,

    /// The directory that the tool may read, and change when applied
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub workspace: PathBuf,

    /// The session's name [default: made from the workspace's path]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,

    /// The most that a call may take [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// The most memory that the tool may use [default: 256]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_memory: Option<u32>,

    /// Apply all that becomes pending, without asking
    #[arg(long, value_name = "REASON", conflicts_with = "discard")]
    pub apply: Option<String>,

    /// Discard all that becomes pending, without asking
    #[arg(long, value_name = "REASON")]
    pub discard: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Show a plugin's tools, and what it would be granted
#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub struct InspectArgs {
    /// A component's file, or the name of a bundled plugin (see `airlock plugins`)
    #[arg(value_hint = ValueHint::FilePath)]
    pub plugin: OsString,

    /// Print one JSON object, with the full schemas
    #[arg(long)]
    pub json: bool,
}

/// List the plugins that come with this program
#[derive(Debug, Args)]
#[command(after_help = PLUGINS_EXAMPLES)]
pub struct PluginsArgs {
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

impl Command {
    pub fn format(&self) -> Format {
        let json = match self {
            Command::Run(args) => args.json,
            Command::Inspect(args) => args.json,
            Command::Plugins(args) => args.json,
            Command::Completions(_) => false,
        };
        match json {
            true => Format::Json,
            false => Format::Text,
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text
        .parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match duration {
        Some(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("expected a number of seconds above 0, such as 90 or 0.5".to_owned()),
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

    #[test]
    fn a_timeout_is_a_positive_number_of_seconds() {
        let check = |text, expected: Option<f64>| {
            assert_eq!(
                seconds(text).ok(),
                expected.map(Duration::from_secs_f64),
                "{text}"
            );
        };
        check("90", Some(90.0));
        check("0.5", Some(0.5));
        check("0", None);
        check("-1", None);
        check("NaN", None);
        check("inf", None);
        check("1e300", None);
        check("soon", None);
    }
}
