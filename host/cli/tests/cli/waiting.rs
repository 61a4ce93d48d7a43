//! What waits for a decision: it can expire, and a command of the user's is told.

use serde_json::{Value, json};

use crate::airlock::{RENAME, Store, folder, guest, names, short, steps};
use crate::terminal::Terminal;

#[test]
fn what_has_expired_is_discarded_and_can_not_be_applied() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let push = |expires: &str| {
        let args = ["run", "batch-rename", RENAME, "--expires", expires];
        let report = store.json(folder.path(), &args);
        report["pending"][0]["id"].as_str().unwrap().to_owned()
    };
    let id = push("0s");
    let ran = store.airlock(folder.path(), &["pending"]).run();
    assert!(ran.stdout.starts_with("Nothing is pending"), "{ran:#?}");
    assert_eq!(
        ran.stderr,
        "note: 1 action has expired, and was discarded\n"
    );
    let log = store.json(folder.path(), &["log"]);
    let resolved = &log["log"][0]["resolved"];
    assert_eq!(log["log"][0]["id"], *id);
    assert_eq!(resolved["reason"], "expired: not decided in time");
    assert_eq!(resolved["decidedBy"]["actor"], "program", "{log}");

    let id = push("0s");
    let apply = [
        "resolve", "apply", "--id", &id, "--reason", "late", "--json",
    ];
    let ran = store.airlock(folder.path(), &apply).run();
    assert_eq!((ran.code, &*ran.error().0), (1, "expired"), "{ran:#?}");
    assert_eq!(names(&folder), ["a.jpeg"]);

    let id = push("30d");
    let shown = store.airlock(folder.path(), &["show", &id]).run();
    assert!(shown.stdout.contains("(in 4 weeks)"), "{shown:#?}");
    let listed = store.json(folder.path(), &["pending"]);
    assert!(listed["pending"][0]["expiresAt"].is_string(), "{listed}");
    let reason = ["resolve", "apply", "--reason", "in time"];
    assert_eq!(store.airlock(folder.path(), &reason).run().code, 0);
    assert_eq!(names(&folder), ["a.jpg"]);
}

/// What the command was told, each as one line of JSON.
fn told(folder: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("told.json")).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Adds what it reads to a file, on a line of its own.
const TELL: &str = "cat >> told.json; echo >> told.json";

#[test]
fn a_command_is_told_of_what_waits() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let run = ["run", "batch-rename", RENAME, "--json"];
    let args = [&run[..], &["--notify", TELL]].concat();
    let path = std::env::var("PATH").unwrap();
    let ran = store.airlock(folder.path(), &args).env("PATH", &path).run();
    let id = ran.json()["pending"][0]["id"].clone();
    let waits = told(folder.path());
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert_eq!(
        (&waits[0]["event"], &waits[0]["action"]["id"]),
        (&json!("pending"), &id)
    );

    // What the command line decides does not wait. The variable holds for each.
    let decided = [&run[..], &["--discard", "no"]].concat();
    let ran = store.airlock(folder.path(), &decided);
    assert_eq!(
        ran.env("PATH", &path)
            .env("AIRLOCK_NOTIFY", TELL)
            .run()
            .code,
        0
    );
    assert_eq!(told(folder.path()).len(), 1);
    let env = "printf '{\"%s\": \"%s\"}\\n' $AIRLOCK_EVENT $AIRLOCK_STATE >> told.json";
    let ran = store.airlock(folder.path(), &run);
    assert_eq!(
        ran.env("PATH", &path).env("AIRLOCK_NOTIFY", env).run().code,
        0
    );
    assert_eq!(told(folder.path())[1], json!({"pending": "pending"}));

    let fails = [&run[..], &["--notify", "exit 3"]].concat();
    let ran = store
        .airlock(folder.path(), &fails)
        .env("PATH", &path)
        .run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(
        ran.stderr
            .contains("the command of `--notify` failed: exit status: 3"),
        "{ran:#?}"
    );
}

#[test]
fn a_command_is_told_once_of_all_that_a_call_pushed() {
    let (store, folder) = (Store::new(), folder(&[]));
    let push = json!({"do": "push", "label": "One of many", "times": 50, "quiet": true});
    let (puppet, params) = (guest("puppet"), steps(json!([push])));
    let run = ["run", &puppet, "puppet", &params, "--notify", TELL];
    let ran = store.airlock(folder.path(), &run);
    let path = std::env::var("PATH").unwrap();
    assert_eq!(ran.env("PATH", &path).run().code, 0);
    let told = told(folder.path());
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["more"], 49);
    assert_eq!(told[0]["action"]["label"], "One of many");
}

#[test]
fn a_command_is_told_of_what_somebody_else_decides() {
    let folder = folder(&["a.jpeg"]);
    let run = ["run", "batch-rename", RENAME, "--notify", TELL];
    let mut terminal = Terminal::run(folder.path(), &run);
    terminal.sees("[a]pply, [d]iscard, [l]eave, [?]: ");
    let discard = ["resolve", "discard", "--reason", "elsewhere"];
    let ran = crate::airlock::airlock_in(folder.path(), &discard).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    terminal.types("l").ends(0);
    let told = told(folder.path());
    let events: Vec<_> = told
        .iter()
        .map(|it| (&it["event"], &it["action"]["state"]))
        .collect();
    let (pending, decided) = (json!("pending"), json!("decided"));
    assert_eq!(
        events,
        [(&pending, &pending), (&decided, &json!("discarded"))]
    );

    // One's own decision is no news.
    std::fs::remove_file(folder.path().join("told.json")).unwrap();
    let mut terminal = Terminal::run(folder.path(), &run);
    terminal.asks("a").asks_why("").ends(0);
    assert_eq!(self::told(folder.path()).len(), 1);
}

