//! A tool's params as options of `run`, made from its schema.

use std::collections::{HashMap, HashSet};

use airlock_host::tool::ToolDefinition;
use airlock_render::{Block, escape_line};
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::commands::params::given::Given;
use crate::commands::params::table::{self, Row};
use crate::commands::params::typed::Typed;
use crate::commands::params::{self, Param, ParamPath, Part};
use crate::failure::Failure;

/// The options of a tool. A param whose name can't be an option's can only be given as JSON.
#[derive(Debug, Clone)]
pub struct ToolOptions {
    tool: String,
    options: Vec<ToolOption>,
    clashes: Vec<Clash>,
}

/// A param with the same name as one of the command's options.
#[derive(Debug, Clone)]
struct Clash {
    /// The id of the command's option.
    id: String,
    /// Its name, without the dashes.
    long: String,
    /// The name of the tool's option.
    instead: String,
}

#[derive(Debug, Clone)]
struct ToolOption {
    /// The name, without the dashes.
    long: String,
    /// The other names that are accepted.
    aliases: Vec<String>,
    param: Param,
}

impl ToolOptions {
    /// Returns the options of a tool, in addition to those of the command. Each takes the first
    /// name that is free: its own in kebab case, its own as it is, or `--param.NAME`.
    pub fn of(tool: &ToolDefinition, command: &Command) -> Self {
        let mut taken: HashSet<String> = command
            .get_arguments()
            .flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default())
            .map(str::to_owned)
            .collect();
        taken.extend(["help".to_owned(), "version".to_owned()]);
        // Global options belong to every command, and their positions aren't known.
        let own: HashMap<String, String> = command
            .get_arguments()
            .filter(|arg| !arg.is_global_set())
            .filter_map(|arg| Some((arg.get_long()?.to_owned(), arg.get_id().to_string())))
            .collect();
        let mut options: Vec<ToolOption> = Vec::new();
        let mut clashes = Vec::new();
        for param in params::of(&tool.parameters.value()) {
            let Some(name) = name_of(&param.place) else {
                continue;
            };
            let full = format!("param.{name}");
            let mut names = vec![kebab(&name), name, full];
            names.dedup();
            let clash = names.iter().find_map(|name| own.get_key_value(name));
            names.retain(|name| taken.insert(name.clone()));
            if names.is_empty() {
                continue;
            }
            clashes.extend(clash.map(|(long, id)| Clash {
                id: id.clone(),
                long: long.clone(),
                instead: names[0].clone(),
            }));
            options.push(ToolOption {
                long: names.remove(0),
                aliases: names,
                param,
            });
        }
        let tool = tool.name.clone();
        Self {
            tool,
            options,
            clashes,
        }
    }

    /// Returns the command with these options. Its help lists them only if `shown`, because its
    /// rows are the host's own text: see [`described`](Self::described).
    pub fn add_to(&self, command: Command, shown: bool) -> Command {
        let args = self.options.iter().flat_map(|option| option.args(!shown));
        command.args(args)
    }

    /// Returns the given values, in their order on the line.
    ///
    /// # Errors
    /// If a word is not a value of its param's type, or if an option is ambiguous.
    pub fn read(&self, matches: &ArgMatches) -> Result<Vec<Given>, Failure> {
        self.check_clashes(matches)?;
        let mut all: Vec<(usize, Given)> = Vec::new();
        for option in &self.options {
            let (id, negated) = (option.id(), option.negated());
            if let Some(mut indices) = matches.indices_of(&id) {
                let occurrences = matches.get_occurrences::<String>(&id);
                for words in occurrences.into_iter().flatten() {
                    let words: Vec<&str> = words.map(String::as_str).collect();
                    let index = indices.next().unwrap_or_default();
                    // Each word has an index.
                    indices.by_ref().take(words.len() - 1).for_each(drop);
                    let given = Given::read(&option.param, words);
                    let given = given.map_err(|(word, wrong)| option.explain(word, &wrong))?;
                    all.push((index, given));
                }
            }
            if option.param.typed == Typed::Boolean && matches.get_flag(&negated) {
                let index = matches.index_of(&negated).unwrap_or_default();
                let given = Given {
                    place: option.param.place.clone(),
                    values: vec![false.into()],
                    is_list: false,
                };
                all.push((index, given));
            }
        }
        all.sort_by_key(|(index, _)| *index);
        Ok(all.into_iter().map(|(_, given)| given).collect())
    }

    /// Refuses an option after the plugin's name that could be meant for the tool as well.
    fn check_clashes(&self, matches: &ArgMatches) -> Result<(), Failure> {
        let after = |it: &&Clash| index_of(matches, &it.id) > index_of(matches, "plugin");
        let Some(Clash { long, instead, .. }) = self.clashes.iter().find(after) else {
            return Ok(());
        };
        let tool = escape_line(&self.tool);
        let message = format!(
            "`--{long}` after the plugin's name is ambiguous: `airlock run` has it, and `{tool}` has a param of that name"
        );
        let hint = format!(
            "write `--{instead}` for the tool's, or put `--{long}` before the plugin's name for Airlock's"
        );
        Err(Failure::usage(message).with_hint(hint))
    }

    /// Returns the table of the options, in the tool's own words.
    pub fn described(&self) -> Block {
        let title = format!("Params of {}:", self.tool);
        let block = Block::new().line(title);
        if self.options.is_empty() {
            return block.line("  none");
        }
        let rows: Vec<Row<'_>> = self.options.iter().map(ToolOption::row).collect();
        block.block(table::of("option", &rows).quoted())
    }
}

