//! A preview in one process, and the decision in a later one.

use std::fs;

use serde_json::{Value, json};

use crate::airlock::{RENAME, Store, folder, guest, names, short, steps};

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn a_preview_is_applied_later_though_its_plugin_is_gone() {
    let (store, plugins, folder) = (Store::new(), folder(&[]), folder(&["a.jpeg"]));
    let plugin = plugins.path().join("renamer.wasm");
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/bundled/batch_rename.wasm");
    fs::copy(bundled, &plugin).unwrap();
    let report = store.json(folder.path(), &["run", plugin.to_str().unwrap(), RENAME]);
    let id = report["pending"][0]["id"].as_str().unwrap();
    fs::remove_file(&plugin).unwrap();

    let pending = store.json(folder.path(), &["pending"]);
    let session = format!(
        "workspace:{}",
        folder.path().canonicalize().unwrap().display()
    );
    let entry = &pending["pending"][0];
    assert!(
        entry["pushedAt"].as_str().unwrap().ends_with('Z'),
        "{entry}"
    );
    let expected = json!({"pending": [{
        "id": id, "label": "Batch rename: 1 files", "sourceToolName": "batch_rename_preview",
        "sourceIsOwnTool": true, "pluginName": "renamer", "plugin": report["pending"][0]["plugin"],
        "details": report["pending"][0]["details"], "durable": true, "session": session,
        "pushedAt": entry["pushedAt"], "attempts": 0, "state": "pending",
        "callId": entry["callId"], "effects": {"verified": true, "counts": {"renamed": 1}},
    }]});
    assert_eq!(pending, expected);

    let shown = store.json(folder.path(), &["show", id]);
    assert_eq!(
        shown["workspace"],
        folder.path().canonicalize().unwrap().to_str().unwrap()
    );
    assert_eq!(shown["grants"], json!({"workspace": "read-write"}));
    assert_eq!(
        (&shown["lease"], &shown["resolved"]),
        (&Value::Null, &Value::Null)
    );

    let resolved = store.json(
        folder.path(),
        &["resolve", "apply", "--reason", "it is right"],
    );
    let details = json!({
        "action": "apply", "reason": "it is right", "sourceToolName": "batch_rename_preview",
        "label": "Batch rename: 1 files", "sourceResultDetails": report["details"],
    });
    assert_eq!(
        (&resolved["details"], &resolved["isError"]),
        (&details, &json!(false))
    );
    assert_eq!(names(&folder), ["a.jpg"]);

    assert_eq!(
        store.json(folder.path(), &["pending"]),
        json!({"pending": []})
    );
    let log = store.json(folder.path(), &["log"]);
    let logged = &log["log"][0];
    assert_eq!(
        (&logged["id"], &logged["state"]),
        (&json!(id), &json!("applied"))
    );
    assert_eq!(logged["resolved"]["reason"], "it is right");
    assert!(
        logged["resolved"]["result"]
            .as_str()
            .unwrap()
            .starts_with("sha256:"),
        "{logged}"
    );
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let decided_by = &logged["resolved"]["decidedBy"];
    assert_eq!(
        (&decided_by["actor"], &decided_by["evidence"]),
        (&json!("unknown"), &json!("none"))
    );
    let name = decided_by["name"].as_str().unwrap();
    assert!(name.ends_with(&format!("@{}", machine.trim())), "{name}");
    let mut shown = store.json(folder.path(), &["show", id]);
    let call = shown.as_object_mut().unwrap().remove("call").unwrap();
    // The log counts what `show` lists.
    let changes = shown["effects"]["changes"].take();
    assert_eq!(changes[0]["path"], "a.jpg");
    shown["effects"] = logged["effects"].clone();
    assert_eq!(logged["effects"]["counts"], json!({"renamed": 1}));
    // And says what can be undone.
    shown["undoable"] = json!(true);
    assert_eq!(shown, *logged);
    assert_eq!(
        (&call["tool"], &call["id"]),
        (&json!("batch_rename_preview"), &logged["callId"])
    );
    assert_eq!(call["params"]["files"], json!(["*.jpeg"]));
    let text = call["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("a.jpeg"), "{text}");
}

#[test]
fn people_read_the_same() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let run = |args: &[&str]| {
        let ran = store
            .airlock(folder.path(), args)
            .env("USER", "ann")
            .env("TZ", "UTC")
            .run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.stdout
    };
    let id = store.push_rename(folder.path());
    let pending = run(&["pending"]);
    let lines: Vec<&str> = pending.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "│ Batch rename: 1 files"));
    assert_eq!(lines[2], "  Verified by the host: 1 renamed");
    assert!(
        lines[1].starts_with("  from batch_rename_preview of batch-rename (sha256:"),
        "{pending}"
    );
    assert!(
        lines[1].ends_with(&format!(", id {}", short(&id))),
        "{pending}"
    );

    let shown = run(&["show", &id]);
    let workspace = folder.path().canonicalize().unwrap();
    for expected in [
        format!("id {id}"),
        format!("workspace {}", workspace.display()),
        format!("session workspace:{}", workspace.display()),
        "tool batch_rename_preview".to_owned(),
        "granted workspace: read, and change while applying".to_owned(),
        "attempts 0".to_owned(),
        "state pending".to_owned(),
        "plugin batch-rename, sha256:".to_owned(),
    ] {
        assert!(
            words(&shown).join(" ").contains(&expected),
            "{expected}: {shown}"
        );
    }
    assert!(shown.contains("\n  details\n    │ {\n"), "{shown}");

    let extra = [
        "resolve",
        "discard",
        "--reason",
        "not these",
        "--extra",
        r#"{"ticket": 17}"#,
    ];
    let said = "Discard: Batch rename: 1 files\n  │ Discarded batch rename. Reason: not these\n";
    assert_eq!(run(&extra), said);
    let shown = words(&run(&["show", &id])).join(" ");
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let by = format!("by ann@{}, without a question", machine.trim());
    for expected in [
        "state discarded",
        &by,
        "evidence none",
        "called batch_rename_preview",
        r#"params {"files":["*.jpeg"]"#,
        "a.jpeg",
        "reason not these",
        r#"extra {"ticket":17}"#,
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let log = run(&["log"]);
    let decided = format!("Discard: Batch rename: 1 files\n  discarded {by} (evidence: none), 20");
    assert!(log.starts_with(&decided), "{log}");
    assert!(
        log.contains(" +00:00 (") && log.contains("\n  reason: not these\n"),
        "{log}"
    );
    assert!(run(&["pending"]).starts_with("Nothing is pending in the session workspace:/"));
}

