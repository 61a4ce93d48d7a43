//! `airlock test`: what no try could look at is told, and fails with `--strict`.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::airlock::{ProgramOutput, airlock, airlock_in, guest};

/// Cases in which the puppet takes these steps: one case for each list.
fn cases(steps: &[Value]) -> String {
    let case = |(index, steps): (usize, &Value)| {
        let params = json!({ "steps": steps });
        let expect = match steps[0]["do"].as_str() {
            Some("tool-error" | "spin") => "expect.error = { matches = '.*' }",
            _ => "",
        };
        format!("[[case]]\nname = '{index}'\ntool = 'puppet'\nparams = '{params}'\n{expect}\n")
    };
    steps.iter().enumerate().map(case).collect()
}

/// Tests the puppet with these cases, and with no other params.
fn test_puppet(cases: &str, options: &[&str]) -> ProgramOutput {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("cases.toml"), cases).unwrap();
    let puppet = guest("puppet");
    let mut args = vec!["test", &*puppet, "--tool", "puppet", "--tries", "0"];
    args.extend(["--cases", "cases.toml"]);
    args.extend(options);
    airlock_in(folder.path(), &args).run()
}

/// What was untried: the kind of each, with the names of the properties.
fn untried(object: &Value) -> Vec<(String, Vec<String>)> {
    let untried = object["report"]["untried"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |it: &Value| {
        let properties = it["properties"].as_array().unwrap();
        (text(&it["kind"]), properties.iter().map(text).collect())
    };
    untried.iter().map(of).collect()
}

const OF_ACTIONS: &[&str] = &[
    "discard-leaves-nothing",
    "as-rehearsed",
    "fresh-instance",
    "apply-twice",
];

#[test]
fn what_keeps_a_tool_from_being_tried_is_told_and_fails_where_that_is_asked_for() {
    let check = |steps: &[Value], expected: &[(&str, &[&str])], told: Option<&str>| {
        let cases = cases(steps);
        let object = test_puppet(&cases, &["--json"]).json();
        let owned = |(kind, names): &(&str, &[&str])| {
            let names = names.iter().map(|&name| name.to_owned());
            ((*kind).to_owned(), names.collect())
        };
        let expected: Vec<(String, Vec<String>)> = expected.iter().map(owned).collect();
        assert_eq!(untried(&object), expected, "{object:#}");
        let first = &object["report"]["untried"][0];
        match told {
            Some(told) => assert!(first["told"].as_str().unwrap().contains(told), "{first}"),
            None => assert_eq!(&first["told"], &Value::Null),
        }
        let ran = test_puppet(&cases, &["--json", "--strict"]);
        let strict = ran.json();
        assert_eq!(
            (&strict["held"], &strict["passed"], ran.code),
            (
                &json!(true),
                &json!(expected.is_empty()),
                i32::from(!expected.is_empty())
            ),
            "{strict:#}"
        );
        // Without it, what was untried is no failure.
        assert_eq!(
            (&object["passed"], &object["strict"]),
            (&json!(true), &json!(false))
        );
    };
    let push = |apply: Value| json!([{"do": "push", "label": "It", "apply": apply, "quiet": true}]);
    let text = json!([{"do": "text", "text": "looked"}]);
    let error = json!([{"do": "tool-error", "message": "no such file"}]);
    let write = json!({"do": "fs", "op": "write", "path": "/workspace/b.txt", "text": "b"});

    check(
        std::slice::from_ref(&text),
        &[("never-pushed", OF_ACTIONS)],
        None,
    );
    let failed: &[(&str, &[&str])] = &[("always-failed", OF_ACTIONS)];
    check(
        &[error.clone(), error.clone()],
        failed,
        Some("no such file"),
    );
    // A result that pushes nothing, among errors.
    check(
        &[error.clone(), text.clone()],
        &[("never-pushed", OF_ACTIONS)],
        None,
    );
    let failing = json!([{"do": "tool-error", "message": "not to be applied"}]);
    let not_applied: &[(&str, &[&str])] = &[(
        "apply-failed",
        &["as-rehearsed", "fresh-instance", "apply-twice"],
    )];
    check(&[push(failing)], not_applied, Some("not to be applied"));
    let random = push(json!([{"do": "random", "bytes": 16}]));
    check(&[random], &[("never-the-same", &["fresh-instance"])], None);
    check(&[push(json!([write])), error, text], &[], None);
    // What no instance but its own can apply needs no fresh instance.
    let mut volatile = push(json!([]));
    volatile[0]["volatile"] = json!(true);
    check(&[volatile], &[], None);
}

#[test]
fn a_tool_that_uses_up_its_limits_is_not_tried_to_the_end() {
    let spin = vec![json!([{"do": "spin"}]); 4];
    let ran = test_puppet(&cases(&spin), &["--timeout", "0.1", "--json"]);
    let object = ran.json();
    let kinds: Vec<String> = untried(&object).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["always-failed", "stopped-early"], "{object:#}");
    let why = "1 of 4 tries were left out, since 3 calls used up a limit";
    assert_eq!(object["report"]["untried"][1]["why"], why);
}

#[test]
fn params_that_never_reach_a_tool_are_told() {
    let refused = "[[case]]\nname = 'a'\ntool = 'puppet'\nexpect.error = { matches = '.*' }";
    let object = test_puppet(refused, &["--json"]).json();
    assert_eq!(untried(&object)[0].0, "params-refused", "{object:#}");
    let object = test_puppet("", &["--json"]).json();
    let all = object["report"]["tools"][0]["properties"]
        .as_array()
        .unwrap();
    let concerned = all.iter().filter(|it| it["outcome"] != "notApplicable");
    let names: Vec<String> = concerned
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        untried(&object),
        [("no-params".to_owned(), names)],
        "{object:#}"
    );
    assert_eq!(object["counts"]["untried"], 7);
    assert_eq!(object["counts"]["notApplicable"], 2);
}

