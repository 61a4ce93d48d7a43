//! What to do about actions that were left pending.

use super::request::Request;
use crate::args::RunArgs;
use crate::output::on_stderr;
use crate::sanitize;
use crate::shell;
use crate::style::{BOLD, NOTE, paint};

/// Says what becomes of them, and where nothing went wrong, how to decide at once. Until there is a store on disk, that
/// means to preview again.
pub fn explain(args: &RunArgs, request: &Request, left: usize, failed: bool) {
    let these_are = if left == 1 {
        "this one is"
    } else {
        "these are"
    };
    let note = paint(NOTE, "note:");
    on_stderr(format_args!(
        "\n{note} pending actions live in this process's memory only, and {these_are} gone now that it ends"
    ));
    if failed {
        return;
    }
    on_stderr("To preview again and apply at once (or discard, with `--discard REASON`):");
    let command = command(args, request);
    on_stderr(format_args!("  {}", paint(BOLD, sanitize::text(&command))));
}

/// The same command line, with a decision.
fn command(args: &RunArgs, request: &Request) -> String {
    let plugin = args.plugin.to_string_lossy();
    let workspace = args.workspace.to_string_lossy();
    let timeout = args
        .timeout
        .map(|timeout| timeout.as_secs_f64().to_string());
    let max_memory = args.max_memory.map(|mib| mib.to_string());

    let mut words = vec!["airlock", "run", &plugin];
    words.extend(request.tool.as_deref());
    words.extend(request.params_word.as_deref());
    let options = [
        ("--workspace", Some(&*workspace).filter(|path| *path != ".")),
        ("--session", args.session.as_deref()),
        ("--timeout", timeout.as_deref()),
        ("--max-memory", max_memory.as_deref()),
        ("--apply", Some("the preview is right")),
    ];
    for (option, value) in options {
        if let Some(value) = value {
            words.extend([option, value]);
        }
    }
    shell::join(words)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn the_command_is_the_same_with_a_decision() {
        let check = |line: &[&str], expected: &str| {
            let cli = Cli::try_parse_from(line).unwrap();
            let Command::Run(args) = cli.command else {
                panic!("not a run: {line:?}");
            };
            let request = Request::read(&args).unwrap_or_else(|failure| panic!("{failure:?}"));
            assert_eq!(command(&args, &request), expected);
        };
        check(
            &["airlock", "run", "batch-rename", r#"{"find": "it's"}"#],
            r#"airlock run batch-rename '{"find": "it'\''s"}' --apply 'the preview is right'"#,
        );
        check(
            &[
                "airlock",
                "-v",
                "run",
                "--workspace",
                "my photos",
                "./p.wasm",
                "tool",
                "--timeout",
                "0.5",
                "--json",
            ],
            "airlock run ./p.wasm tool --workspace 'my photos' --timeout 0.5 --apply 'the preview is right'",
        );
    }
}
