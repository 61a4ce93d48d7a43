//! Each way to end, by its code and by what is said.

use std::fs;

use serde_json::json;

use crate::airlock::{ProgramOutput, airlock, airlock_in, folder, guest, puppet, without_ids};

/// Of an error's lines: how many there are is part of what is promised.
#[track_caller]
fn check(ran: ProgramOutput, code: i32, stderr: &[&str]) {
    let said = without_ids(&ran.stderr);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((ran.code, lines.as_slice()), (code, stderr), "{ran:#?}");
}

#[test]
fn zero_where_all_is_done() {
    check(
        puppet(json!([{"do": "text", "text": "hello"}]), &[]).run(),
        0,
        &[
            "",
            "note: nothing became pending: the tool pushed no action",
        ],
    );
    let push = json!([{"do": "push", "label": "One", "quiet": true}]);
    check(puppet(push.clone(), &["--apply", "yes"]).run(), 0, &[]);
    check(puppet(push, &["--discard", "no"]).run(), 0, &[]);
}

#[test]
fn one_where_the_tool_or_the_resolution_failed() {
    let fails = |message: &str| json!([{"do": "tool-error", "message": message}]);
    check(
        puppet(fails("not today"), &[]).run(),
        1,
        &["error: not today"],
    );
    let failed = json!([{"do": "failed", "message": "disk on fire"}]);
    check(
        puppet(failed.clone(), &[]).run(),
        1,
        &["error: disk on fire"],
    );

    let left = "note: this action stays pending; to apply it later (or `discard` it):";
    let command = "  airlock resolve apply --id ID --reason 'the preview is right'";
    let push = json!([{"do": "push", "label": "One", "apply": fails("no"), "reject": failed}]);
    check(
        puppet(push.clone(), &["--apply", "yes"]).run(),
        1,
        &[
            "Failed: One",
            "  reason to apply: yes",
            "  error: no",
            "",
            left,
            command,
        ],
    );
    // A discard removes, whatever the tool says.
    check(
        puppet(push, &["--discard", "no"]).run(),
        1,
        &[
            "Failed: One",
            "  reason to discard: no",
            "  error: disk on fire",
            "hint: the action is discarded anyway",
        ],
    );
    let push = json!([{"do": "push", "label": "One", "apply": failed}]);
    check(
        puppet(push, &["--apply", "yes"]).run(),
        1,
        &[
            "Failed: One",
            "  reason to apply: yes",
            "  error: disk on fire",
            "",
            left,
            command,
        ],
    );
}

#[test]
fn a_failed_call_is_told_as_it_is_whatever_it_pushed() {
    let steps =
        json!([{"do": "push", "label": "One"}, {"do": "tool-error", "message": "then this"}]);
    check(
        puppet(steps, &["--apply", "yes"]).run(),
        1,
        &["error: then this"],
    );
}

#[test]
fn two_where_the_caller_is_wrong() {
    let puppet = guest("puppet");
    let shows = format!("hint: `airlock inspect {puppet}` shows its tools");
    let run = |args: &[&str]| airlock(&[&["run", &puppet], args].concat()).run();
    check(
        run(&["strings"]),
        2,
        &[
            "error: there is no tool `strings` here; there are: puppet, typed",
            &shows,
        ],
    );
    check(
        run(&["{}"]),
        2,
        &[
            "error: puppet has several tools: puppet, typed",
            &format!("hint: name one: `airlock run {puppet} puppet …`"),
        ],
    );
    check(
        run(&["typed", "{}", "--workspace", "missing"]),
        2,
        &[
            "error: can't use missing as a workspace: No such file or directory (os error 2)",
            "hint: check the path and its permissions, or name another directory with `--workspace DIR`",
        ],
    );
    check(
        airlock(&["run", &guest("misfits"), "two words"]).run(),
        2,
        &[
            r#"error: tool "two words": a tool's name must be 1 to 64 of the characters A-Z a-z 0-9 _ . -"#,
        ],
    );
}

