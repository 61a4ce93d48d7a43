//! The objects for programs.

use serde_json::{Value, json};

use crate::airlock::{ProgramOutput, RENAME, airlock, airlock_in, folder, guest, names, puppet};

/// Ids are random, so that each becomes the text `id`.
#[track_caller]
fn check(ran: &ProgramOutput, code: i32, expected: Value) {
    let mut object = ran.json();
    for pending in object["pending"].as_array_mut().into_iter().flatten() {
        assert_eq!(pending["id"].as_str().map(str::len), Some(36), "{pending}");
        pending["id"] = json!("id");
        // Another whenever the guest is built.
        let plugin = pending["plugin"].as_str().unwrap();
        assert!(plugin.starts_with("sha256:"), "{pending}");
        pending["plugin"] = json!("digest");
    }
    if let Some(Value::Array(all)) = object.get_mut("effects") {
        for effects in all {
            effects["action"] = json!("id");
            if let Some(digest) = effects.pointer_mut("/answer/digest") {
                assert!(digest.as_str().unwrap().starts_with("sha256:"), "{digest}");
                *digest = json!("digest");
            }
        }
    }
    assert_eq!((ran.code, object), (code, expected), "{ran:#?}");
}

#[test]
fn a_result_is_passed_on() {
    let ran = puppet(
        json!([
            {"do": "text", "text": "hello"},
            {"do": "image", "bytes": 3, "mime": "image/png"},
            {"do": "link", "uri": "file:///a", "name": "a"},
            {"do": "details", "json": "{\"n\": 1}"},
        ]),
        &["--json"],
    );
    check(
        &ran.run(),
        0,
        json!({
            "content": [
                {"type": "text", "text": "hello"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "resource_link", "uri": "file:///a", "name": "a"},
            ],
            "details": {"n": 1},
            "isError": false,
            "pending": [],
            "resolved": null,
        }),
    );
}

