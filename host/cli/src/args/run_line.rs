//! A line of `run`. The tool's params are options of it, so its plugin is loaded before the line is
//! parsed.

use std::ffi::OsString;

use airlock_desk::plugin::Loaded;
use airlock_host::tool::ToolDefinition;
use airlock_render::{Block, Line};
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, Parser};

use super::tool_options::ToolOptions;
use super::usage;
use super::{Cli, RunArgs};
use crate::commands::params::given::Given;
use crate::commands::run::{self, call};
use crate::failure::{Exit, Failure};
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Format, Output};
use crate::terminal::progress::Progress;
use crate::terminal::style;

/// A line of `run` and the part of it that doesn't depend on the plugin.
pub struct RunLine {
    words: Vec<OsString>,
    /// The arguments without the tool's params.
    args: RunArgs,
    wants_help: bool,
    verbose: u8,
}

impl RunLine {
    /// Returns the line if these words are one of `run` that names a plugin.
    ///
    /// # Errors
    /// If an option of `run` is wrong.
    pub fn of(words: &[OsString]) -> Result<Option<Self>, clap::Error> {
        let Some(host_words) = host_words(words) else {
            return Ok(None);
        };
        let cli = Cli::try_parse_from(host_words)?;
        let super::Command::Run(args) = cli.command else {
            return Ok(None);
        };
        style::use_everywhere(cli.color.into());
        Ok(Some(Self {
            args,
            wants_help: words.iter().any(is_help),
            verbose: cli.verbose,
            words: words.to_vec(),
        }))
    }

    pub fn verbose(&self) -> u8 {
        self.verbose
    }

    pub fn format(&self) -> Format {
        if self.args.json && !self.wants_help {
            Format::Json
        } else {
            Format::Text
        }
    }

    /// Loads the plugin, parses the line, and runs it.
    ///
    /// # Errors
    /// As `run`.
    pub async fn run(self, out: &mut Output) -> Result<Exit, Failure> {
        let (interrupt, progress) = (Interrupt::watch(), Progress::new(self.verbose));
        let settings = self.args.settings()?;
        let plugin = &self.args.plugin;
        let loaded = load::load(plugin, settings.limits(), &interrupt, &progress).await?;
        let word = self.args.tool.as_deref();
        let word = word.filter(|word| !call::is_params(word));
        let tool = call::definition(&loaded, plugin, word);
        if self.wants_help {
            return Ok(self.help(tool.ok(), &loaded, out));
        }
        let (args, given) = match parse(&self.words, &options_of(tool?)) {
            Ok(parsed) => parsed?,
            Err(error) => return Ok(usage::report(&error)),
        };
        let mut request = args.request(settings);
        request.given = given;
        run::run(&request, loaded, self.verbose, out).await
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

/// Parses a whole line against one command: the host's options, and those of the tool.
fn parse(
    words: &[OsString],
    options: &ToolOptions,
) -> Result<Result<(RunArgs, Vec<Given>), Failure>, clap::Error> {
    let command = Cli::command().mut_subcommand("run", |run| options.add_to(run, false));
    let matches = command.try_get_matches_from(words)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let (super::Command::Run(args), Some(run)) = (cli.command, matches.subcommand_matches("run"))
    else {
        let message = "it is no line of `run`";
        return Err(Cli::command().error(ErrorKind::InvalidSubcommand, message));
    };
    Ok(options.read(run).map(|given| (args, given)))
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

/// Returns the plugin, the tool and the host's options of a line of `run`, as far as they can be
/// read.
pub fn host_part(words: &[OsString]) -> Option<ArgMatches> {
    let command = Cli::command().ignore_errors(true);
    command.try_get_matches_from(host_words(words)?).ok()
}

/// Returns the words of a line of `run` with a plugin that are not the tool's options. A word after
/// such an option may be its value, and is never taken for the tool.
fn host_words(words: &[OsString]) -> Option<Vec<OsString>> {
    let mut command = Cli::command();
    command.build();
    let at = words.iter().position(|word| word == "run")?;
    let run = command.find_subcommand("run")?;
    let mut known = words[..=at].to_vec();
    let mut rest = words[at + 1..].iter();
    let (mut has_plugin, mut is_of_tool) = (false, false);
    while let Some(word) = rest.next() {
        match option_of(run, word) {
            Word::Own(takes_value) => {
                known.push(word.clone());
                if takes_value {
                    known.extend(rest.next().cloned());
                }
            }
            _ if is_help(word) => {}
            Word::Free if is_of_tool => {}
            Word::Free => {
                has_plugin = true;
                known.push(word.clone());
            }
            Word::Unknown => is_of_tool = true,
            Word::End => break,
        }
    }
    let is_run = words[1..at]
        .iter()
        .all(|word| !is_subcommand(&command, word));
    (has_plugin && is_run).then_some(known)
}

/// Returns whether a word before `run` is the command, such as `help` or `completions`.
fn is_subcommand(command: &Command, word: &OsString) -> bool {
    let named = |it: &Command| it.get_name() == word || it.get_all_aliases().any(|it| it == word);
    word == "help" || command.get_subcommands().any(named)
}

/// A word of a line of `run`.
enum Word {
    /// An option of `run`. True if the next word is its value.
    Own(bool),
    /// An option of the tool.
    Unknown,
    /// A value of an option, the plugin, the tool, or its params.
    Free,
    /// All words from here on are free.
    End,
}

fn option_of(run: &Command, word: &OsString) -> Word {
    let Some(word) = word.to_str() else {
        return Word::Free;
    };
    if word == "--" {
        return Word::End;
    }
    let takes_value = |arg: &Arg| arg.get_action().takes_values();
    if let Some(long) = word.strip_prefix("--") {
        let (long, value) = match long.split_once('=') {
            Some((long, value)) => (long, Some(value)),
            None => (long, None),
        };
        let own = run.get_arguments().find(|it| it.get_long() == Some(long));
        return own.map_or(Word::Unknown, |arg| {
            Word::Own(value.is_none() && takes_value(arg))
        });
    }
    match word.strip_prefix('-').and_then(|word| word.chars().next()) {
        Some(short) => {
            let own = run.get_arguments().any(|it| it.get_short() == Some(short));
            if own { Word::Own(false) } else { Word::Free }
        }
        None => Word::Free,
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
            let line = RunLine::of(&words).unwrap();
            let read = line.as_ref().map(|line| {
                let args = &line.args;
                let plugin = args.plugin.to_str().unwrap();
                let (tool, memory) = (args.tool.as_deref(), args.call.max_memory);
                (plugin, tool, memory, args.json)
            });
            assert_eq!(read, expected, "{words:?}");
        };
        check("airlock run", None);
        check("airlock pending", None);
        check("airlock run --help", None);
        check("airlock help run p", None);
        check("airlock inspect run p", None);
        check("airlock run p", Some(("p", None, None, false)));
        check(
            "airlock -v run --json p t",
            Some(("p", Some("t"), None, true)),
        );
        check(
            "airlock run p --files a b --max-memory 16 --json",
            Some(("p", None, Some(16), true)),
        );
        check(
            "airlock run --max-memory=8 p t --text x {}",
            Some(("p", Some("t"), Some(8), false)),
        );
        check("airlock run p -- --json", Some(("p", None, None, false)));
    }

    #[test]
    fn a_wrong_option_of_run_is_reported_before_the_tools_options() {
        let words = [
            "airlock",
            "run",
            "p",
            "--files",
            "a",
            "--max-memory",
            "much",
        ];
        let error = RunLine::of(&words.map(Into::into)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::ValueValidation);
    }
}