#[test]
fn three_where_the_plugin_is_not_loaded() {
    let folder = folder(&["text.wasm"]);
    let whole = fs::read(guest("puppet")).unwrap();
    fs::write(folder.path().join("core.wasm"), b"\0asm\x01\0\0\0").unwrap();
    fs::write(
        folder.path().join("damaged.wasm"),
        &whole[..whole.len() / 2],
    )
    .unwrap();
    let check = |plugin: &str, message: &str, hint: &str| {
        for command in ["run", "inspect"] {
            let ran = airlock_in(folder.path(), &[command, plugin]).run();
            let lines: Vec<&str> = ran.stderr.lines().collect();
            // What doesn't fit is listed where one looks at the plugin.
            let told = command == "inspect" && message.contains("doesn't fit");
            assert_eq!(
                (ran.code, lines.len(), ran.stdout.is_empty()),
                (3, 2, !told),
                "{ran:#?}"
            );
            assert!(
                lines[0].starts_with(&format!("error: {message}")),
                "{ran:#?}"
            );
            assert!(lines[1].starts_with(&format!("hint: {hint}")), "{ran:#?}");
        }
    };
    let no_component = "build the plugin for the target wasm32-wasip2";
    check(
        "unknown",
        "there is no bundled or installed plugin `unknown`, and no such file here",
        "bundled: files, batch-rename, scripts, ast_edit, undo;",
    );
    check(
        "missing.wasm",
        "can't read missing.wasm: No such file",
        "check the path",
    );
    check(
        "text.wasm",
        "text.wasm is not a WebAssembly component: the bytes don't begin",
        no_component,
    );
    check(
        "core.wasm",
        "core.wasm is not a WebAssembly component: it is a core module",
        no_component,
    );
    check(
        "damaged.wasm",
        "damaged.wasm is not a WebAssembly component: ",
        no_component,
    );
    check(
        &guest("wrong_version"),
        "wrong_version doesn't fit the world",
        "build the plugin with",
    );
    check(
        &guest("bad_definitions_trap"),
        "bad_definitions_trap could not be asked",
        "this is a fault of the plugin",
    );
}

#[test]
fn four_where_a_limit_or_a_crash_ends_it() {
    let faulty = "hint: this is a fault of the tool; `-v` shows its log";
    check(
        puppet(json!([{"do": "spin"}]), &["--timeout", "1.5"]).run(),
        4,
        &[
            "error: tool `puppet` was stopped after 1.5 s, the limit for a call",
            "hint: `--timeout SECONDS` gives it more time",
        ],
    );
    check(
        puppet(json!([{"do": "block"}]), &["--timeout", "1.5"]).run(),
        4,
        &[
            "error: tool `puppet` was stopped after 1.5 s, the limit for a call",
            "hint: `--timeout SECONDS` gives it more time",
        ],
    );
    check(
        puppet(
            json!([{"do": "allocate", "mib": 64}]),
            &["--max-memory", "16"],
        )
        .run(),
        4,
        &[
            "error: tool `puppet` needs more than its 16 MiB of memory",
            "hint: `--max-memory MIB` gives it more",
        ],
    );
    let ran = puppet(json!([{"do": "panic", "message": "oh no"}]), &[]).run();
    assert!(ran.stderr.contains("oh no"), "{ran:#?}");
    assert_eq!((ran.code, ran.stderr.lines().last()), (4, Some(faulty)));

    // At the root of a failed apply.
    let push = json!([{"do": "push", "label": "One", "apply": [{"do": "spin"}]}]);
    let ran = puppet(push, &["--timeout", "1.5", "--apply", "yes"]).run();
    let failed = "Failed: One\n  reason to apply: yes\n  error: tool `custom_tool` was stopped";
    assert!(ran.stderr.starts_with(failed), "{ran:#?}");
    assert_eq!(ran.code, 4);
}