impl ToolOption {
    fn args(&self, hidden: bool) -> Vec<Arg> {
        let arg = Arg::new(self.id())
            .long(self.long.clone())
            .aliases(self.aliases.clone())
            .value_name(self.param.typed.value_name())
            .help(self.param.description.clone())
            .hide(hidden);
        match &self.param.typed {
            Typed::Boolean => {
                let negated = Arg::new(self.negated())
                    .long(self.negated())
                    .action(ArgAction::SetTrue)
                    .conflicts_with(self.id())
                    .hide(true);
                let arg = arg
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("true");
                vec![arg, negated]
            }
            Typed::List(item) => {
                let arg = arg.num_args(1..).action(ArgAction::Append);
                vec![match **item {
                    Typed::Number => arg.allow_negative_numbers(true),
                    _ => arg,
                }]
            }
            Typed::Choice(choices) if choices.iter().all(|choice| is_plain(choice)) => {
                vec![self.once(arg.value_parser(PossibleValuesParser::new(choices.clone())))]
            }
            _ => vec![self.once(arg.allow_hyphen_values(true))],
        }
    }

    /// Lets an option of a list of objects be repeated, once for each object.
    fn once(&self, arg: Arg) -> Arg {
        if self.param.place.parts().contains(&Part::Items) {
            arg.action(ArgAction::Append)
        } else {
            arg
        }
    }

    /// Returns the argument's id, which no option of the command has.
    fn id(&self) -> String {
        format!("param.{}", self.long)
    }

    fn negated(&self) -> String {
        format!("no-{}", self.long)
    }

    fn row(&self) -> Row<'_> {
        Row {
            name: format!("--{}", self.long),
            param: &self.param,
        }
    }

    fn explain(&self, word: &str, wrong: &str) -> Failure {
        let message = format!("the value {word:?} of `--{}` {wrong}", self.long);
        Failure::usage(message).quoting()
    }
}

/// Returns the position of an argument on the command line, if it is there.
fn index_of(matches: &ArgMatches, id: &str) -> Option<usize> {
    let is_typed = matches.value_source(id) == Some(ValueSource::CommandLine);
    matches.index_of(id).filter(|_| is_typed)
}

/// Returns the name of a param's option, or `None` if it can't have one. Dots separate the names of
/// nested objects.
fn name_of(place: &ParamPath) -> Option<String> {
    let mut names = Vec::new();
    for pair in place.parts() {
        match pair {
            Part::Name(name) if is_name(name) => names.push(name.as_str()),
            Part::Name(_) => return None,
            Part::Items => {}
        }
    }
    Some(names.join("."))
}

fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    begins
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// Returns whether a terminal shows the text as it is.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())
}

/// Returns a name as options are written: `maxFiles` and `max_files` become `max-files`.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && was_lower {
            kebab.push('-');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        kebab.push(if c == '_' {
            '-'
        } else {
            c.to_ascii_lowercase()
        });
    }
    kebab
}

#[cfg(test)]
mod tests {
    use airlock_host::json::Json;
    use airlock_host::tool::ToolTraits;
    use clap::CommandFactory;
    use serde_json::{Value, json};

    use super::*;
    use crate::args::Cli;
    use crate::commands::params::given;

    fn options(properties: Value) -> ToolOptions {
        let tool = ToolDefinition {
            name: "tool".to_owned(),
            label: "Tool".to_owned(),
            description: String::new(),
            parameters: Json::of_own(&json!({"type": "object", "properties": properties})),
            output: None,
            traits: ToolTraits::default(),
        };
        let mut command = Cli::command();
        command.build();
        ToolOptions::of(&tool, command.find_subcommand("run").unwrap())
    }

