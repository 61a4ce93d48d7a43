//! A line of `run` with options that only the tool has: the plugin must be loaded to read it.

use std::ffi::OsString;

use airlock_desk::plugin::Loaded;
use airlock_host::Limits;
use airlock_host::tool::ToolDefinition;
use airlock_render::{Block, Line};
use clap::error::ErrorKind;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use super::tool_options::ToolOptions;
use super::usage;
use super::values::ColorWhen;
use super::{Cli, RunArgs};
use crate::commands::params::given::Given;
use crate::commands::run::{self, call};
use crate::failure::{Exit, Failure};
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Format, Output};
use crate::terminal::progress::Progress;

/// Such a line, as far as it is understood without the plugin.
pub struct RunLine {
    words: Vec<OsString>,
    plugin: OsString,
    /// What stands behind it: the tool, or its params.
    second: Option<String>,
    wants_help: bool,
    pub is_json: bool,
    pub verbose: u8,
    pub color: ColorWhen,
}

impl RunLine {
    /// The line, where the parser stopped at what may be a tool's option, or was asked for the help
    /// of a plugin's.
    pub fn of(words: Vec<OsString>, error: &clap::Error) -> Option<Self> {
        let wants_help = error.kind() == ErrorKind::DisplayHelp;
        (wants_help || error.kind() == ErrorKind::UnknownArgument).then_some(())?;
        let matches = lenient(&words)?;
        let run = matches.subcommand_matches("run")?;
        Some(Self {
            plugin: run.get_one::<OsString>("plugin")?.clone(),
            second: run.get_one::<String>("tool").cloned(),
            wants_help,
            is_json: words.iter().any(|word| word == "--json"),
            verbose: run.get_count("verbose"),
            color: run.get_one("color").copied().unwrap_or(ColorWhen::Auto),
            words,
        })
    }

    pub fn format(&self) -> Format {
        if self.is_json && !self.wants_help {
            Format::Json
        } else {
            Format::Text
        }
    }

    /// Loads the plugin, and does what the line says.
    ///
    /// # Errors
    /// As `run`.
    pub async fn run(self, out: &mut Output) -> Result<Exit, Failure> {
        let (interrupt, progress) = (Interrupt::watch(), Progress::new(self.verbose));
        let limits = Limits::default();
        let loaded = load::load(&self.plugin, limits.clone(), &interrupt, &progress).await?;
        let word = self.second.as_deref().filter(|word| !call::is_params(word));
        let tool = call::definition(&loaded, &self.plugin, word);
        if self.wants_help {
            return Ok(self.help(tool.ok(), &loaded, out));
        }
        let (args, given, verbose) = match read(&self.words, &options_of(tool?)) {
            Ok(read) => read?,
            Err(error) => return Ok(usage::report(&error)),
        };
        // What an engine has room for depends on its limits.
        let mut request = args.request()?;
        let loaded = (request.limits == limits).then_some(loaded);
        request.given = given;
        run::run(&request, loaded, verbose, out).await
    }

    /// The usage of `run`, the tool's params, and then the options of all tools. Without a tool,
    /// the names of those that there are.
    fn help(&self, tool: Option<&ToolDefinition>, loaded: &Loaded, out: &mut Output) -> Exit {
        self.show_help("{about-with-newline}\n{usage-heading} {usage}\n");
        out.line("");
        match tool {
            Some(tool) => out.show(&options_of(tool).described()),
            None => {
                let heading = "Tools, each with its own params:";
                let tools = loaded
                    .tools()
                    .into_iter()
                    .filter(|tool| !tool.traits.hidden);
                let block = tools.fold(Block::new().line(heading), |block, tool| {
                    block.block(Block::from(Line::from(&*tool.name)).quoted())
                });
                out.show(&block);
            }
        }
        out.line("");
        self.show_help("{all-args}");
        Exit::Done
    }

    /// The parts of `run`'s own help that the template names. Its examples are of other tools.
    fn show_help(&self, template: &'static str) {
        let command = Cli::command().mut_subcommand("run", |run| run.help_template(template));
        if let Err(help) = command.try_get_matches_from(&self.words) {
            usage::report(&help);
        }
    }
}

/// What a whole line says; the last is how much of the log is shown.
type Read = Result<(RunArgs, Vec<Given>, u8), Failure>;

fn read(words: &[OsString], options: &ToolOptions) -> Result<Read, clap::Error> {
    let command = Cli::command().mut_subcommand("run", |run| options.add_to(run, false));
    let matches = command.try_get_matches_from(words)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let (super::Command::Run(args), Some(run)) = (cli.command, matches.subcommand_matches("run"))
    else {
        let message = "it is no line of `run`";
        return Err(Cli::command().error(ErrorKind::InvalidSubcommand, message));
    };
    Ok(options.read(run).map(|given| (args, given, cli.verbose)))
}

/// The options of a tool beside those of `run`.
pub fn options_of(tool: &ToolDefinition) -> ToolOptions {
    let mut command = Cli::command();
    command.build();
    match command.find_subcommand("run") {
        Some(run) => ToolOptions::of(tool, run),
        None => ToolOptions::of(tool, &Command::new("run")),
    }
}

/// What can be understood of a line up to the first word that can't.
pub fn lenient(words: &[OsString]) -> Option<ArgMatches> {
    let words = words
        .iter()
        .filter(|word| *word != "--help" && *word != "-h");
    let command = Cli::command().ignore_errors(true);
    command.try_get_matches_from(words).ok()
}
