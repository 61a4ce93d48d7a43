//! A line of `run`. The tool's params are options of it, so its plugin is loaded before the line is
//! parsed.

use std::ffi::OsString;

use airlock_desk::configuration::{OperatorFiles, Settings};
use airlock_desk::lock::Locks;
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

/// A line of `run`.
pub struct RunLine {
    words: Vec<OsString>,
    /// The arguments as far as they can be read without the plugin: a hint of what to load. The
    /// whole line decides.
    hint: RunArgs,
    pub color: ColorWhen,
    pub verbose: u8,
}

impl RunLine {
    /// Returns the line if these words seem to be one of `run` that names a plugin.
    pub fn of(words: &[OsString]) -> Option<Self> {
        let cli = Cli::from_arg_matches(&host_part(words)?).ok()?;
        match cli.command {
            super::Command::Run(hint) => Some(Self {
                words: words.to_vec(),
                hint,
                color: cli.color,
                verbose: cli.verbose,
            }),
            _ => None,
        }
    }

    pub fn format(&self) -> Format {
        if self.hint.json {
            Format::Json
        } else {
            Format::Text
        }
    }

    /// Loads the plugin, parses the line, and runs it.
    ///
    /// # Errors
    /// Those of `run`.
    pub async fn run(self, out: &mut Output) -> Result<Exit, Failure> {
        // A mistake before the first option of the tool is reported without the plugin.
        if let Err(error) = parse(&self.words, None)
            && !matches!(
                error.kind(),
                ErrorKind::UnknownArgument | ErrorKind::DisplayHelp
            )
        {
            return Ok(usage::report(&error));
        }
        let (interrupt, progress) = (Interrupt::watch(), Progress::new(self.verbose));
        let load = |plugin: OsString, locks: Locks, limits: Limits| {
            let (interrupt, progress) = (interrupt.clone(), progress.clone());
            async move { load::load(&plugin, &locks, limits, &interrupt, &progress).await }
        };
        // Help needs no configuration, and the hint may name a wrong one.
        let config = OperatorFiles::new(self.hint.store.config.clone());
        let settings = self.hint.settings(&config);
        let limits = (settings.as_ref()).map_or_else(|_| Limits::default(), Settings::limits);
        let locks = match &settings {
            Ok(settings) => settings.locks.clone(),
            Err(_) => config.locks().unwrap_or_default(),
        };
        let loaded = match load(self.hint.plugin.clone(), locks, limits.clone()).await {
            Ok(loaded) => loaded,
            Err(failure) => {
                // A lock with errors hides installed plugins.
                settings?;
                return Err(failure);
            }
        };
        let word = self.hint.tool.as_deref();
        let word = word.filter(|word| !call::is_params(word));
        let tool = call::definition(&loaded, &self.hint.plugin, word);
        let options = tool.as_ref().map(|tool| options_of(tool));
        let parsed = parse(&self.words, options.as_ref().ok());
        if let Err(error) = &parsed
            && error.kind() == ErrorKind::DisplayHelp
        {
            return Ok(self.help(tool.ok(), &loaded));
        }
        tool?;
        let (args, given) = match parsed {
            Ok(parsed) => parsed?,
            Err(error) => return Ok(usage::report(&error)),
        };
        let (config, settings) = if args.given() == self.hint.given() {
            (config, settings?)
        } else {
            let config = OperatorFiles::new(args.store.config.clone());
            let settings = args.settings(&config)?;
            (config, settings)
        };
        // An engine is created for its limits. Those of the hint can be wrong, because a value of a
        // tool's option can look like an option of `run`.
        let loaded = if settings.limits() == limits {
            loaded
        } else {
            load(
                args.plugin.clone(),
                settings.locks.clone(),
                settings.limits(),
            )
            .await?
        };
        let mut request = args.request(config, settings);
        request.given = given;
        run::run(&request, loaded, self.verbose, out).await
    }