#[test]
fn a_read_only_tool_needs_no_action() {
    let puppet = guest("puppet");
    let args = [
        "test", &puppet, "--tool", "typed", "--seed", "1", "--strict", "--json",
    ];
    let ran = airlock(&args).run();
    let object = ran.json();
    assert_eq!((ran.code, untried(&object)), (0, vec![]), "{object:#}");
    assert_eq!(object["counts"]["notApplicable"], 5);
}

#[test]
fn tools_that_the_host_leaves_out_are_told() {
    let ran = airlock(&["test", &guest("misfits"), "--seed", "1", "--json"]).run();
    let object = ran.json();
    let of = |it: &&Value| it["tool"] == "two words";
    let untried = object["report"]["untried"].as_array().unwrap();
    let found = untried
        .iter()
        .find(of)
        .unwrap_or_else(|| panic!("{object:#}"));
    assert_eq!(found["kind"], "left-out");
    assert!(found["told"].as_str().unwrap().contains("name"), "{found}");
}

/// The usual workspace is enough for a tool that looks for files.
#[test]
fn without_cases_a_tool_finds_files_of_the_usual_workspace() {
    for seed in ["1", "2", "3"] {
        let args = ["test", "batch-rename", "--seed", seed, "--strict", "--json"];
        let ran = airlock(&args).run();
        assert_eq!(ran.code, 0, "{:#}", ran.json());
        assert_eq!(untried(&ran.json()), []);
    }
}

#[test]
fn what_was_untried_stands_below_the_results_with_a_case_to_copy() {
    let text = cases(&[json!([{"do": "text", "text": "looked"}])]);
    let told = |strict: bool| {
        let options: &[&str] = if strict { &["--strict"] } else { &[] };
        let stdout = test_puppet(&text, options).stdout;
        let begin = stdout.find("UNTRIED").expect("it is told");
        stdout[begin..].replace('│', "|")
    };
    let expected = |end: &str| {
        format!(
            r#"UNTRIED  no try could look at this, so nothing above speaks for it
  Tool puppet: never pushed an action, so its apply was never tried
    not tried    discard-leaves-nothing, as-rehearsed, fresh-instance, apply-twice
{end}"#
        )
    };
    let case = r#"
                 | [[case]]
                 | name = "puppet does what it should"
                 | tool = "puppet"
                 | params = '{"steps":[{"do":"text"}]}'
                 | workspace.files = { "notes.txt" = "text" }
                 |
                 | [[case.resolve]]
                 | action = "apply"
  A case goes into cases.toml; `airlock test --help` has the format.
"#;
    let summary = "\nCases: 1 held, 0 broken. Properties: 4 held, 0 broken, 4 untried, 2 n/a.\n";
    for (strict, rest) in [
        (
            false,
            "  With --strict, an untried property fails the test.\n".to_owned() + summary,
        ),
        (
            true,
            summary.to_owned() + "Failed: with --strict, nothing may be untried.\n",
        ),
    ] {
        let told = told(strict);
        assert!(
            told.starts_with(&expected("    what to do   add a case whose params")),
            "{told}"
        );
        let (_, end) = told.split_once("`read-only`").expect("advice");
        let (end, again) = end.split_once("The same again: ").expect("the command");
        assert_eq!(end, format!("{case}{rest}"));
        assert_eq!(again.contains(" --strict "), strict, "{again}");
    }
}

#[test]
fn the_case_to_copy_with_params_of_ones_own_leaves_nothing_untried() {
    let object = test_puppet("", &["--json"]).json();
    let case = object["report"]["untried"][0]["case"].as_str().unwrap();
    let suggested = r#"{"steps":[{"do":"text"}]}"#;
    let pushing = r#"{"steps":[{"do":"push","label":"It","quiet":true}]}"#;
    assert!(case.contains(suggested), "{case}");
    let ran = test_puppet(&case.replace(suggested, pushing), &["--strict", "--json"]);
    assert_eq!((ran.code, untried(&ran.json())), (0, vec![]), "{ran:#?}");
}

#[test]
fn a_build_server_sees_what_was_untried_as_skipped_or_as_failed() {
    let folder = TempDir::new().unwrap();
    let misfits = guest("misfits");
    let xml = |options: &[&str]| {
        let mut args = vec!["test", &*misfits, "--tries", "0", "--junit", "report.xml"];
        args.extend(options);
        let code = airlock_in(folder.path(), &args).run().code;
        let xml = fs::read_to_string(folder.path().join("report.xml")).unwrap();
        (code, xml)
    };
    let count = |xml: &str, part: &str| xml.matches(part).count();
    let (code, skipped) = xml(&[]);
    assert_eq!((code, count(&skipped, "<failure")), (0, 0), "{skipped}");
    assert!(skipped.contains("<testcase name=\"left-out\" classname=\"two words\""));
    let (code, failed) = xml(&["--strict"]);
    assert_eq!(code, 1, "{failed}");
    assert!(
        failed.contains("<failure message=\"untried: no params were tried\""),
        "{failed}"
    );
    assert!(
        failed.contains("<failure message=\"untried: the host left it out"),
        "{failed}"
    );
    // What a tool has nothing to keep of is never a failure.
    assert!(
        failed.contains("<skipped message=\"it promises none\""),
        "{failed}"
    );
}
