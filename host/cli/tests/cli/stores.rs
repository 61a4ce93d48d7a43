//! Which store is used, and looking after it.

use std::fs;

use serde_json::json;

use crate::airlock::{Store, airlock_in, folder, guest, steps};

fn push() -> serde_json::Value {
    json!([{"do": "push", "label": "One", "quiet": true}])
}

#[test]
fn the_store_is_the_users_own_unless_another_is_named() {
    let (home, here, own) = (folder(&[]), folder(&[]), Store::new());
    let (puppet, params) = (guest("puppet"), steps(push()));
    let run = |options: &[&str], variable: Option<&str>| {
        let args = [&["run", &puppet, "puppet", &params], options].concat();
        let ran = airlock_in(here.path(), &args).env("XDG_STATE_HOME", home.path());
        let ran = match variable {
            Some(store) => ran.env("AIRLOCK_STORE", store),
            None => ran,
        };
        assert_eq!(ran.run().code, 0);
    };
    let by_default = home.path().join("airlock/pending.db");
    run(&[], None);
    assert!(by_default.is_file());
    // Empty is as good as not there.
    run(&[], Some(""));
    let here_db = here.path().join("here.db");
    run(&["--store", "here.db"], Some(own.path().to_str().unwrap()));
    assert!(here_db.is_file() && !own.path().exists());
    run(&[], Some(own.path().to_str().unwrap()));
    assert!(own.path().is_file());
    let count = |store: &str| {
        let listed = airlock_in(
            here.path(),
            &["pending", "--all", "--json", "--store", store],
        )
        .run()
        .json();
        listed["pending"].as_array().unwrap().len()
    };
    let counts = [
        by_default.to_str().unwrap(),
        "here.db",
        own.path().to_str().unwrap(),
    ]
    .map(count);
    assert_eq!(counts, [2, 1, 1]);
}

#[test]
fn a_backup_is_restored_where_there_is_no_store() {
    let (store, folder) = (Store::new(), folder(&[]));
    let id = store.push(folder.path(), push());
    store.json(folder.path(), &["resolve", "discard", "--reason", "no"]);
    store.push(folder.path(), push());
    let backup = store.json(folder.path(), &["store", "backup", "copy.db"]);
    let copy = folder.path().join("copy.db");
    assert_eq!(
        backup,
        json!({"backup": "copy.db", "bytes": copy.metadata().unwrap().len()})
    );
    let again = store
        .airlock(folder.path(), &["store", "backup", "copy.db", "--json"])
        .run();
    assert_eq!((again.code, again.error().0.as_str()), (1, "file-exists"));

    let restore = ["store", "restore", "copy.db", "--json"];
    let refused = store.airlock(folder.path(), &restore).run();
    let (kind, message, hint) = refused.error();
    assert_eq!((refused.code, kind.as_str()), (1, "file-exists"));
    assert!(
        message.contains("a restore overwrites nothing"),
        "{message}"
    );
    assert!(
        hint.contains(&format!("`mv {}", store.path().display())),
        "{hint}"
    );
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", store.path().display()));
    }
    assert_eq!(store.airlock(folder.path(), &restore).run().code, 0);
    // It may have been applied after the backup.
    let pending = store.json(folder.path(), &["pending"]);
    assert_eq!(pending["pending"][0]["state"], "interrupted");
    assert_eq!(
        store.json(folder.path(), &["log"])["log"][0]["id"],
        json!(id)
    );
    let ran = store
        .airlock(
            folder.path(),
            &["resolve", "apply", "--reason", "x", "--json"],
        )
        .run();
    let (kind, message, _) = ran.error();
    assert_eq!(kind, "interrupted");
    assert!(message.contains("comes from a backup"), "{message}");

    let ran = store
        .airlock(folder.path(), &["store", "backup", "other.db"])
        .run();
    assert!(
        ran.stdout.starts_with("Backed up to other.db: ") && ran.stdout.contains(" KiB"),
        "{ran:#?}"
    );
    let ran = airlock_in(
        folder.path(),
        &["store", "restore", "other.db", "--store", "third.db"],
    )
    .run();
    assert!(
        ran.stdout.starts_with("Restored third.db from other.db.\n"),
        "{ran:#?}"
    );
    assert!(
        ran.stdout
            .contains("`airlock pending --all --store third.db`"),
        "{ran:#?}"
    );
    let ran = airlock_in(
        folder.path(),
        &[
            "store",
            "restore",
            "missing.db",
            "--store",
            "fourth.db",
            "--json",
        ],
    )
    .run();
    assert_eq!((ran.code, ran.error().0.as_str()), (1, "store-missing"));
}