    #[test]
    fn params_are_options_of_their_names_unless_these_are_taken() {
        let options = options(json!({
            "max_files": {"type": "integer"},
            "dryRun": {"type": "boolean"},
            "apply": {"type": "string"},
            "help": {"type": "string"},
            "--x": {"type": "string"},
            "a b": {"type": "string"},
            "where": {"type": "object", "properties": {"path": {"type": "string"}}},
        }));
        let names: Vec<&str> = options.options.iter().map(|it| it.long.as_str()).collect();
        let mut names = names;
        names.sort_unstable();
        let expected = [
            "dry-run",
            "max-files",
            "param.apply",
            "param.help",
            "where",
            "where.path",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn an_option_that_the_tool_has_too_is_airlocks_before_the_plugins_name_alone() {
        let options = options(json!({
            "apply": {"type": "string"},
            "max_memory": {"type": "integer"},
            "text": {"type": "string"},
            "color": {"type": "string"},
            "grant": {"type": "string"},
        }));
        let check = |line: &str, expected: Result<usize, &str>| {
            let command = Cli::command().mut_subcommand("run", |run| options.add_to(run, false));
            let matches = command.try_get_matches_from(line.split(' ')).unwrap();
            let read = options.read(matches.subcommand_matches("run").unwrap());
            let read = read.map(|given| given.len());
            match (read, expected) {
                (Ok(count), Ok(expected)) => assert_eq!(count, expected, "{line}"),
                (Err(failure), Err(expected)) => {
                    let json = serde_json::to_string(&failure.object()).unwrap();
                    assert!(json.contains(expected), "{line}: {json}");
                }
                (read, _) => panic!("{line}: {:?}", read.ok()),
            }
        };
        check("airlock run --apply why p", Ok(0));
        check("airlock run --apply why p --param.apply 1 --text x", Ok(2));
        check("airlock run p --max_memory 3", Ok(1));
        check("airlock run p --session s --text x", Ok(1));
        check(
            "airlock run p --text x --apply why",
            Err("write `--param.apply`"),
        );
        check(
            "airlock run p --max-memory 3",
            Err("put `--max-memory` before"),
        );
    }

    #[test]
    fn what_is_typed_is_what_the_tool_gets() {
        let options = options(json!({
            "files": {"type": "array", "items": {"type": "string"}},
            "max_files": {"type": "integer"},
            "dry": {"type": "boolean"},
            "text": {"type": "string"},
            "mode": {"enum": ["fast", "safe"]},
            "ops": {"type": "array", "items": {"type": "object", "properties": {
                "pat": {"type": "string"}, "out": {"type": "string"},
            }}},
        }));
        let check = |words: &[&str], expected: Option<Value>| {
            let command = options.add_to(Command::new("run").no_binary_name(true), false);
            let read = command
                .try_get_matches_from(words)
                .ok()
                .and_then(|matches| options.read(&matches).ok())
                .map(|given| {
                    let mut params = json!({});
                    given::put(&mut params, &given).unwrap();
                    params
                });
            assert_eq!(read, expected, "{words:?}");
        };
        check(&[], Some(json!({})));
        check(
            &["--files", "a", "b", "--files", "c"],
            Some(json!({"files": ["a", "b", "c"]})),
        );
        check(&["--max-files", "3"], Some(json!({"max_files": 3})));
        check(&["--max_files", "-3"], Some(json!({"max_files": -3})));
        check(&["--param.max_files=3"], Some(json!({"max_files": 3})));
        check(&["--max-files", "many"], None);
        check(&["--dry"], Some(json!({"dry": true})));
        check(&["--dry=false"], Some(json!({"dry": false})));
        check(&["--no-dry"], Some(json!({"dry": false})));
        check(&["--text", "-x"], Some(json!({"text": "-x"})));
        check(&["--text", "a", "--text", "b"], None);
        check(&["--mode", "fast"], Some(json!({"mode": "fast"})));
        check(&["--mode", "slow"], None);
        check(
            &[
                "--ops.pat",
                "a",
                "--ops.out",
                "b",
                "--ops.pat",
                "c",
                "--ops.out",
                "d",
            ],
            Some(json!({"ops": [{"pat": "a", "out": "b"}, {"pat": "c", "out": "d"}]})),
        );
        check(
            &["--ops", r#"{"pat": "a"}"#, "--ops.out", "b"],
            Some(json!({"ops": [{"pat": "a", "out": "b"}]})),
        );
        check(&["--nothing"], None);
    }
}
