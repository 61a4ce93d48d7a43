//! Decisions that succeed, that fail, and that can't be carried out.

use std::fs;

use serde_json::{Value, json};

use crate::airlock::{ProgramOutput, RENAME, Store, folder, guest, names, steps};

#[test]
fn what_can_not_be_resolved_is_told_with_what_to_do() {
    let (store, folder) = (Store::new(), folder(&[]));
    let run = |args: &[&str]| {
        store
            .airlock(folder.path(), &[args, &["--json"]].concat())
            .run()
    };
    let check = |ran: ProgramOutput, code: i32, kind: &str, message: &str, hint: &str| {
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
        "nothing is pending in any other",
    );
    check(
        run(&[&resolve[..], &["--id", "x"]].concat()),
        1,
        "unknown-action",
        "there is no action x",
        "`airlock pending --all`",
    );
    check(
        run(&["show", "xxxx"]),
        1,
        "unknown-action",
        "there is no action xxxx in the store",
        "`airlock log --all`",
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
        "not valid JSON",
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
fn a_decision_with_the_call_takes_an_extra_too() {
    let (store, folder) = (Store::new(), folder(&[]));
    fs::write(folder.path().join("extra.json"), r#"{"ticket": 17}"#).unwrap();
    let tell = json!([{"do": "resolution"}]);
    let push =
        json!([{"do": "push", "label": "One", "quiet": true, "apply": tell, "reject": tell}]);
    let (puppet, params) = (guest("puppet"), steps(push));
    let run = |more: &[&str]| {
        let args = [&["run", &puppet, "puppet", &params, "--json"], more].concat();
        let ran = store.airlock(folder.path(), &args);
        ran.stdin(r#"{"ticket": 17}"#).run()
    };
    for decision in ["--apply", "--discard"] {
        for word in [r#"{"ticket": 17}"#, "@extra.json", "-"] {
            let ran = run(&[decision, "yes", "--extra", word]).json();
            let resolution = &ran["resolved"];
            assert_eq!(
                resolution["details"]["extra"],
                json!({"ticket": 17}),
                "{ran}"
            );
            let told = resolution["content"][0]["text"].as_str().unwrap();
            let told: Value = serde_json::from_str(told).unwrap();
            assert_eq!(told["extra"], json!(r#"{"ticket":17}"#));
        }
    }
    // Refused before the tool is called.
    for (more, kind, said) in [
        (
            &["--apply", "yes", "--extra", "[]"][..],
            "usage",
            "not an object",
        ),
        (
            &["--apply", "yes", "--extra", "{"],
            "invalid-params",
            "not valid JSON",
        ),
        (&["--extra", "{}"], "usage", "--apply"),
        (&["--apply", "yes", "--discard", "no"], "usage", "--discard"),
    ] {
        let ran = run(more);
        let (found, message, _) = ran.error();
        assert_eq!((ran.code, found.as_str()), (2, kind), "{message}");
        assert!(message.contains(said), "{message}");
    }
    let args = [
        "run", &puppet, "puppet", "-", "--apply", "yes", "--extra", "-",
    ];
    let ran = store.airlock(folder.path(), &args).stdin("{}").run();
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("can't both be read from standard input"),
        "{ran:#?}"
    );
    assert_eq!(
        store.json(folder.path(), &["pending"]),
        json!({"pending": []})
    );
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
    let mut object = ran.json();
    let pending = object.as_object_mut().unwrap().remove("pending").unwrap();
    assert_eq!((ran.code, object), (1, expected));
    assert_eq!(
        (&pending[0]["id"], pending.as_array().unwrap().len()),
        (&json!(id), 1)
    );
    let ran = store
        .airlock(folder.path(), &["resolve", "apply", "--reason", "yes"])
        .run();
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            1,
            "Failed: One\n  reason to apply: yes\n  error: disk on\n    │ fire\nhint: the action is pending again\n"
        )
    );
    let pending = store.airlock(folder.path(), &["pending"]).run();
    assert!(
        pending
            .stdout
            .contains("\n  tried 2 times, the last time: Apply failed: disk on …\n"),
        "{}",
        pending.stdout
    );
    let shown = store.json(folder.path(), &["show", &id]);
    assert_eq!(
        (&shown["attempts"], &shown["lastError"]),
        (&json!(2), &json!("Apply failed: disk on\nfire"))
    );

    let spin = json!([{"do": "push", "label": "Two", "apply": [{"do": "spin"}]}]);
    let (puppet, params) = (guest("puppet"), steps(spin));
    // Its rehearsal would take as long as a call may.
    let push = ["run", &puppet, "puppet", &params, "--timeout", "1.5"];
    store.json(folder.path(), &push);
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
        let said = format!("Discard: {label}\n  reason: no\n");
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
    let id = store.push_rename(gone.path());
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
fn what_a_failed_call_pushed_is_neither_pending_nor_logged() {
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
    }
    let json = |args: &[&str]| store.json(folder.path(), args);
    assert_eq!(json(&["pending"]), json!({"pending": []}));
    assert_eq!(json(&["log"]), json!({"log": []}));
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
        resolved["decidedBy"]["name"]
            .as_str()
            .unwrap()
            .starts_with("bob@"),
        "{resolved}"
    );
}

#[test]
fn all_that_is_pending_is_resolved_in_one_object_for_programs() {
    let (store, folder) = (Store::new(), folder(&[]));
    let push = |label: &str, apply: Value| {
        let step = json!([{"do": "push", "label": label, "apply": apply}]);
        store.push(folder.path(), step);
    };
    push("two", json!([{"do": "text", "text": "did two"}]));
    push("one", json!([{"do": "failed", "message": "no way"}]));
    let all = ["resolve", "apply", "--all", "--reason", "yes", "--json"];
    let ran = store.airlock(folder.path(), &all).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["resolved"][0]["content"][0]["text"], "did two");
    assert_eq!(told["failed"]["details"]["label"], "one");
    let discard = ["resolve", "discard", "--all", "--reason", "no"];
    let told = store.json(folder.path(), &discard);
    assert_eq!(told["resolved"].as_array().unwrap().len(), 1);
    let ran = store.airlock(folder.path(), &discard).run();
    assert_eq!(ran.code, 1, "nothing is left: {ran:#?}");
}

#[test]
fn what_is_left_over_in_a_workspace_is_discarded_by_one_command() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg"]));
    let run = |file: &str, session: &str| {
        let params = json!({"files": [file], "find": "jpeg$", "replace": "jpg"}).to_string();
        let args = ["run", "batch-rename", &params, "--session", session];
        assert_eq!(store.airlock(folder.path(), &args).run().code, 0);
    };
    let ids = |args: &[&str]| {
        let ran = store.json(folder.path(), args);
        let list = ran.get("resolved").or(ran.get("pending")).unwrap();
        list.as_array().unwrap().len()
    };
    run("a.jpeg", "one");
    run("b.jpeg", "another");
    fs::write(folder.path().join("a.jpeg"), "changed since").unwrap();
    assert_eq!(ids(&["pending"]), 2);
    assert_eq!(ids(&["discard", "--stale", "--reason", "stale"]), 1);
    assert_eq!(ids(&["discard", "--stale", "--reason", "stale"]), 0);
    assert_eq!(ids(&["pending"]), 1);
    run("a.jpeg", "one");
    assert_eq!(ids(&["discard", "--everywhere", "--reason", "over"]), 2);
    assert_eq!(ids(&["pending"]), 0);
    let apply = ["apply", "--stale", "--reason", "all"];
    let ran = store.airlock(folder.path(), &apply).run();
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.stderr.contains("can't be applied"), "{ran:#?}");
}

#[test]
fn an_action_is_named_as_an_argument() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg"]));
    let id = store.push_rename(folder.path());
    let ran = store.airlock(
        folder.path(),
        &["apply", &id[id.len() - 8..], "--reason", "right"],
    );
    assert_eq!(ran.run().code, 0);
    assert_eq!(names(&folder), ["a.jpg", "b.jpg"]);
}
