//! Programs for WASI, run by `run --command`.

use std::fs;

use serde_json::json;

use crate::airlock::{Store, folder, guest, names};

#[test]
fn the_output_of_a_program_is_shown_and_its_changes_are_staged() {
    let (store, folder) = (Store::new(), folder(&["a.txt"]));
    let args = [
        "run",
        "--command",
        &guest("program"),
        "--",
        "say",
        "hello",
        "write",
        "b.txt",
        "x",
    ];
    let ran = store.airlock(folder.path(), &args).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.starts_with("│ hello\n"), "{ran:#?}");
    assert!(
        ran.stdout.contains("program say hello write b.txt x"),
        "{ran:#?}"
    );
    assert!(ran.stdout.contains("created b.txt"), "{ran:#?}");
    assert_eq!(names(&folder), ["a.txt"]);
    let pending = store.json(folder.path(), &["pending"]);
    let id = pending["pending"][0]["id"].as_str().unwrap();
    let shown = store.airlock(folder.path(), &["show", id]).run();
    assert!(
        shown.stdout.contains("It will answer as in the preview."),
        "{shown:#?}"
    );
    let apply = ["apply", id, "--reason", "right"];
    let applied = store.airlock(folder.path(), &apply).run();
    assert_eq!(applied.code, 0, "{applied:#?}");
    assert!(applied.stdout.contains("│ hello"), "{applied:#?}");
    assert_eq!(names(&folder), ["a.txt", "b.txt"]);

    // The options of `run` come before `--`, and the program's after it.
    let command = format!("--command={}", guest("program"));
    let args = [
        "run",
        &command,
        "--json",
        "--",
        "args",
        "--json",
        "--command",
        "--",
    ];
    let ran = store.airlock(folder.path(), &args).run();
    let told = ran.json();
    let text = "[\"program\", \"args\", \"--json\", \"--command\", \"--\"]\n";
    assert_eq!(
        told["content"],
        json!([{"type": "text", "text": text}]),
        "{told:#}"
    );
}

#[test]
fn the_answer_of_an_apply_is_shown_before_it() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let id = store.push_rename(folder.path());
    let shown = store.airlock(folder.path(), &["show", &id]).run();
    let expected = "  It will answer, with your reason for \"rehearsal\":\n    │ Applied batch rename. Reason: rehearsal\n";
    assert!(shown.stdout.contains(expected), "{shown:#?}");
    let shown = store.json(folder.path(), &["show", &id]);
    assert_eq!(shown["effects"]["answer"]["hasReason"], true, "{shown:#}");
}

/// A program for WASI preview 1 that writes a line.
const PREVIEW_1: &str = r#"
(module
  (import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\03\00\00\00")
  (data (i32.const 16) "old")
  (func (export "_start")
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
"#;

#[test]
fn a_core_module_for_preview_1_is_a_program_too() {
    let (store, folder) = (Store::new(), folder(&[]));
    let check = |module: &str, expected: Result<&str, &str>| {
        let path = folder.path().join("module.wasm");
        fs::write(&path, wat::parse_str(module).unwrap()).unwrap();
        let args = ["run", "--command", "module.wasm"];
        let ran = store.airlock(folder.path(), &args).run();
        match expected {
            Ok(stdout) => assert_eq!((ran.code, &*ran.stdout), (0, stdout), "{ran:#?}"),
            Err(reason) => assert!(ran.stderr.contains(reason), "{ran:#?}"),
        }
    };
    check(PREVIEW_1, Ok("│ old\n"));
    check(
        r#"(module (import "env" "f" (func)) (func (export "_start")))"#,
        Err("it is a core module, and can't be made a component for `wasi:cli/command`"),
    );
}

#[test]
fn a_tool_is_no_program() {
    let (store, folder) = (Store::new(), folder(&[]));
    let args = ["run", "--command", &guest("puppet"), "--", "say"];
    let ran = store.airlock(folder.path(), &args).run();
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.stderr.contains("command"), "{ran:#?}");
}
