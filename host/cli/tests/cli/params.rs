//! Where params come from, and which tool gets them.

use std::time::{Duration, Instant};

use airlock_tests::wat;
use serde_json::{Value, json};

use crate::airlock::{RENAME, airlock_in, folder, guest};

/// Runs with `args` where the file `params.json` holds `text`, as standard input does.
fn run(args: &[&str], text: &str) -> crate::airlock::ProgramOutput {
    let folder = folder(&["a.jpeg"]);
    std::fs::write(folder.path().join("params.json"), text).unwrap();
    airlock_in(folder.path(), &[&["run"], args, &["--json"]].concat())
        .stdin(text)
        .run()
}

#[test]
fn they_come_from_the_command_line_a_file_or_standard_input() {
    let typed = json!({"name": "n", "count": 1}).to_string();
    let puppet = guest("puppet");
    let check = |args: &[&str], text: &str, expected: &str| {
        let ran = run(args, text);
        let object = ran.json();
        let said = object["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{ran:#?}"));
        assert!(said.starts_with(expected), "{args:?}: {said}");
    };
    let passed = r#"{"count":1,"name":"n"}"#;
    check(&[&puppet, "typed", &typed], "", passed);
    check(&[&puppet, "typed", "@params.json"], &typed, passed);
    check(&[&puppet, "typed", "-"], &typed, passed);
    // Without the tool, where there is one.
    check(&["batch-rename", RENAME], "", "Prepared rename plan");
    check(
        &["batch-rename", "@params.json"],
        RENAME,
        "Prepared rename plan",
    );
    check(&["batch_rename", "-"], RENAME, "Prepared rename plan");
    check(
        &["batch-rename", "batch_rename_preview", RENAME],
        "",
        "Prepared rename plan",
    );
}

#[test]
fn a_tool_gets_them_as_they_were_written() {
    let as_written = r#"{"name":"\u0061","count":1}"#;
    let ran = run(&[&guest("puppet"), "typed", as_written], "");
    assert_eq!(ran.json()["content"][0]["text"], as_written, "{ran:#?}");
}

#[test]
fn what_is_wrong_with_them_is_told_with_its_place() {
    let puppet = guest("puppet");
    let check = |args: &[&str], expected: &[&str]| {
        let ran = run(args, "{oops}");
        let error = &ran.json()["error"];
        assert_eq!((ran.code, ran.stderr.as_str()), (2, ""), "{ran:#?}");
        for expected in expected {
            assert!(
                error["message"].as_str().unwrap().contains(expected),
                "{expected}: {error}"
            );
        }
        assert!(error["hint"].is_string(), "{error}");
    };
    let not_json = "the params are not valid JSON: key must be a string at line 1 column 2";
    check(&[&puppet, "typed", "{oops}"], &[not_json]);
    check(&[&puppet, "typed", "@params.json"], &[not_json]);
    check(&[&puppet, "typed", "-"], &[not_json]);
    let twice = "the params can't be used: the member \"count\" appears twice in one object";
    check(&[&puppet, "typed", r#"{"count": 1, "count": 2}"#], &[twice]);
    check(
        &[&puppet, "typed", "@missing"],
        &["can't read params from missing: No such file"],
    );
    check(&[&puppet, "typed", "[]"], &["[] is not of type \"object\""]);
    let params =
        r#"{"name": "", "count": 99, "tags": ["a", 1], "where": {"path": "A"}, "more": 1}"#;
    check(
        &[&puppet, "typed", params],
        &["/name: ", "/count: ", "/tags/1: ", "/where/path: ", "more"],
    );
    // Left out, they are an empty object.
    check(&["batch-rename"], &["\"files\" is a required property"]);
}

/// Runs a tool with this schema, in so many seconds. Gives the program's exit code, and the error.
fn within(seconds: &str, schema: &Value, params: &Value) -> (i32, Value) {
    let folder = folder(&[]);
    let plugin = wat::defining(&[("hard", &schema.to_string())]);
    std::fs::write(folder.path().join("hard.wasm"), plugin).unwrap();
    let run = |args: &[&str], params: &str| {
        let args = [&["run", "./hard.wasm", "hard", "-", "--json"], args].concat();
        airlock_in(folder.path(), &args).stdin(params).run()
    };
    // From here on it is compiled, and in the cache.
    run(&[], "[]");
    let begun = Instant::now();
    let ran = run(&["--timeout", seconds], &params.to_string());
    // Two at most, and what a process takes to start on a machine that does other things.
    assert!(begun.elapsed() < Duration::from_secs(8), "{ran:#?}");
    (ran.code, ran.json()["error"].clone())
}

#[test]
fn a_schema_that_is_hard_to_check_ends_with_the_steps_or_the_time_that_a_call_has() {
    // At each level of the params there is twice as much to list.
    let branch = json!({"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["z"]});
    let doubling =
        json!({"type": "object", "$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [branch, branch]}}});
    let deep = (0..26).fold(json!({}), |inner, _| json!({"a": inner}));
    let (code, error) = within("2", &doubling, &deep);
    assert_eq!(
        (code, &error["kind"]),
        (2, &json!("invalid-params")),
        "{error}"
    );
    let message = error["message"].as_str().unwrap();
    let expected = "the places are not listed, since finding them all takes more than 200000 steps";
    assert!(message.contains(expected), "{message}");

    // Each of many numbers is looked at many times.
    let looks = (0..200)
        .map(|n| json!({"properties": {"a": {"contains": {"contains": {"const": -1 - n}}}}}));
    let laborious = json!({"type": "object", "anyOf": looks.collect::<Vec<_>>()});
    let row: Vec<u32> = (0..1000).collect();
    let params = json!({"a": vec![row; 500]});
    for (seconds, expected) in [
        (
            "2",
            "was not called: checking the params takes more than 50000000 steps",
        ),
        ("0.001", "was stopped after 0."),
    ] {
        let (code, error) = within(seconds, &laborious, &params);
        assert_eq!((code, &error["kind"]), (4, &json!("limit")), "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with(&format!("tool `hard` {expected}")),
            "{message}"
        );
    }
}
