//! `airlock test`: what every tool must keep, with real guests.

use serde_json::{Value, json};

use crate::airlock::{ProgramOutput, airlock, guest};

/// The properties that broke, with the params of the example.
fn broken(object: &Value) -> Vec<(String, String, Value)> {
    let mut broken = Vec::new();
    for tool in object["report"]["tools"].as_array().unwrap() {
        for property in tool["properties"].as_array().unwrap() {
            if property["outcome"] == "broken" {
                broken.push((
                    tool["tool"].as_str().unwrap().to_owned(),
                    property["name"].as_str().unwrap().to_owned(),
                    property["example"]["params"].clone(),
                ));
            }
        }
    }
    broken
}

/// Tests one tool of the guest `broken`.
fn test_broken(tool: &str) -> ProgramOutput {
    airlock(&["test", &guest("broken"), "--tool", tool, "--json"])
        .arg("--seed")
        .arg("1")
        .arg("--timeout")
        .arg("0.5")
        .run()
}

#[test]
fn each_broken_tool_is_named_with_a_small_example() {
    let check = |tool: &str, property: &str, params: Value| {
        let ran = test_broken(tool);
        let expected = (tool.to_owned(), property.to_owned(), params);
        assert_eq!(broken(&ran.json()), [expected], "{ran:#?}");
        assert_eq!(ran.code, 1);
    };
    check("appends", "apply-twice", json!({"note": ""}));
    check("writes_the_reason", "as-rehearsed", json!({"note": ""}));
    check("counts_to_100", "no-crash", json!({"count": 101}));
    check("wants_a_letter", "no-crash", json!({"note": ""}));
    check("spins", "limits", json!({"count": 101}));
    check("long_label", "limits", json!({"note": "aaaaaa"}));
    check("promises_a_count", "output-schema", json!({"count": 501}));
    check("claims_to_read", "read-only", json!({"note": ""}));
}

/// The host applies in an instance of its own, so that such a tool never gets anything applied.
#[test]
fn a_tool_that_needs_what_its_preview_left_is_told_as_one_that_applies_nothing() {
    for tool in ["remembers", "keeps_in_scratch"] {
        let ran = test_broken(tool);
        let untried = &ran.json()["report"]["untried"][0];
        assert_eq!(untried["kind"], "apply-failed", "{ran:#?}");
        let properties = json!(["as-rehearsed", "fresh-instance", "apply-twice"]);
        assert_eq!(untried["properties"], properties, "{untried}");
    }
}

/// As in a session of `airlock run`: the first apply doesn't make the second stale.
#[test]
fn two_actions_of_one_call_are_both_applied_in_a_case() {
    let folder = tempfile::TempDir::new().unwrap();
    let cases = r#"
        [workspace]
        files = { "note.txt" = "old", "second.txt" = "old" }

        [[case]]
        name = "both"
        tool = "notes_twice"
        params = { note = "new" }
        changes.changed = { "note.txt" = "new", "second.txt" = "new" }

        [[case.resolve]]
        action = "apply"

        [[case.resolve]]
        action = "apply"
    "#;
    let file = folder.path().join("airlock-test.toml");
    std::fs::write(&file, cases).unwrap();
    let line = ["test", &guest("broken"), "--tool", "notes_twice", "--cases"];
    let ran = airlock(&line).arg(&file).args(&["--tries", "4"]).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.contains("Cases: 1 held, 0 broken."), "{ran:#?}");
}

/// The host refuses it.
#[test]
fn a_reject_that_pushes_leaves_nothing_behind() {
    let ran = test_broken("pushes_again");
    assert_eq!((ran.code, broken(&ran.json())), (0, vec![]), "{ran:#?}");
}

#[test]
fn what_breaks_nothing_is_noted() {
    let check = |tool: &str, note: &str| {
        let ran = test_broken(tool);
        let object = ran.json();
        assert_eq!((ran.code, broken(&object)), (0, vec![]), "{object:#}");
        let notes = object["report"]["notes"].as_array().unwrap();
        let found = notes.iter().find(|found| found["tool"] == tool);
        let found = found.unwrap_or_else(|| panic!("{object:#}"));
        assert!(found["text"].as_str().unwrap().starts_with(note), "{found}");
        assert_eq!(found["example"]["tool"], tool);
    };
    check(
        "tells_the_time",
        "two previews of the same params and files differed",
    );
    check(
        "writes_early",
        "it tried to change the workspace outside an apply, and was refused",
    );
    // The host drops what an apply has written that fails.
    let halfway = test_broken("stops_halfway").json();
    assert_eq!(broken(&halfway), vec![], "{halfway:#}");
    let sound = test_broken("sound").json();
    let notes = sound["report"]["notes"].as_array().unwrap();
    assert!(
        notes.iter().all(|note| note.get("tool").is_none()),
        "{sound:#}"
    );
    let about_network = |note: &Value| note["text"].as_str().unwrap().contains("wasi:sockets/tcp@");
    assert!(notes.iter().any(about_network), "{sound:#}");
}

#[test]
fn definitions_that_change_are_shown_as_a_difference() {
    let ran = airlock(&["test", &guest("broken_definitions"), "--tries", "0"]).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    let broken = "  BROKEN   its definitions are the same in each instance (definitions, in 1 try)";
    assert!(
        ran.stdout.lines().any(|line| line == broken),
        "{}",
        ran.stdout
    );
    let told = |sign: &str| {
        let start = format!("{sign}       \"description\": \"Described at");
        ran.stdout
            .lines()
            .any(|line| line.trim_start_matches([' ', '│']).starts_with(&start))
    };
    assert!(told("-") && told("+"), "{}", ran.stdout);
}

#[test]
fn tools_of_the_sdk_are_tested_by_what_their_types_allow() {
    let ran = airlock(&["test", &guest("sdk_tools"), "--seed", "1", "--json"]).run();
    let object = ran.json();
    let expected = [
        // A label is one line, and this one has the path in it.
        ("write_note", "limits", json!({"path": "\n", "text": ""})),
        ("divide", "no-crash", json!({"dividend": 0, "divisor": 0})),
    ];
    let expected = expected.map(|(tool, name, params)| (tool.into(), name.into(), params));
    assert_eq!(broken(&object), expected, "{object:#}");
}

#[test]
fn the_seed_repeats_a_run() {
    let run = |seed: &str| {
        let guest = guest("sdk_tools");
        let mut object = airlock(&["test", &guest, "--json", "--tries", "16", "--seed", seed])
            .run()
            .json();
        for tool in object["report"]["tools"].as_array_mut().unwrap() {
            tool.as_object_mut().unwrap().remove("seconds");
        }
        object["report"].take()
    };
    assert_eq!(run("5"), run("5"));
    assert_eq!(run("5")["seed"], 5);
    assert_ne!(run("5"), run("6"));
}

#[test]
fn one_tool_can_be_tested_alone_and_has_to_be_there() {
    let sdk_tools = guest("sdk_tools");
    let ran = airlock(&[
        "test",
        &sdk_tools,
        "--tool",
        "count_down",
        "--tries",
        "4",
        "--json",
    ])
    .run();
    let tools = &ran.json()["report"]["tools"];
    assert_eq!(tools.as_array().unwrap().len(), 1);
    assert_eq!((ran.code, &tools[0]["tool"]), (0, &json!("count_down")));
    let ran = airlock(&["test", &sdk_tools, "--tool", "count", "--json"]).run();
    assert_eq!((ran.code, ran.error().0.as_str()), (2, "unknown-tool"));
}
