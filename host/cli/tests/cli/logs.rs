//! `airlock log`: whose decisions it lists, and which.

use serde_json::json;
use tempfile::TempDir;

use crate::airlock::{RENAME, Store, folder};

/// Over MCP, in the conversation of a client.
fn applied_in_another_session(store: &Store, folder: &TempDir) {
    let run = [
        "run",
        "batch-rename",
        RENAME,
        "--session",
        "a client's",
        "--apply",
        "right",
    ];
    assert_eq!(store.airlock(folder.path(), &run).run().code, 0);
}

#[test]
fn the_log_of_a_folder_has_the_decisions_of_all_conversations_there() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg"]));
    applied_in_another_session(&store, &folder);
    let log = store.airlock(folder.path(), &["log"]).run().stdout;
    assert!(log.contains("renamed a.jpeg -> a.jpg"), "{log}");
    assert!(log.contains("session a client's"), "{log}");
    let elsewhere = self::folder(&[]);
    let log = store.json(elsewhere.path(), &["log"]);
    assert_eq!(log, json!({"log": []}));
}

#[test]
fn the_log_is_filtered_and_says_where_it_ends() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    applied_in_another_session(&store, &folder);
    let back = r#"{"files": ["*.jpg"], "find": "jpg$", "replace": "jpeg"}"#;
    let run = ["run", "batch-rename", back, "--discard", "wrong"];
    assert_eq!(store.airlock(folder.path(), &run).run().code, 0);
    let count = |filter: &[&str]| {
        let log = store.json(folder.path(), &[&["log"], filter].concat());
        log["log"].as_array().unwrap().len()
    };
    for (filter, expected) in [
        (&[][..], 2),
        (&["--state", "applied"], 1),
        (&["--state", "discarded"], 1),
        (&["--by", "unknown"], 2),
        (&["--by", "model"], 0),
        (&["--tool", "batch_rename_preview"], 2),
        (&["--tool", "other"], 0),
        (&["--path", "a.jpg"], 2),
        (&["--path", "*.jpeg"], 2),
        (&["--path", "docs/"], 0),
        (&["--since", "1d"], 2),
        (&["--until", "1d"], 0),
        (&["--since", "2999-01-01"], 0),
        (&["--limit", "1"], 1),
    ] {
        assert_eq!(count(filter), expected, "{filter:?}");
    }
    let log = store.airlock(folder.path(), &["log", "--limit", "1"]).run();
    assert!(
        log.stdout.contains("this is the latest decision"),
        "{log:#?}"
    );
    let wrong = store
        .airlock(folder.path(), &["log", "--since", "soon"])
        .run();
    assert_eq!(wrong.code, 2, "{wrong:#?}");
}