#[test]
fn a_folder_below_a_workspace_with_pending_actions_is_about_those() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let below = folder.path().join("below/deeper");
    std::fs::create_dir_all(&below).unwrap();
    let ran = store.airlock(&below, &["pending"]).run();
    assert!(ran.stdout.starts_with("Nothing is pending"), "{ran:#?}");
    assert_eq!(ran.stderr, "");
    store.push_rename(folder.path());
    let real = folder.path().canonicalize().unwrap();
    let note = format!(
        "note: nothing is pending for this directory; this is about the workspace above it, {}",
        real.display()
    );
    let ran = store.airlock(&below, &["pending"]).run();
    assert!(ran.stdout.contains("Batch rename"), "{ran:#?}");
    assert_eq!(ran.stderr.trim_end(), note);
    // Who names one means it.
    let ran = store
        .airlock(&below, &["pending", "--workspace", "."])
        .run();
    assert!(ran.stdout.starts_with("Nothing is pending"), "{ran:#?}");
    let resolve = ["resolve", "apply", "--reason", "from below"];
    let ran = store.airlock(&below, &resolve).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stderr.starts_with(&note), "{ran:#?}");
    assert!(names(&folder).contains(&"a.jpg".to_owned()));
}

#[test]
fn what_looks_the_same_and_what_was_previewed_before_an_apply_is_marked() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let first = store.push_rename(folder.path());
    let second = store.push_rename(folder.path());
    let other = r#"{"files": ["*.jpeg"], "find": "a", "replace": "b"}"#;
    let third = store.json(folder.path(), &["run", "batch-rename", other]);
    let third = third["pending"][0]["id"].clone();
    let listed = store.json(folder.path(), &["pending"]);
    let marks = |listed: &Value, mark: &str| -> Vec<Value> {
        let listed = listed["pending"].as_array().unwrap();
        listed.iter().map(|action| action[mark].clone()).collect()
    };
    assert_eq!(
        marks(&listed, "sameAs"),
        [Value::Null, json!(first), Value::Null]
    );
    assert_eq!(
        marks(&listed, "appliedSince"),
        [Value::Null, Value::Null, Value::Null]
    );
    let ran = store.airlock(folder.path(), &["pending"]).run();
    let same = format!(
        "  the same plugin, tool, label and details as {}: perhaps",
        short(&first)
    );
    assert!(ran.stdout.contains(&same), "{ran:#?}");

    let apply = [
        "resolve",
        "apply",
        "--id",
        &second,
        "--reason",
        "one of them",
    ];
    assert_eq!(store.airlock(folder.path(), &apply).run().code, 0);
    let listed = store.json(folder.path(), &["pending"]);
    assert_eq!(marks(&listed, "id"), [third, json!(first)]);
    // What that apply did to their files is known, and said instead.
    let gone = json!([{"path": "a.jpeg", "what": "gone"}]);
    let stale = marks(&listed, "stale");
    assert_eq!(stale[0], gone, "{listed}");
    assert_eq!(stale[1][0], gone[0], "{listed}");
    for mark in ["appliedSince", "sameAs"] {
        assert_eq!(marks(&listed, mark), [Value::Null, Value::Null]);
    }
    let ran = store.airlock(folder.path(), &["pending"]).run();
    let stale = "  stale, and can't be applied: a.jpeg is gone";
    assert_eq!(ran.stdout.matches(stale).count(), 2, "{ran:#?}");

    // Where nobody can look, only that is left to say.
    let session = listed["pending"][0]["session"].as_str().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let away = path.with_extension("away");
    std::fs::rename(&path, &away).unwrap();
    let listed = store.json(&away, &["pending", "--session", session]);
    assert_eq!(marks(&listed, "stale"), [Value::Null, Value::Null]);
    assert_eq!(
        marks(&listed, "appliedSince"),
        [json!(second), json!(second)]
    );
    let ran = store
        .airlock(&away, &["pending", "--session", session])
        .run();
    let since = format!(
        "  previewed before {} was applied to the same workspace",
        short(&second)
    );
    assert_eq!(ran.stdout.matches(&since).count(), 2, "{ran:#?}");
    std::fs::rename(&away, &path).unwrap();
}

#[test]
fn what_is_stale_is_marked_and_what_was_touched_alone_is_not() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg", "c.jpeg"]));
    for name in ["a", "b", "c"] {
        let params = json!({"files": [format!("{name}.jpeg")], "find": "jpeg", "replace": "jpg"});
        let run = ["run", "batch-rename", &params.to_string()];
        store.json(folder.path(), &run);
    }
    let stale = || -> Vec<Value> {
        let listed = store.json(folder.path(), &["pending"]);
        let listed = listed["pending"].as_array().unwrap();
        listed
            .iter()
            .map(|action| action["stale"].clone())
            .collect()
    };
    assert_eq!(stale(), [Value::Null, Value::Null, Value::Null]);
    let path = |name: &str| folder.path().join(name);
    std::fs::remove_file(path("a.jpeg")).unwrap();
    std::fs::write(path("c.jpg"), "in the way").unwrap();
    // The same contents, at another time.
    let contents = std::fs::read(path("b.jpeg")).unwrap();
    std::fs::write(path("b.jpeg"), contents).unwrap();
    let appeared = json!([{"path": "c.jpg", "what": "appeared"}]);
    let gone = json!([{"path": "a.jpeg", "what": "gone"}]);
    assert_eq!(stale(), [appeared, Value::Null, gone]);
}
