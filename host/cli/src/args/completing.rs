//! Completion of command lines. The shell calls this program, which knows the plugins, their params
//! and the pending actions.

mod bash;

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use airlock_desk::configuration::OperatorFiles;
use airlock_desk::lock::Locks;
use airlock_desk::store::{self, StoreOptions, WhenMissing};
use airlock_host::Limits;
use airlock_host::store::{ResolvedQuery, Scope};
use airlock_render::escape_line;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::{CompleteEnv, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};

use super::Cli;
use super::run_line::{self, host_part};
use crate::bundled::CATALOG;
use crate::commands::run::call;
use crate::failure::Failure;
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::progress::Progress;

/// The environment variable that a shell sets to request completions.
const VARIABLE: &str = "AIRLOCK_COMPLETE";

/// The most time for loading a plugin or reading ids. A plugin may have to be compiled first.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The most ids that are offered.
const OFFERED: usize = 100;

const SHELLS: Shells<'static> = Shells(&[&bash::Bash, &Elvish, &Fish, &Powershell, &Zsh]);

/// The line to complete, after quote removal.
static LINE: OnceLock<Vec<OsString>> = OnceLock::new();

/// Completes a command line if a shell asks for it. Returns whether one did.
pub fn answer() -> bool {
    let here = env::current_dir().ok();
    let is_bash = env::var_os(VARIABLE).is_some_and(|shell| bash::is_meant(&shell));
    let line = words_of(env::args_os()).into_iter();
    let line = line.map(|word| if is_bash { bash::unquoted(word) } else { word });
    let line = LINE.get_or_init(|| line.collect());
    let before = env::args_os().take_while(|word| word != "--");
    let args = before.chain(["--".into()]).chain(line.iter().cloned());
    let complete = CompleteEnv::with_factory(command).var(VARIABLE);
    // If completion fails, nothing is offered.
    complete
        .shells(SHELLS)
        .try_complete(args, here.as_deref())
        .unwrap_or(true)
}

/// Returns the script that makes a shell use these completions.
///
/// # Errors
/// If the shell is not supported, or the script can't be made.
pub fn script(shell: Shell) -> Result<String, Failure> {
    let named = shell.to_string();
    let missing = || Failure::usage(format!("there is no completion for {named}"));
    let completer: &dyn EnvCompleter = SHELLS.completer(&named).ok_or_else(missing)?;
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, "airlock", "airlock", &program(), &mut script)
        .map_err(|error| Failure::host(format!("could not make the script: {error}")))?;
    Ok(String::from_utf8_lossy(&script).trim().to_owned())
}

/// Returns the program that the script calls: its name if it was called by name, so that the script
/// still works after an update, or else its path.
fn program() -> String {
    let called = PathBuf::from(env::args_os().next().unwrap_or_default());
    let path = match called.components().count() {
        0 | 1 => PathBuf::from("airlock"),
        _ => env::current_dir().map_or(called.clone(), |here| here.join(called)),
    };
    path.to_string_lossy().into_owned()
}

/// Returns the command line's definition, with the params of the tool that the line names.
fn command() -> Command {
    let command = Cli::command();
    match tool_options() {
        Some(options) => command.mut_subcommand("run", |run| options.add_to(run, true)),
        None => command,
    }
}

fn tool_options() -> Option<super::tool_options::ToolOptions> {
    let matches = host_part(&words())?;
    let run = matches.subcommand_matches("run")?;
    let plugin = run.get_one::<OsString>("plugin")?;
    let tool = run.get_one::<String>("tool");
    let tool = tool.filter(|word| !call::is_params(word));
    let loaded = block_on(loaded(plugin))?;
    let definition = call::definition(&loaded, plugin, tool.map(String::as_str));
    // The tool's name may be incomplete.
    let definition = definition.or_else(|_| call::definition(&loaded, plugin, None));
    Some(run_line::options_of(definition.ok()?))
}

async fn loaded(plugin: &OsStr) -> Option<airlock_desk::plugin::Loaded> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(1));
    load::load(plugin, &locks(), Limits::default(), &interrupt, &progress)
        .await
        .ok()
}

/// Returns the installed plugins, by the configuration that the line names.
fn locks() -> Locks {
    let config = option(&words(), "--config").map(PathBuf::from);
    OperatorFiles::new(config).locks().unwrap_or_default()
}

/// Returns the line to complete.
fn words() -> Vec<OsString> {
    LINE.get().cloned().unwrap_or_default()
}

