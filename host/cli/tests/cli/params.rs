//! Where params come from, and which tool gets them.

use serde_json::json;

use crate::airlock::{RENAME, airlock_in, folder, guest};

/// Runs with `args` where the file `params.json` holds `text`, as standard input does.
fn run(args: &[&str], text: &str) -> crate::airlock::Ran {
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
    let not_json = "the params are not JSON: key must be a string at line 1 column 2";
    check(&[&puppet, "typed", "{oops}"], &[not_json]);
    check(&[&puppet, "typed", "@params.json"], &[not_json]);
    check(&[&puppet, "typed", "-"], &[not_json]);
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