#[test]
fn a_store_tells_how_much_it_keeps_and_forgets_what_is_old() {
    let (store, folder) = (Store::new(), folder(&[]));
    store.push(folder.path(), push());
    store.json(folder.path(), &["resolve", "discard", "--reason", "no"]);
    store.push(folder.path(), push());
    let stats = store.json(folder.path(), &["store", "stats"]);
    let numbers = [
        "pending",
        "interrupted",
        "lost",
        "resolving",
        "sessions",
        "applied",
        "discarded",
        "plugins",
    ];
    assert_eq!(
        numbers.map(|name| stats[name].as_u64().unwrap()),
        [1, 0, 0, 0, 1, 0, 1, 1]
    );
    assert_eq!(
        (&stats["retention"], &stats["store"]),
        (&json!("forever"), &json!(store.path().to_str().unwrap()))
    );
    let text = store
        .airlock(folder.path(), &["store", "stats"])
        .run()
        .stdout;
    assert!(
        text.contains("  size        ") && text.contains("KiB"),
        "{text}"
    );

    let prune = |options: &[&str]| {
        store
            .airlock(folder.path(), &[&["store", "prune"], options].concat())
            .run()
    };
    let ran = prune(&["--json"]);
    let (kind, _, hint) = ran.error();
    assert_eq!((ran.code, kind.as_str()), (2, "usage"));
    assert!(hint.contains("--older-than 30d"), "{hint}");
    assert_eq!(
        prune(&["--older-than", "1d"]).stdout,
        "Forgot 0 decisions older than 1d, and 0 plugins.\n"
    );
    let retention =
        |age: &[&str]| store.json(folder.path(), &[&["store", "retention"], age].concat());
    assert_eq!(
        retention(&[]),
        json!({"retention": "forever", "seconds": null})
    );
    assert_eq!(
        retention(&["30d"]),
        json!({"retention": "30d", "seconds": 2_592_000})
    );
    assert_eq!(
        retention(&[]),
        json!({"retention": "30d", "seconds": 2_592_000})
    );
    assert_eq!(
        prune(&[]).stdout,
        "Forgot 0 decisions older than 30d, and 0 plugins.\n"
    );
    assert_eq!(retention(&["forever"])["seconds"], json!(null));
    let pruned = store.json(folder.path(), &["store", "prune", "--older-than", "0s"]);
    assert_eq!(
        pruned,
        json!({"olderThan": "0s", "actions": 1, "plugins": 0})
    );
    store.json(folder.path(), &["resolve", "discard", "--reason", "no"]);
    assert_eq!(
        prune(&["--older-than", "0s"]).stdout,
        "Forgot 1 decision older than 0s, and 0 plugins.\n"
    );

    let shown = store
        .airlock(folder.path(), &["store", "retention", "12h"])
        .run()
        .stdout;
    assert_eq!(shown, "Decisions are kept for 12h.\n");
    let ran = store
        .airlock(folder.path(), &["store", "retention", "soon", "--json"])
        .run();
    assert_eq!((ran.code, ran.error().0.as_str()), (2, "usage"));
}

#[test]
fn a_check_finds_what_was_changed_behind_its_back() {
    let (store, folder) = (Store::new(), folder(&[]));
    store.push(folder.path(), push());
    let check = || {
        store
            .airlock(folder.path(), &["store", "check", "--json"])
            .run()
    };
    let path = store.path().to_str().unwrap().to_owned();
    let ran = check();
    assert_eq!(
        (ran.code, ran.json()),
        (0, json!({"store": path, "problems": []}))
    );
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    connection
        .execute("UPDATE plugins SET bytes = x'00'", [])
        .unwrap();
    drop(connection);
    let ran = check();
    assert_eq!(ran.code, 1, "{ran:#?}");
    let problem = ran.json()["problems"][0].as_str().unwrap().to_owned();
    assert!(
        problem.contains("the bytes of the plugin puppet"),
        "{problem}"
    );
    let ran = store.airlock(folder.path(), &["store", "check"]).run();
    assert!(ran.stdout.contains(&problem), "{ran:#?}");
    assert!(
        ran.stderr
            .starts_with(&format!("error: {path} has 1 problem\nhint: ")),
        "{ran:#?}"
    );
    // Nothing is run that is not what was previewed.
    let ran = store
        .airlock(folder.path(), &["resolve", "apply", "--reason", "x"])
        .run();
    assert_eq!(ran.code, 1, "{ran:#?}");
}
