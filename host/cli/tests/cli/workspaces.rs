//! What was previewed in one directory, decided about where another has its path.

use std::fs;

use expectrl::Expect;
use serde_json::json;

use crate::airlock::{RENAME, Store, airlock_in, folder};
use crate::terminal::Terminal;

fn push() -> serde_json::Value {
    let write = json!({"do": "fs", "op": "write", "path": "/workspace/done", "text": "yes"});
    json!([{"do": "push", "label": "Write", "quiet": true, "apply": [write]}])
}

#[test]
fn another_directory_at_the_path_is_refused_and_may_be_said_to_be_the_same() {
    let (store, folder) = (Store::new(), folder(&[]));
    let w = folder.path().join("w");
    fs::create_dir(&w).unwrap();
    let id = store.push(&w, push());
    fs::remove_dir(&w).unwrap();
    fs::create_dir(&w).unwrap();
    let apply = ["resolve", "apply", "--id", &id, "--reason", "x", "--json"];
    let ran = store.airlock(&w, &apply).run();
    let (kind, message, hint) = ran.error();
    assert_eq!(
        (ran.code, kind.as_str()),
        (1, "other-workspace"),
        "{ran:#?}"
    );
    assert!(
        message.contains("when another directory was there"),
        "{message}"
    );
    assert!(hint.contains("--same-workspace"), "{hint}");
    assert!(!w.join("done").exists());
    let shown = store.json(&w, &["show", &id]);
    assert_eq!(
        (&shown["attempts"], &shown["state"]),
        (&json!(0), &json!("pending"))
    );
    let ran = store.airlock(&w, &apply).arg("--same-workspace").run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(w.join("done").exists());
}

#[test]
fn a_workspace_that_was_moved_is_named_and_said_to_be_the_same() {
    let (store, folder) = (Store::new(), folder(&[]));
    let (w, moved) = (folder.path().join("w"), folder.path().join("moved"));
    fs::create_dir(&w).unwrap();
    let id = store.push(&w, push());
    fs::rename(&w, &moved).unwrap();
    let apply = [
        "resolve",
        "apply",
        "--id",
        &id,
        "--reason",
        "x",
        "--workspace",
        "moved",
        "--json",
    ];
    let ran = store.airlock(folder.path(), &apply).run();
    assert_eq!((ran.code, ran.error().0.as_str()), (1, "other-workspace"));
    let ran = store
        .airlock(folder.path(), &apply)
        .arg("--same-workspace")
        .run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(moved.join("done").exists());
    // And back at its own path nobody asks.
    fs::remove_file(moved.join("done")).unwrap();
    fs::rename(&moved, &w).unwrap();
    let id = store.push(&w, push());
    fs::rename(&w, &moved).unwrap();
    fs::rename(&moved, &w).unwrap();
    store.json(&w, &["resolve", "apply", "--id", &id, "--reason", "x"]);
    assert!(w.join("done").exists());
}

#[test]
fn what_another_machine_previewed_is_named_and_can_be_discarded() {
    let (store, folder) = (Store::new(), folder(&[]));
    let id = store.push(folder.path(), push());
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    let elsewhere = r#"{"machine": {"id": "0123", "name": "build7"}, "inode": 1}"#;
    connection
        .execute("UPDATE actions SET workspace_identity = ?", [elsewhere])
        .unwrap();
    drop(connection);
    let listed = store.airlock(folder.path(), &["pending"]).run();
    assert!(
        listed.stdout.contains("on the machine build7"),
        "{listed:#?}"
    );
    assert_eq!(
        store.json(folder.path(), &["show", &id])["machine"],
        "build7"
    );
    let apply = ["resolve", "apply", "--id", &id, "--reason", "x", "--json"];
    let ran = store.airlock(folder.path(), &apply).run();
    let (kind, message, _) = ran.error();
    assert_eq!(
        (ran.code, kind.as_str()),
        (1, "other-workspace"),
        "{ran:#?}"
    );
    assert!(
        message.contains("on the machine build7, and this one is"),
        "{message}"
    );
    assert!(!folder.path().join("done").exists());
    store.json(
        folder.path(),
        &["resolve", "discard", "--id", &id, "--reason", "x"],
    );
}

#[test]
fn who_sits_there_is_asked_whether_another_directory_is_the_same_workspace() {
    let outer = folder(&[]);
    let w = outer.path().join("w");
    let preview = |name: &str| {
        let _ = std::fs::remove_dir_all(&w);
        std::fs::create_dir(&w).unwrap();
        std::fs::write(w.join("a.jpeg"), name).unwrap();
        let report = airlock_in(&w, &["run", "batch-rename", RENAME, "--json"]);
        let report = report.run().json();
        let id = report["pending"][0]["id"].as_str().unwrap().to_owned();
        // The same files, in another directory.
        std::fs::remove_dir_all(&w).unwrap();
        std::fs::create_dir(&w).unwrap();
        std::fs::write(w.join("a.jpeg"), name).unwrap();
        id
    };
    for (answer, code, applied) in [("", 1, false), ("n", 1, false), ("y", 0, true)] {
        let id = preview("picture");
        let apply = ["resolve", "apply", "--id", &id, "--reason", "x"];
        let mut terminal = Terminal::run(&w, &apply);
        terminal
            .sees("when another directory was there.")
            .sees("Apply it here anyway? [y/N] ");
        terminal.0.send_line(answer).unwrap();
        terminal.ends(code);
        assert_eq!(w.join("a.jpg").exists(), applied, "{answer:?}");
    }
}