    /// Prints the usage of `run`, the tool's params, and then the options of all tools. Without a
    /// tool, prints the names of the plugin's tools instead of params.
    fn help(&self, tool: Option<&ToolDefinition>, loaded: &Loaded) -> Exit {
        let out = &mut Output::new(Format::Text);
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

    /// Prints the parts of `run`'s own help that the template names. The examples aren't among
    /// them, because they are of other tools.
    fn show_help(&self, template: &'static str) {
        let command = Cli::command().mut_subcommand("run", |run| run.help_template(template));
        if let Err(help) = command.try_get_matches_from(&self.words) {
            usage::report(&help);
        }
    }
}

/// Parses a whole line against one command: Airlock's options, and those of the tool.
fn parse(
    words: &[OsString],
    options: Option<&ToolOptions>,
) -> Result<Result<(RunArgs, Vec<Given>), Failure>, clap::Error> {
    let command = Cli::command().mut_subcommand("run", |run| match options {
        Some(options) => options.add_to(run, false),
        None => run,
    });
    let matches = command.try_get_matches_from(words)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let (super::Command::Run(args), Some(run)) = (cli.command, matches.subcommand_matches("run"))
    else {
        let message = "it is no line of `run`";
        return Err(Cli::command().error(ErrorKind::InvalidSubcommand, message));
    };
    let given = options.map_or_else(|| Ok(Vec::new()), |options| options.read(run));
    Ok(given.map(|given| (args, given)))
}

/// Returns the options of a tool, in addition to those of `run`.
pub fn options_of(tool: &ToolDefinition) -> ToolOptions {
    let mut command = Cli::command();
    command.build();
    match command.find_subcommand("run") {
        Some(run) => ToolOptions::of(tool, run),
        None => ToolOptions::of(tool, &Command::new("run")),
    }
}

/// Returns the plugin, the tool and Airlock's options of a line of `run`, as far as they can be
/// distinguished from the tool's options and their values.
pub fn host_part(words: &[OsString]) -> Option<ArgMatches> {
    let mut command = Cli::command();
    command.build();
    let run = command.find_subcommand("run")?;
    let at = words.iter().skip(1).position(|word| word == "run")? + 1;
    let mut known = words[..=at].to_vec();
    let mut rest = words[at + 1..].iter();
    let mut is_of_tool = false;
    while let Some(word) = rest.next() {
        match Word::of(word, run) {
            Word::Help => {}
            Word::Own(takes_value) => {
                known.push(word.clone());
                if takes_value {
                    known.extend(rest.next().cloned());
                }
            }
            Word::Unknown => is_of_tool = true,
            // It may be a value of the tool's option.
            Word::Free if is_of_tool => {}
            Word::Free => known.push(word.clone()),
            Word::End if is_of_tool => break,
            Word::End => {
                known.push(word.clone());
                known.extend(rest.by_ref().cloned());
            }
        }
    }
    let command = Cli::command().ignore_errors(true);
    let matches = command.try_get_matches_from(known).ok()?;
    let run = matches.subcommand_matches("run")?;
    run.try_get_one::<OsString>("plugin").ok()??;
    Some(matches)
}

/// A word of a line of `run`.
enum Word {
    Help,
    /// An option of `run`. True if the next word is its value.
    Own(bool),
    /// An option of the tool.
    Unknown,
    /// A value of an option, the plugin, the tool, or its params.
    Free,
    /// The separator `--`. The words after it are free.
    End,
}

impl Word {
    fn of(word: &OsString, run: &Command) -> Self {
        let text = word.to_string_lossy();
        if text == "--" {
            return Word::End;
        }
        if is_help(word) {
            return Word::Help;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (long, has_value) = match long.split_once('=') {
                Some((long, _)) => (long, true),
                None => (long, false),
            };
            let own = run.get_arguments().find(|it| it.get_long() == Some(long));
            return own.map_or(Word::Unknown, |arg| {
                Word::Own(!has_value && arg.get_action().takes_values())
            });
        }
        let is_flag = |letter: char| {
            let mut args = run.get_arguments();
            args.any(|it| it.get_short() == Some(letter) && !it.get_action().takes_values())
        };
        match text.strip_prefix('-') {
            Some(letters) if !letters.is_empty() && letters.chars().all(is_flag) => {
                Word::Own(false)
            }
            _ => Word::Free,
        }
    }
}

fn is_help(word: &OsString) -> bool {
    word == "--help" || word == "-h"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_part_of_a_line_is_read_without_the_plugin() {
        let check = |line: &str, expected: Option<(&str, Option<&str>, Option<u32>, bool)>| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let line = RunLine::of(&words);
            let read = line.as_ref().map(|line| {
                let args = &line.hint;
                let plugin = args.plugin.to_str().unwrap();
                let (tool, memory) = (args.tool.as_deref(), args.call.max_memory);
                (plugin, tool, memory, args.json)
            });
            assert_eq!(read, expected, "{words:?}");
        };
        check("airlock run", None);
        check("run pending", None);
        check("airlock pending", None);
        check("airlock run --help", None);
        check("airlock help run", None);
        check("airlock run p", Some(("p", None, None, false)));
        check("airlock run p --help", Some(("p", None, None, false)));
        check("airlock run -h p t", Some(("p", Some("t"), None, false)));
        let expected = Some(("p", Some("t"), None, true));
        check("airlock -v run --json p t", expected);
        check("airlock run -vv --json -- p t", expected);
        check(
            "airlock run p --files a b --max-memory 16 --json",
            Some(("p", None, Some(16), true)),
        );
        check(
            "airlock run --max-memory=8 p t --text x {}",
            Some(("p", Some("t"), Some(8), false)),
        );
        check(
            "airlock run p --text -vx -- t",
            Some(("p", None, None, false)),
        );
        check("airlock run p -- t", Some(("p", Some("t"), None, false)));
    }
}
