//! Files of others, which no command of the store's writes to.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde_json::json;

use crate::airlock::{Store, airlock_in, folder, guest, steps};

/// A kind of file that is no store.
type Make = fn(&Path);

const KINDS: [(&str, Make); 6] = [
    ("nothing", |file| fs::write(file, "").unwrap()),
    ("one byte", |file| fs::write(file, "x").unwrap()),
    ("a letter", |file| {
        fs::write(file, "Dear Ann,\n".repeat(500)).unwrap()
    }),
    ("another program's database", |file| {
        let connection = rusqlite::Connection::open(file).unwrap();
        connection.execute_batch("CREATE TABLE other (x)").unwrap();
    }),
    ("a database without a table", |file| {
        let connection = rusqlite::Connection::open(file).unwrap();
        connection.execute_batch("VACUUM").unwrap();
    }),
    ("a pipe", |file| {
        let made = std::process::Command::new("mkfifo").arg(file).status();
        assert!(made.unwrap().success());
    }),
];

fn contents(folder: &Path) -> Vec<(String, Vec<u8>, SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut all: Vec<_> = entries
        .map(|entry| {
            let metadata = entry.metadata().unwrap();
            let bytes = if metadata.is_file() {
                fs::read(entry.path()).unwrap()
            } else {
                Vec::new()
            };
            let name = entry.file_name().into_string().unwrap();
            (name, bytes, metadata.modified().unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn no_command_writes_to_a_file_that_is_no_store() {
    let (puppet, params) = (
        guest("puppet"),
        steps(json!([{"do": "push", "label": "One"}])),
    );
    let (ours, elsewhere) = (Store::new(), folder(&[]));
    ours.push(elsewhere.path(), json!([{"do": "push", "label": "One"}]));
    ours.json(elsewhere.path(), &["store", "backup", "copy.db"]);
    let copy = elsewhere.path().join("copy.db");
    let copy = copy.to_str().unwrap();
    for (what, make) in KINDS {
        let folder = folder(&[]);
        make(&folder.path().join("notes.txt"));
        let before = contents(folder.path());
        let commands = [
            &["run", &puppet, "puppet", &params][..],
            &["pending"],
            &["pending", "--all"],
            &["log"],
            &["show", "x"],
            &["resolve", "discard", "--reason", "x"],
            &["store", "check"],
            &["store", "stats"],
            &["store", "limit"],
            &["store", "limit", "1GiB"],
            &["store", "retention"],
            &["store", "retention", "1d"],
            &["store", "prune", "--older-than", "1d"],
            &["store", "backup", "new.db"],
            &["store", "restore", copy],
        ];
        for args in commands {
            let ran = airlock_in(folder.path(), args);
            let ran = ran.arg("--store").arg("notes.txt").arg("--json").run();
            assert_eq!(ran.code, 1, "{what}: {args:?}: {ran:#?}");
            let (kind, message, _) = ran.error();
            assert!(message.contains("notes.txt"), "{kind}: {message}");
            assert_eq!(contents(folder.path()), before, "{what}: {args:?}");
        }
        // As what is restored, and as the backup.
        for args in [
            ["store", "restore", "notes.txt", "--store", "new.db"],
            [
                "store",
                "backup",
                "notes.txt",
                "--store",
                ours.path().to_str().unwrap(),
            ],
        ] {
            let ran = airlock_in(folder.path(), &args).arg("--json").run();
            assert_eq!(ran.code, 1, "{what}: {args:?}: {ran:#?}");
            assert_eq!(contents(folder.path()), before, "{what}: {args:?}");
        }
    }
}

#[test]
fn a_row_that_cant_be_read_is_told_and_disables_nothing() {
    let (store, folder) = (Store::new(), folder(&[]));
    store.push(
        folder.path(),
        json!([{"do": "push", "label": "Below", "quiet": true}]),
    );
    let bad = store.push(
        folder.path(),
        json!([{"do": "push", "label": "Bad", "quiet": true}]),
    );
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    let change = "UPDATE actions SET grants = '{\"newer\": true}' WHERE id = ?";
    connection.execute(change, [&bad]).unwrap();
    drop(connection);
    for options in [&["pending"][..], &["pending", "--all"]] {
        let listed = store.json(folder.path(), options);
        assert_eq!(listed["pending"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(listed["unreadable"][0]["id"], json!(bad));
        let ran = store.airlock(folder.path(), options).run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert!(ran.stdout.contains("Below"), "{ran:#?}");
        assert!(
            ran.stderr.contains(&format!("action {bad} is left out")),
            "{ran:#?}"
        );
    }
    // A tool that ran has its result shown.
    store.push(
        folder.path(),
        json!([{"do": "push", "label": "Above", "quiet": true}]),
    );
    let ran = store
        .airlock(folder.path(), &["store", "check", "--json"])
        .run();
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains(&bad), "{ran:#?}");
    assert_eq!(
        store.json(folder.path(), &["store", "stats"])["unreadable"],
        json!(1)
    );
}

#[test]
fn a_trigger_in_the_file_is_refused_by_name() {
    let (store, folder) = (Store::new(), folder(&[]));
    store.push(
        folder.path(),
        json!([{"do": "push", "label": "One", "quiet": true}]),
    );
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    connection
        .execute_batch(
            "CREATE TRIGGER relabel AFTER INSERT ON actions BEGIN
                UPDATE actions SET label = 'harmless' WHERE number = new.number; END",
        )
        .unwrap();
    drop(connection);
    let ran = store.airlock(folder.path(), &["pending", "--json"]).run();
    let (kind, message, hint) = ran.error();
    assert_eq!((ran.code, kind.as_str()), (1, "store-damaged"));
    assert!(
        message.contains("it has the trigger `relabel`"),
        "{message}"
    );
    assert!(hint.contains("airlock store restore"), "{hint}");
}

#[test]
fn the_limit_of_a_store_is_told_and_set() {
    let (store, folder) = (Store::new(), folder(&[]));
    store.push(
        folder.path(),
        json!([{"do": "push", "label": "One", "quiet": true}]),
    );
    let limit = |args: &[&str]| store.json(folder.path(), &[&["store", "limit"], args].concat());
    assert_eq!(limit(&[]), json!({"limit": 4_u64 << 30}));
    assert_eq!(limit(&["500MiB"]), json!({"limit": 500 << 20}));
    assert_eq!(limit(&["none"]), json!({"limit": null}));
    assert_eq!(limit(&["1KiB"]), json!({"limit": 1024}));
    let stats = store.json(folder.path(), &["store", "stats"]);
    assert_eq!(stats["limit"], json!(1024));
    assert!(stats["pendingBytes"].as_u64().unwrap() > 3);
    let text = store
        .airlock(folder.path(), &["store", "stats"])
        .run()
        .stdout;
    assert!(text.contains("limit") && text.contains("1.0 KiB"), "{text}");
    let (puppet, params) = (
        guest("puppet"),
        steps(json!([{"do": "push", "label": "Two"}])),
    );
    let ran = store
        .airlock(folder.path(), &["run", &puppet, "puppet", &params])
        .run();
    assert!(ran.stdout.contains("the limit is 1024"), "{ran:#?}");
}