#[test]
fn what_is_left_pending_is_listed_from_the_top() {
    let steps = json!([
        {"do": "push", "label": "First", "source": "other", "details": "[1]", "quiet": true},
        {"do": "push", "label": "Second", "quiet": true},
    ]);
    let ran = puppet(steps, &["--json"]).run();
    check(
        &ran,
        0,
        json!({
            "content": [],
            "details": null,
            "isError": false,
            "effects": [
                {"action": "id", "verified": true, "changes": [], "answer": {"digest": "digest", "kept": {"content": []}}},
                {"action": "id", "verified": true, "changes": [], "answer": {"digest": "digest", "kept": {"content": []}}},
            ],
            "pending": [
                {"id": "id", "label": "Second", "sourceToolName": "custom_tool", "sourceIsOwnTool": false, "pluginName": "puppet", "plugin": "digest", "details": null, "durable": true},
                {"id": "id", "label": "First", "sourceToolName": "other", "sourceIsOwnTool": false, "pluginName": "puppet", "plugin": "digest", "details": [1], "durable": true},
            ],
            "resolved": null,
        }),
    );
    assert!(
        ran.stderr.contains("these 2 actions stay pending"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_resolution_is_an_object_of_its_own() {
    let push = json!([{
        "do": "push", "label": "One", "source": "other", "quiet": true,
        "apply": [{"do": "text", "text": "did it"}, {"do": "details", "json": "2"}],
    }]);
    let nothing = |answer: Value| json!({"action": "id", "verified": true, "changes": [], "answer": {"digest": "digest", "kept": answer}});
    let did_it = nothing(json!({"content": [{"type": "text", "text": "did it"}], "details": 2}));
    let result = |effects: &[&Value], resolved: Value, pending: Value| {
        json!({
            "content": [], "details": null, "isError": false, "effects": effects,
            "pending": pending, "resolved": resolved,
        })
    };
    let applied = json!({
        "content": [{"type": "text", "text": "did it"}],
        "details": {
            "action": "apply", "reason": "good", "sourceToolName": "other", "label": "One",
            "sourceResultDetails": 2,
        },
        "effects": {"verified": true, "changes": []},
        "isError": false,
    });
    check(
        &puppet(push.clone(), &["--json", "--apply", "good"]).run(),
        0,
        result(&[&did_it], applied, json!([])),
    );
    let discarded = json!({
        "content": [{"type": "text", "text": "Discarded: One. Reason: bad"}],
        "details": {"action": "discard", "reason": "bad", "sourceToolName": "other", "label": "One"},
        "isError": false,
    });
    check(
        &puppet(push, &["--json", "--discard", "bad"]).run(),
        0,
        result(&[&did_it], discarded, json!([])),
    );

    // The first failure ends it, and later actions are untouched.
    let push = json!([
        {"do": "push", "label": "First", "quiet": true, "apply": [{"do": "failed", "message": "no"}]},
        {"do": "push", "label": "Second", "quiet": true},
    ]);
    let failed = json!({
        "content": [{"type": "text", "text": "Apply failed: no"}],
        "details": {"action": "apply", "reason": "good", "sourceToolName": "custom_tool", "label": "First"},
        "isError": true,
    });
    let pending = |label: &str| json!({"id": "id", "label": label, "sourceToolName": "custom_tool", "sourceIsOwnTool": false, "pluginName": "puppet", "plugin": "digest", "details": null, "durable": true});
    let problem = "its rehearsal failed: no";
    let unseen = json!({"action": "id", "verified": false, "problem": problem, "changes": []});
    let both = json!([pending("First"), pending("Second")]);
    check(
        &puppet(push, &["--json", "--apply", "good"]).run(),
        1,
        result(&[&nothing(json!({"content": []})), &unseen], failed, both),
    );
}

#[test]
fn an_error_is_the_only_object() {
    let check = |ran: ProgramOutput, code: i32, kind: &str, message: &str, hint: Option<&str>| {
        let mut error = json!({"kind": kind, "message": message});
        if let Some(hint) = hint {
            error["hint"] = json!(hint);
        }
        assert_eq!(
            (ran.code, ran.json(), ran.stderr.as_str()),
            (code, json!({ "error": error }), "")
        );
    };
    let one = |step: Value, options: &[&str]| {
        puppet(json!([step]), &[&["--json"], options].concat()).run()
    };
    // Escaped by the format, and for the reader to judge.
    check(
        one(
            json!({"do": "tool-error", "message": "not\n\u{1b}[2Jtoday"}),
            &[],
        ),
        1,
        "tool",
        "not\n\u{1b}[2Jtoday",
        None,
    );
    check(
        one(json!({"do": "failed", "message": "broken"}), &[]),
        1,
        "failed",
        "broken",
        None,
    );
    check(
        one(json!({"do": "spin"}), &["--timeout", "1.5"]),
        4,
        "limit",
        "tool `puppet` was stopped after 1.5 s, the limit for a call",
        Some("`--timeout SECONDS` gives it more time"),
    );
    check(
        airlock(&["run", "nothing", "--json"]).run(),
        3,
        "unknown-plugin",
        "there is no bundled or installed plugin `nothing`, and no such file here",
        Some(
            "bundled: files, batch-rename, scripts, ast_edit, undo; a path to a plugin ends in .wasm or .toml",
        ),
    );
    check(
        airlock(&["inspect", "nothing.wasm", "--json"]).run(),
        3,
        "plugin-unreadable",
        "can't read nothing.wasm: No such file or directory (os error 2)",
        Some("check the path and its permissions"),
    );
    check(
        airlock(&[
            "run",
            &guest("puppet"),
            "typed",
            r#"{"count": 99}"#,
            "--json",
        ])
        .run(),
        2,
        "invalid-params",
        "the params of `typed` don't fit its schema: \"name\" is a required property; /count: 99 is greater than the maximum of 10",
        Some(&format!(
            "`airlock run {} typed --help` shows its params",
            guest("puppet")
        )),
    );
}

#[test]
fn a_real_rename_is_previewed_and_applied() {
    let folder = folder(&["a.jpeg", "b.jpeg", "c.txt"]);
    let preview = airlock_in(folder.path(), &["run", "batch-rename", RENAME, "--json"])
        .run()
        .json();
    assert_eq!(preview["pending"][0]["label"], "Batch rename: 2 files");
    assert_eq!(
        preview["pending"][0]["sourceToolName"],
        "batch_rename_preview"
    );
    assert_eq!(preview["pending"][0]["durable"], true);
    assert_eq!(preview["pending"][0]["details"], preview["details"]);
    assert_eq!(names(&folder), ["a.jpeg", "b.jpeg", "c.txt"]);

    let args = [
        "run",
        "batch-rename",
        RENAME,
        "--json",
        "--apply",
        "looks right",
    ];
    let applied = airlock_in(folder.path(), &args).run().json();
    // What was left before was not asked about.
    assert_eq!(applied["pending"], preview["pending"]);
    assert_eq!(
        applied["resolved"]["details"]["sourceResultDetails"],
        preview["details"]
    );
    assert_eq!(names(&folder), ["a.jpg", "b.jpg", "c.txt"]);
}
