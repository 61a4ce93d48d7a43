//! Processes that are killed in the middle, and processes that want the same.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::airlock::{Store, command, folder, guest, steps};

/// Kills the program as soon as its guest has logged `half way`.
fn kill_half_way(mut command: Command) {
    let mut child = command
        .arg("-v")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let mut lines = stderr.lines().map(Result::unwrap);
    assert!(
        lines.any(|line| line.contains("half way")),
        "it never came there"
    );
    // SIGKILL: the program can't clean up.
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Writes a file, and then has to be waited for.
fn slow_apply() -> Value {
    json!([{"do": "push", "label": "Slow", "quiet": true, "apply": [
        {"do": "fs", "op": "append", "path": "/workspace/written", "text": "x"},
        {"do": "log", "message": "half way"},
        {"do": "block", "ms": 5000},
        {"do": "resolution"},
    ]}])
}

fn with_store(store: &Store, folder: &Path, args: &[&str]) -> Command {
    let mut command = command(folder);
    command.env("AIRLOCK_STORE", store.path()).args(args);
    command
}

#[test]
fn an_apply_that_was_killed_has_changed_nothing_and_is_pending_again() {
    let (store, folder) = (Store::new(), folder(&["written"]));
    let (puppet, params) = (guest("puppet"), steps(slow_apply()));
    let args = [
        "run",
        &puppet,
        "puppet",
        &params,
        "--apply",
        "yes",
        "--rehearse",
        "never",
    ];
    kill_half_way(with_store(&store, folder.path(), &args));
    let written = || fs::read_to_string(folder.path().join("written")).unwrap();
    // What was cut off is not half there.
    assert_eq!(written(), "written");

    let ran = store.airlock(folder.path(), &["pending"]).run();
    let told = "note: an apply that was cut off had changed nothing: it is pending as before";
    assert!(ran.stderr.contains(told), "{ran:#?}");
    assert!(ran.stdout.contains("it changed nothing"), "{ran:#?}");
    let pending = store.json(folder.path(), &["pending"]);
    let entry = &pending["pending"][0];
    assert_eq!(
        (&entry["state"], &entry["attempts"]),
        (&json!("pending"), &json!(1))
    );

    let ran = store.json(folder.path(), &["resolve", "apply", "--reason", "again"]);
    let told = ran["content"].to_string();
    assert!(told.contains(r#"\"attempt\":2"#), "{told}");
    assert_eq!(written(), "writtenx");
}

/// Nobody can look into a workspace that is gone.
#[test]
fn an_apply_that_was_killed_stays_interrupted_where_its_workspace_is_gone() {
    let (store, folder) = (Store::new(), folder(&[]));
    let id = store.push(folder.path(), slow_apply());
    kill_half_way(with_store(
        &store,
        folder.path(),
        &["resolve", "apply", "--reason", "yes"],
    ));
    let elsewhere = tempfile::TempDir::new().unwrap();
    drop(folder);
    let shown = store.airlock(elsewhere.path(), &["show", &id]).run().stdout;
    assert!(
        shown.contains("state      interrupted in attempt 1"),
        "{shown}"
    );
    let discard = ["resolve", "discard", "--id", &id, "--reason", "it is gone"];
    let refused = store.airlock(elsewhere.path(), &[&discard[..], &["--json"]].concat());
    let (kind, message, hint) = refused.run().error();
    assert_eq!(kind, "unrecovered", "{message}");
    assert!(hint.contains("`--abandon`"), "{hint}");
    let abandon = [&discard[..], &["--abandon"]].concat();
    assert_eq!(store.airlock(elsewhere.path(), &abandon).run().code, 0);
}

#[test]
fn an_action_whose_apply_was_cut_off_is_discarded_without_more_ado() {
    let (store, folder) = (Store::new(), folder(&[]));
    store.push(folder.path(), slow_apply());
    kill_half_way(with_store(
        &store,
        folder.path(),
        &["resolve", "apply", "--reason", "yes"],
    ));
    let ran = store.json(
        folder.path(),
        &["resolve", "discard", "--reason", "done by hand"],
    );
    assert_eq!(ran["details"]["label"], "Slow");
    assert_eq!(
        store.json(folder.path(), &["pending"]),
        json!({"pending": []})
    );
}

#[test]
fn of_two_processes_one_resolves_an_action() {
    for options in [true, false] {
        let (store, folder) = (Store::new(), folder(&["written"]));
        let id = store.push(
            folder.path(),
            json!([{"do": "push", "label": "One", "apply": [
                {"do": "fs", "op": "append", "path": "/workspace/written", "text": "x"},
            ]}]),
        );
        let mut args = vec!["resolve", "apply", "--reason", "mine", "--json"];
        if options {
            args.extend(["--id", &id]);
        }
        let children: Vec<_> = (0..4)
            .map(|_| {
                let mut command = with_store(&store, folder.path(), &args);
                command.stdout(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let mut won = 0;
        for child in children {
            let output = child.wait_with_output().unwrap();
            let object: Value = serde_json::from_slice(&output.stdout).unwrap();
            match output.status.code() {
                Some(0) => won += 1,
                Some(1) => {
                    let kind = object["error"]["kind"].as_str().unwrap();
                    let expected = [
                        "already-resolved",
                        "resolution-in-progress",
                        "nothing-pending",
                    ];
                    assert!(expected.contains(&kind), "{object}");
                }
                other => panic!("{other:?}: {object}"),
            }
        }
        let written = fs::read_to_string(folder.path().join("written")).unwrap();
        assert_eq!((won, written.as_str()), (1, "writtenx"));
    }
}

#[test]
fn an_action_that_is_being_resolved_is_listed_as_such() {
    let (store, folder) = (Store::new(), folder(&[]));
    let id = store.push(folder.path(), slow_apply());
    let mut command = with_store(
        &store,
        folder.path(),
        &["resolve", "apply", "--reason", "yes", "-v"],
    );
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("half way")));

    let shown = store.json(folder.path(), &["show", &id]);
    assert_eq!(
        (&shown["state"], &shown["lease"]["decision"]),
        (&json!("resolving"), &json!("apply"))
    );
    let text = store.airlock(folder.path(), &["pending"]).run().stdout;
    assert!(text.contains("\n  resolving: being applied by "), "{text}");
    let ran = store
        .airlock(
            folder.path(),
            &["resolve", "apply", "--reason", "me too", "--json"],
        )
        .run();
    let (kind, _, hint) = ran.error();
    assert_eq!((ran.code, kind.as_str()), (1, "nothing-pending"));
    assert_eq!(hint, format!("{id} is being resolved elsewhere right now"));
    let ran = store
        .airlock(
            folder.path(),
            &[
                "resolve", "apply", "--id", &id, "--reason", "me too", "--json",
            ],
        )
        .run();
    assert_eq!(
        (ran.code, ran.error().0.as_str()),
        (1, "resolution-in-progress")
    );
    child.kill().unwrap();
    child.wait().unwrap();
}
