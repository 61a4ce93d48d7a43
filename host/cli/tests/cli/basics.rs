//! What needs no plugin.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use serde_json::json;

use crate::airlock::{airlock, command, folder};

#[test]
fn it_says_what_it_is() {
    let check = |args: &[&str], expected: &str| {
        let ran = airlock(args).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        assert!(ran.stdout.contains(expected), "{args:?}: {}", ran.stdout);
    };
    check(
        &["--version"],
        concat!("airlock ", env!("CARGO_PKG_VERSION")),
    );
    check(&["--help"], "Exit codes:");
    check(&["--help"], "AIRLOCK_CACHE_DIR");
    check(&["--help"], "AIRLOCK_STORE");
    check(
        &["run", "--help"],
        "make-params | airlock run ./my_plugin.wasm my_tool - --json",
    );
    check(&["inspect", "--help"], "airlock inspect ./my_plugin.wasm");
    check(&["plugins", "--help"], "Examples:");
    check(&["pending", "--help"], "airlock pending --all");
    check(&["show", "--help"], "Examples:");
    check(&["resolve", "--help"], "airlock resolve discard d939438b");
    check(&["log", "--help"], "Examples:");
    for command in ["backup", "restore", "check", "stats", "prune", "retention"] {
        check(&["store", command, "--help"], "Examples:");
    }
    check(&["completions", "--help"], "Examples:");
    check(&["plugins"], "batch-rename  Renames files");
}

#[test]
fn each_shell_gets_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = airlock(&["completions", shell]).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
        // Each asks the program.
        assert!(
            ran.stdout.contains("AIRLOCK_COMPLETE"),
            "{shell}: {}",
            ran.stdout
        );
    }
}

#[test]
fn the_bundled_plugins_are_listed_for_programs() {
    let listed = airlock(&["plugins", "--json"]).run().json();
    for (at, name) in ["files", "batch-rename"].into_iter().enumerate() {
        let listed = &listed["plugins"][at];
        assert_eq!(listed["name"], name);
        let inspected = airlock(&["inspect", name, "--json"]).run().json();
        assert_eq!(listed["digest"], inspected["digest"]);
        assert_eq!(listed["size"], inspected["size"]);
    }
}

#[test]
fn a_wrong_command_line_is_told_in_the_format_that_it_asks_for() {
    let ran = airlock(&["run", "batch-rename", "--wrong"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr
            .starts_with("error: unexpected argument '--wrong' found\n"),
        "{}",
        ran.stderr
    );

    let check = |args: &[&str], message: &str| {
        let ran = airlock(args).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (2, ""), "{args:?}");
        let error = &ran.json()["error"];
        assert_eq!(
            (&error["kind"], &error["message"]),
            (&json!("usage"), &json!(message)),
            "{args:?}"
        );
        assert!(error["hint"].is_string(), "{args:?}: {error}");
    };
    check(
        &["run", "--json", "batch-rename", "--wrong"],
        "unexpected argument '--wrong' found",
    );
    check(
        &["run", "--json"],
        "the following required arguments were not provided: <PLUGIN>",
    );
    check(
        &["run", "p", "--apply", "a", "--discard", "b", "--json"],
        "the argument '--apply <REASON>' cannot be used with '--discard <REASON>'",
    );
    check(
        &["run", "p", "--timeout", "0", "--json"],
        "invalid value '0' for '--timeout <SECONDS>': expected a number of seconds above 0, such as 90 or 0.5",
    );
}

#[test]
fn arguments_that_are_not_unicode_are_an_error_like_others() {
    let odd = OsStr::from_bytes(b"\xff\xfe");
    let check = |args: &[&str], code| {
        let ran = airlock(args).arg(odd).run();
        assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
        assert!(
            ran.stderr.starts_with("error: "),
            "{args:?}: {}",
            ran.stderr
        );
    };
    check(&["run"], 3);
    check(&["inspect"], 3);
    check(&["run", "batch-rename"], 2);
    check(&["run", "batch-rename", "{}", "--workspace"], 2);
    check(&["run", "batch-rename", "{}", "--apply"], 2);
    check(&[], 2);
}

/// As `airlock … | head -1` does.
#[test]
fn a_reader_who_had_enough_is_no_error() {
    for args in [
        &["completions", "bash"][..],
        &["--help"],
        &["plugins"],
        &["inspect", "batch-rename"],
        &["inspect", "batch-rename", "--json"],
    ] {
        let folder = folder(&[]);
        let mut command = command(folder.path());
        let mut child = command
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}