/// Returns the words after `--`: the line, as the shell's script passes it.
fn words_of(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    args.skip_while(|word| word != "--").skip(1).collect()
}

fn block_on<T>(work: impl Future<Output = Option<T>>) -> Option<T> {
    let runtime = crate::runtime(1).ok()?;
    let done = runtime.block_on(async { tokio::time::timeout(TIMEOUT, work).await });
    runtime.shutdown_background();
    done.ok()?
}

/// The completer of plugins: bundled and installed ones, and files.
#[derive(Clone)]
pub struct Plugins;

impl ValueCompleter for Plugins {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let bundled = CATALOG
            .all()
            .iter()
            .map(|bundled| CompletionCandidate::new(bundled.name).help(Some(bundled.about.into())));
        let mut all = begin_with(current, bundled);
        all.extend(Installed.complete(current));
        all.extend(PathCompleter::any().complete(current));
        all
    }
}

/// The completer of installed plugins.
#[derive(Clone)]
pub struct Installed;

impl ValueCompleter for Installed {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let all = locks().all();
        let names = all.iter().map(|it| {
            let about = it.entry.facts.about.description.as_deref().map(escape_line);
            let about = about.map(|it| it.into_owned().into());
            CompletionCandidate::new(it.entry.name.as_str()).help(about)
        });
        begin_with(current, names)
    }
}

/// The completer of the tools of the plugin that the line names.
#[derive(Clone)]
pub struct Tools;

impl ValueCompleter for Tools {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let tools = || {
            let matches = host_part(&words())?;
            let run = matches.subcommand_matches("run")?;
            let loaded = block_on(loaded(run.get_one::<OsString>("plugin")?))?;
            let tools = loaded.tools();
            let shown = tools.iter().filter(|tool| !tool.traits.hidden);
            let names = shown.map(|tool| CompletionCandidate::new(&tool.name));
            Some(begin_with(current, names))
        };
        tools().unwrap_or_default()
    }
}

/// The completer of the ids of pending actions.
#[derive(Clone)]
pub struct PendingIds;

impl ValueCompleter for PendingIds {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        block_on(ids(current, false)).unwrap_or_default()
    }
}

/// The completer of the ids of all actions, pending or resolved.
#[derive(Clone)]
pub struct Ids;

impl ValueCompleter for Ids {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        block_on(ids(current, true)).unwrap_or_default()
    }
}

/// Returns the ids that begin with `current`: in their short form if that does, and in full
/// otherwise.
async fn ids(current: &OsStr, with_resolved: bool) -> Option<Vec<CompletionCandidate>> {
    let words = words();
    let named = StoreOptions {
        store: option(&words, "--store"),
        config: OperatorFiles::new(option(&words, "--config").map(PathBuf::from)),
    };
    let store = store::open(&named, WhenMissing::Refuse).await.ok()?;
    let store = store.durable();
    let mut all = Vec::new();
    for session in store.open_sessions(None, OFFERED).await.ok()? {
        if all.len() < OFFERED {
            let open = store.open_actions(Scope::Session(&session));
            all.extend(open.await.ok()?);
        }
    }
    if with_resolved {
        let query = ResolvedQuery {
            session: None,
            workspace: None,
            limit: OFFERED,
        };
        all.extend(store.resolved_actions(&query).await.ok()?);
    }
    let ids = all.iter().take(OFFERED).filter_map(|record| {
        let id = &record.action.id;
        let label = escape_line(&record.action.label).into_owned();
        let mut offered = [id.short(), id.as_str()].into_iter();
        let offered = offered.find(|id| begins_with(OsStr::new(id), current))?;
        Some(CompletionCandidate::new(offered).help(Some(label.into())))
    });
    Some(ids.collect())
}

/// Returns the value of this option, wherever it is on the line.
fn option(words: &[OsString], name: &str) -> Option<OsString> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == name {
            return words.next().cloned();
        }
        let value = word.to_str().and_then(|word| word.strip_prefix(name));
        if let Some(value) = value.and_then(|rest| rest.strip_prefix('=')) {
            return Some(value.into());
        }
    }
    None
}

fn begin_with(
    current: &OsStr,
    all: impl IntoIterator<Item = CompletionCandidate>,
) -> Vec<CompletionCandidate> {
    all.into_iter()
        .filter(|one| begins_with(one.get_value(), current))
        .collect()
}

fn begins_with(word: &OsStr, beginning: &OsStr) -> bool {
    word.as_encoded_bytes()
        .starts_with(beginning.as_encoded_bytes())
}
