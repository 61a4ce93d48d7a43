//! A preview in one process, and the decision in a later one.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::airlock::{RENAME, Ran, Store, folder, guest, names, steps, without_ids};

/// The rename of `a.jpeg` in this directory, left pending. Gives its id.
fn preview_rename(store: &Store, folder: &Path) -> String {
    let report = store.json(folder, &["run", "batch-rename", RENAME]);
    report["pending"][0]["id"].as_str().unwrap().to_owned()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn a_preview_is_applied_later_though_its_plugin_is_gone() {
    let (store, plugins, folder) = (Store::new(), folder(&[]), folder(&["a.jpeg"]));
    let plugin = plugins.path().join("renamer.wasm");
    let bundled = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../plugins/batch-rename/batch_rename.wasm"
    );
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
        "details": report["pending"][0]["details"], "durable": true, "session": session,
        "pushedAt": entry["pushedAt"], "attempts": 0, "state": "pending",
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
    let decided_by = logged["resolved"]["decidedBy"].as_str().unwrap();
    assert!(
        decided_by.ends_with(&format!("@{}", machine.trim())),
        "{decided_by}"
    );
    assert_eq!(store.json(folder.path(), &["show", id]), *logged);
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
    let id = preview_rename(&store, folder.path());
    let pending = run(&["pending"]);
    let lines: Vec<&str> = pending.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "Batch rename: 1 files"));
    assert!(
        lines[1].starts_with("  from batch_rename_preview, durable, "),
        "{pending}"
    );
    assert!(lines[1].ends_with(&format!(", id {id}")), "{pending}");

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
        "plugin sha256:".to_owned(),
    ] {
        assert!(
            words(&shown).join(" ").contains(&expected),
            "{expected}: {shown}"
        );
    }
    assert!(shown.contains("\n  details\n    {\n"), "{shown}");

    let extra = [
        "resolve",
        "discard",
        "--reason",
        "not these",
        "--extra",
        r#"{"ticket": 17}"#,
    ];
    assert_eq!(run(&extra), "Discarded batch rename. Reason: not these\n");
    let shown = words(&run(&["show", &id])).join(" ");
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let by = format!("by ann@{}", machine.trim());
    for expected in [
        "state discarded",
        &by,
        "reason not these",
        r#"extra {"ticket":17}"#,
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let log = run(&["log"]);
    let decided = format!("Batch rename: 1 files\n  discarded {by}, 20");
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
    check(&[], &["One"]);
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
        "Nothing is pending in the session unknown.\nIn other sessions 3 actions are: `airlock pending --all`\n"
    );
    let usage = store
        .airlock(one.path(), &["pending", "--all", "--session", "named"])
        .run();
    assert_eq!(usage.code, 2);

    // From anywhere, by the session's name or by the action's id; in the workspace that was previewed.
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
    let id = preview_rename(&store, here.path());
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
    assert_eq!(hint, format!("`airlock show {id}` tells by whom, and why"));
}

#[test]
fn what_can_not_be_resolved_is_told_with_what_to_do() {
    let (store, folder) = (Store::new(), folder(&[]));
    let run = |args: &[&str]| {
        store
            .airlock(folder.path(), &[args, &["--json"]].concat())
            .run()
    };
    let check = |ran: Ran, code: i32, kind: &str, message: &str, hint: &str| {
        let (told_kind, told, told_hint) = ran.error();
        assert_eq!((ran.code, told_kind.as_str()), (code, kind), "{ran:#?}");
        assert!(told.contains(message), "{told}");
        assert!(told_hint.contains(hint), "{told_hint}");
    };
    let resolve = ["resolve", "apply", "--reason", "yes"];
    check(
        run(&resolve),
        1,
        "nothing-pending",
        "No pending action",
        "`airlock pending --all`",
    );
    check(
        run(&[&resolve[..], &["--id", "x"]].concat()),
        1,
        "unknown-action",
        "there is no action x",
        "`airlock pending --all`",
    );
    check(
        run(&["show", "x"]),
        1,
        "unknown-action",
        "there is no action x in the store",
        "`airlock log --all`",
    );
    check(
        run(&["resolve", "apply"]),
        2,
        "usage",
        "--reason <TEXT>",
        "airlock help",
    );
    check(
        run(&["resolve", "keep", "--reason", "x"]),
        2,
        "usage",
        "apply, discard",
        "",
    );
    check(
        run(&[&resolve[..], &["--extra", "[]"]].concat()),
        2,
        "usage",
        "not an object",
        "--extra",
    );
    check(
        run(&[&resolve[..], &["--extra", "{"]].concat()),
        2,
        "invalid-params",
        "not JSON",
        "quotes",
    );
    check(
        run(&[&resolve[..], &["--extra", "@missing"]].concat()),
        2,
        "usage",
        "missing",
        "current directory",
    );
}