#[test]
fn sessions_are_apart_and_are_listed_together() {
    let (store, one, other) = (Store::new(), folder(&[]), folder(&[]));
    let push = |label: &str| json!([{"do": "push", "label": label}]);
    store.push(one.path(), push("One"));
    store.push(other.path(), push("Other"));
    let (puppet, params) = (guest("puppet"), steps(push("Named")));
    store.json(
        one.path(),
        &["run", &puppet, "puppet", &params, "--session", "named"],
    );

    let check = |options: &[&str], expected: &[&str]| {
        let listed = store.json(one.path(), &[&["pending"], options].concat());
        let labels: Vec<_> = listed["pending"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| &entry["label"])
            .collect();
        assert_eq!(labels, expected, "{options:?}");
    };
    let there = other.path().to_str().unwrap();
    // A workspace's conversations together, its own first.
    check(&[], &["One", "Named"]);
    check(&["--workspace", there], &["Other"]);
    check(&["--session", "named"], &["Named"]);
    check(&["--session", "unknown"], &[]);
    let all = store.airlock(one.path(), &["pending", "--all"]).run();
    assert_eq!(
        all.stdout.matches("In the session ").count(),
        3,
        "{}",
        all.stdout
    );
    let none = store
        .airlock(one.path(), &["pending", "--session", "unknown"])
        .run();
    assert_eq!(
        none.stdout,
        "Nothing is pending in the session unknown.\n3 more actions are pending in other sessions: `airlock pending --all`\n"
    );
    let usage = store
        .airlock(one.path(), &["pending", "--all", "--session", "named"])
        .run();
    assert_eq!(usage.code, 2);

    // From anywhere, by the session's name or by the action's id; in the workspace that was
    // previewed.
    let from = folder(&[]);
    let done = store.json(
        from.path(),
        &["resolve", "discard", "--session", "named", "--reason", "no"],
    );
    assert_eq!(done["details"]["label"], "Named");
    let log = |options: &[&str]| {
        store.json(from.path(), &[&["log"], options].concat())["log"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(
        (log(&[]), log(&["--session", "named"]), log(&["--all"])),
        (0, 1, 1)
    );
    let done = store.json(
        from.path(),
        &["resolve", "discard", "--workspace", there, "--reason", "no"],
    );
    assert_eq!(done["details"]["label"], "Other");
    assert_eq!((log(&["--all"]), log(&["--all", "--limit", "1"])), (2, 1));
}

#[test]
fn an_id_is_enough_from_anywhere() {
    let (store, here, from) = (Store::new(), folder(&["a.jpeg"]), folder(&["a.jpeg"]));
    let id = store.push_rename(here.path());
    let resolve = |options: &[&str]| {
        let args = [
            &["resolve", "apply", "--id", &id, "--reason", "yes", "--json"],
            options,
        ]
        .concat();
        store.airlock(from.path(), &args).run()
    };
    // What was previewed on one directory is not applied to another.
    let (kind, message, _) = resolve(&["--workspace", "."]).error();
    assert_eq!(kind, "other-workspace");
    for folder in [here.path(), from.path()] {
        let path = folder.canonicalize().unwrap();
        assert!(message.contains(path.to_str().unwrap()), "{message}");
    }
    let (kind, _, hint) = resolve(&["--session", "mistaken"]).error();
    assert_eq!(kind, "unknown-action");
    assert!(
        hint.starts_with("it is in the session workspace:/"),
        "{hint}"
    );
    assert_eq!(
        (names(&here), names(&from)),
        (vec!["a.jpeg".into()], vec!["a.jpeg".into()])
    );

    assert_eq!(
        resolve(&["--workspace", here.path().to_str().unwrap()]).code,
        0
    );
    assert_eq!(
        (names(&here), names(&from)),
        (vec!["a.jpg".into()], vec!["a.jpeg".into()])
    );
    let ran = resolve(&[]);
    let (kind, message, hint) = ran.error();
    assert_eq!((ran.code, kind.as_str()), (1, "already-resolved"));
    assert_eq!(message, format!("Pending action {id} was already applied."));
    assert_eq!(
        hint,
        format!(
            "the reason was \"yes\"; `airlock show {}` shows by whom, and why",
            short(&id)
        )
    );
}

#[test]
fn a_preview_is_read_again_by_other_processes_whole_or_with_the_list() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg"]));
    let run = |args: &[&str]| {
        let ran = store.airlock(folder.path(), args).run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.stdout
    };
    let preview = run(&["run", "batch-rename", RENAME]);
    let preview: Vec<&str> = preview.lines().filter(|it| it.starts_with('│')).collect();
    let preview: Vec<&str> = preview
        .into_iter()
        .filter(|it| it.contains(".jpeg"))
        .collect();
    assert_eq!(preview.len(), 2, "{preview:?}");
    let id = store.json(folder.path(), &["pending"])["pending"][0]["id"].clone();
    let id = id.as_str().unwrap();
    assert!(!run(&["pending"]).contains(".jpeg"));
    // An id's end will do where it is unique.
    for words in [&["pending", "-v"][..], &["show", id], &["show", &id[24..]]] {
        let shown = run(words);
        for line in &preview {
            let line = line.trim_start_matches(['│', ' ']);
            assert!(shown.contains(line), "{line}: {shown}");
        }
    }
    let listed = store.json(folder.path(), &["pending", "--verbose"]);
    assert_eq!(listed["pending"][0]["call"]["params"]["find"], "jpeg$");

    store.push_rename(folder.path());
    let several = store.airlock(folder.path(), &["show", &id[..4]]).run();
    assert_eq!(several.code, 2, "{several:#?}");
    assert!(
        several.stderr.contains(id) && several.stderr.contains("more of the id"),
        "{several:#?}"
    );
}

#[test]
fn what_was_decided_can_be_forgotten_with_its_preview_and_its_params() {
    let (store, folder) = (Store::new(), folder(&["secret.jpeg"]));
    let id = store.push_rename(folder.path());
    let early = store
        .airlock(folder.path(), &["store", "forget", &id])
        .run();
    assert_eq!(early.code, 2, "{early:#?}");
    assert!(early.stderr.contains("resolve discard"), "{early:#?}");
    let discard = ["resolve", "discard", "--reason", "no"];
    assert_eq!(store.airlock(folder.path(), &discard).run().code, 0);
    let forgotten = store.json(folder.path(), &["store", "forget", &id]);
    assert_eq!(forgotten, json!({"forgotten": id}));
    assert_ne!(store.airlock(folder.path(), &["show", &id]).run().code, 0);
    assert_eq!(store.json(folder.path(), &["log"]), json!({"log": []}));
}
