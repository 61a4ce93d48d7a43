//! A line of `run --command`: a program with its arguments, instead of a plugin with params.

use std::ffi::{OsStr, OsString};

use airlock_host::load::COMMAND_TOOL;
use clap::CommandFactory;
use clap::error::ErrorKind;
use serde_json::json;

use super::Cli;
use super::run_line::host_part;

/// Writes `run --command PROGRAM … -- ARGS…` as a line that names the plugin, its tool and the
/// params. Other lines stay as they are.
///
/// # Errors
/// The problem with the words before `--`.
pub fn expanded(words: Vec<OsString>) -> Result<Vec<OsString>, clap::Error> {
    let Some(run) = words.iter().skip(1).position(|word| word == "run") else {
        return Ok(words);
    };
    let (mut host, args) = match words.iter().position(|word| word == "--") {
        Some(end) if end > run => (words[..end].to_vec(), &words[end + 1..]),
        _ => (words.clone(), &[][..]),
    };
    let before = host.clone();
    let Some((at, component)) = take_component(&mut host) else {
        return Ok(words);
    };
    // After a plugin, it is an option of the plugin's tool.
    if host_part(&before[..at]).is_some() {
        return Ok(words);
    }
    check(&before)?;
    // Programs of WASI have arguments of Unicode only.
    let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let params = json!({ "args": args }).to_string();
    host.extend(["--".into(), component, COMMAND_TOOL.into(), params.into()]);
    Ok(host)
}

/// Checks the words before `--`: options of `run`.
fn check(words: &[OsString]) -> Result<(), clap::Error> {
    let command = Cli::command();
    let command = command.mut_subcommand("run", |run| {
        run.mut_arg("plugin", |plugin| plugin.required(false))
    });
    let matches = command.try_get_matches_from(words)?;
    let run = matches.subcommand_matches("run");
    let has_other = run.is_some_and(|run| {
        let free = ["plugin", "tool", "params"];
        free.into_iter().any(|name| run.contains_id(name))
    });
    if has_other {
        let message = "the arguments of the program go after `--`";
        return Err(Cli::command().error(ErrorKind::ArgumentConflict, message));
    }
    Ok(())
}

fn is_option(word: &OsStr) -> bool {
    word == "--command" || word.to_string_lossy().starts_with("--command=")
}

/// Removes `--command` and its value, and returns its place and the value.
fn take_component(words: &mut Vec<OsString>) -> Option<(usize, OsString)> {
    let at = words.iter().position(|word| is_option(word))?;
    if words[at] == "--command" {
        let value = words.get(at + 1).cloned()?;
        words.drain(at..at + 2);
        return Some((at, value));
    }
    let word = words[at].to_string_lossy().into_owned();
    let value = word
        .strip_prefix("--command=")
        .filter(|value| !value.is_empty())?;
    words.remove(at);
    Some((at, value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_and_its_arguments_become_a_plugin_and_params() {
        let check = |line: &str, expected: &[&str]| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            assert_eq!(expanded(words).unwrap(), expected, "{line}");
        };
        let same = |line: &str| check(line, &line.split(' ').collect::<Vec<_>>());
        check(
            "airlock run --command sd.wasm -- -s a b.txt",
            &[
                "airlock",
                "run",
                "--",
                "sd.wasm",
                "command",
                r#"{"args":["-s","a","b.txt"]}"#,
            ],
        );
        check(
            "airlock -v run --json --command=sd.wasm --confirm-effects",
            &[
                "airlock",
                "-v",
                "run",
                "--json",
                "--confirm-effects",
                "--",
                "sd.wasm",
                "command",
                r#"{"args":[]}"#,
            ],
        );
        same("airlock run sd.wasm -- --command x");
        same("airlock run sd.wasm --command");
        same("airlock run shell.wasm --command ls");
        same("airlock run shell.wasm run --command=ls -- x");
        same("airlock pending");
        same("airlock run batch-rename --files a");
    }

    #[test]
    fn the_words_before_the_separator_are_options_of_run() {
        let check = |line: &str, says: &str| {
            let words = line.split(' ').map(Into::into).collect();
            let error = expanded(words).unwrap_err().to_string();
            assert!(error.contains(says), "{line}: {error}");
        };
        check("airlock run --command rg.wasm a -- b", "go after `--`");
        check(
            "airlock run --command rg.wasm --command x -- b",
            "multiple times",
        );
        check("airlock run --command rg.wasm --args b", "--args");
        check("airlock run --command rg.wasm --help -- b", "Usage:");
    }
}