#[test]
fn the_tool_hears_the_reason_and_what_comes_with_it() {
    let (store, folder) = (Store::new(), folder(&[]));
    let push =
        json!([{"do": "push", "label": "One", "quiet": true, "apply": [{"do": "resolution"}]}]);
    let extra = folder.path().join("extra.json");
    fs::write(&extra, r#"{"ticket": 17}"#).unwrap();
    for word in [r#"{"ticket": 17}"#, "@extra.json", "-"] {
        store.push(folder.path(), push.clone());
        let args = [
            "resolve", "apply", "--reason", "yes", "--extra", word, "--json",
        ];
        let ran = store
            .airlock(folder.path(), &args)
            .stdin(r#"{"ticket": 17}"#)
            .run()
            .json();
        assert_eq!(ran["details"]["extra"], json!({"ticket": 17}), "{word}");
        let told: Value =
            serde_json::from_str(ran["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(
            (&told["reason"], &told["extra"]),
            (&json!("yes"), &json!(r#"{"ticket":17}"#))
        );
    }
}

#[test]
fn a_failed_apply_is_pending_again_with_its_error() {
    let (store, folder) = (Store::new(), folder(&[]));
    let fails = json!([{"do": "failed", "message": "disk on\nfire"}]);
    let id = store.push(
        folder.path(),
        json!([{"do": "push", "label": "One", "apply": fails}]),
    );
    let args = ["resolve", "apply", "--reason", "yes", "--json"];
    let ran = store.airlock(folder.path(), &args).run();
    let expected = json!({
        "content": [{"type": "text", "text": "Apply failed: disk on\nfire"}],
        "details": {"action": "apply", "reason": "yes", "sourceToolName": "custom_tool", "label": "One"},
        "isError": true,
    });
    assert_eq!((ran.code, ran.json()), (1, expected));
    let ran = store
        .airlock(folder.path(), &["resolve", "apply", "--reason", "yes"])
        .run();
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            1,
            "error: Apply failed: disk on\nfire\nhint: the action is pending again\n"
        )
    );
    let pending = store.airlock(folder.path(), &["pending"]).run();
    assert!(
        pending
            .stdout
            .ends_with("\n  tried 2 times, the last time: Apply failed: disk on\\nfire\n"),
        "{}",
        pending.stdout
    );
    let shown = store.json(folder.path(), &["show", &id]);
    assert_eq!(
        (&shown["attempts"], &shown["lastError"]),
        (&json!(2), &json!("Apply failed: disk on\nfire"))
    );

    let spin = json!([{"do": "push", "label": "Two", "apply": [{"do": "spin"}]}]);
    store.push(folder.path(), spin);
    let ran = store
        .airlock(
            folder.path(),
            &["resolve", "apply", "--reason", "yes", "--timeout", "1.5"],
        )
        .run();
    assert_eq!(ran.code, 4, "{ran:#?}");
    assert!(ran.stderr.contains("`--timeout SECONDS`"), "{ran:#?}");
}

#[test]
fn what_is_still_pending_is_told() {
    let (store, folder) = (Store::new(), folder(&[]));
    let push = |label: &str| json!({"do": "push", "label": label, "quiet": true});
    store.push(
        folder.path(),
        json!([push("One"), push("Two"), push("Three")]),
    );
    let resolve = || {
        let ran = store
            .airlock(folder.path(), &["resolve", "discard", "--reason", "no"])
            .run();
        (ran.code, ran.stdout, ran.stderr)
    };
    let check = |label: &str, left: &str| {
        let said = format!("Discarded: {label}. Reason: no\n");
        assert_eq!(resolve(), (0, said, left.to_owned()));
    };
    check(
        "Three",
        "\n2 more actions are pending in this session: `airlock pending`\n",
    );
    check(
        "Two",
        "\n1 more action is pending in this session: `airlock pending`\n",
    );
    check("One", "");
}

#[test]
fn a_workspace_that_is_gone_keeps_nobody_from_discarding() {
    let (store, from, gone) = (Store::new(), folder(&[]), folder(&["a.jpeg"]));
    let id = preview_rename(&store, gone.path());
    let path = gone.path().to_owned();
    gone.close().unwrap();
    let resolve = |action: &str| {
        store
            .airlock(
                from.path(),
                &["resolve", action, "--id", &id, "--reason", "x", "--json"],
            )
            .run()
    };
    let ran = resolve("apply");
    assert_eq!(
        (ran.code, ran.error().0.as_str()),
        (2, "workspace"),
        "{ran:#?}"
    );
    let pending = store.json(
        from.path(),
        &["pending", "--workspace", path.to_str().unwrap()],
    );
    assert_eq!(pending["pending"][0]["attempts"], 0);
    assert_eq!(resolve("discard").code, 0);
}

#[test]
fn what_a_failed_call_pushed_is_discarded_and_logged() {
    let (store, folder) = (Store::new(), folder(&[]));
    for last in [
        json!({"do": "tool-error", "message": "no"}),
        json!({"do": "trap"}),
        json!({"do": "spin"}),
    ] {
        let push = json!({"do": "push", "label": "One"});
        let (puppet, params) = (guest("puppet"), steps(json!([push, push, last])));
        let args = ["run", &puppet, "puppet", &params, "--timeout", "1.5"];
        let ran = store.airlock(folder.path(), &args).run();
        assert_ne!(ran.code, 0);
        assert!(
            ran.stderr
                .contains("what it had made pending before was discarded"),
            "{ran:#?}"
        );
        assert_eq!(
            store.json(folder.path(), &["pending"]),
            json!({"pending": []})
        );
    }
    let log = store.json(folder.path(), &["log"]);
    let logged = log["log"].as_array().unwrap();
    assert_eq!(logged.len(), 6);
    for entry in logged {
        let resolved = &entry["resolved"];
        assert_eq!(
            (&resolved["decidedBy"], &resolved["reason"]),
            (&json!("airlock"), &json!("the call that pushed it failed"))
        );
    }
}

#[test]
fn decisions_of_run_are_logged_too() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let args = ["run", "batch-rename", RENAME, "--apply", "looks right"];
    assert_eq!(
        store
            .airlock(folder.path(), &args)
            .env("LOGNAME", "bob")
            .run()
            .code,
        0
    );
    let log = store.json(folder.path(), &["log"]);
    let resolved = &log["log"][0]["resolved"];
    assert_eq!(resolved["reason"], "looks right");
    assert!(
        resolved["decidedBy"].as_str().unwrap().starts_with("bob@"),
        "{resolved}"
    );
}

#[test]
fn texts_of_guests_and_options_do_not_drive_the_terminal() {
    let (store, folder) = (Store::new(), folder(&[]));
    let evil = "a\u{1b}]0;t\u{7}\u{9b}2J\u{202e}c";
    let failed = json!([{"do": "failed", "message": evil}]);
    let details = json!({ evil: evil }).to_string();
    let push =
        json!([{"do": "push", "label": evil, "source": evil, "apply": failed, "details": details}]);
    let id = store.push(folder.path(), push);
    let check = |args: &[&str]| {
        let ran = store.airlock(folder.path(), args).run();
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            printed.contains(r"a\u{1b}]0;t\u{7}") || printed.contains(r"a\u001b]0;t\u0007"),
            "{args:?}: {printed:?}"
        );
        let harmful = printed.find(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}');
        assert_eq!(harmful, None, "{args:?}: {printed:?}");
    };
    check(&["resolve", "apply", "--reason", "x"]);
    check(&["pending"]);
    check(&["pending", "--session", evil]);
    check(&["show", &id]);
    check(&["show", evil]);
    check(&["resolve", "apply", "--reason", "x", "--session", evil]);
    assert_eq!(
        store
            .airlock(folder.path(), &["resolve", "discard", "--reason", evil])
            .run()
            .code,
        0
    );
    check(&["log"]);
    check(&["log", "--all"]);
    check(&["show", &id]);
}

#[test]
fn there_are_no_colours_in_a_pipe() {
    let (store, folder) = (Store::new(), folder(&[]));
    let id = store.push(folder.path(), json!([{"do": "push", "label": "One"}]));
    for args in [&["pending"][..], &["show", &id], &["store", "stats"]] {
        let plain = store.airlock(folder.path(), args).run().stdout;
        let coloured = store
            .airlock(folder.path(), &[args, &["--color", "always"]].concat())
            .run()
            .stdout;
        assert!(
            !plain.contains('\u{1b}') && coloured.contains('\u{1b}'),
            "{args:?}"
        );
    }
    assert_eq!(without_ids(&id), "ID");
}
