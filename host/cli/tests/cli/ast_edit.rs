//! `ast_edit`, which is part of the program: previewed by one process, decided by another.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::airlock::{Store, airlock, airlock_in};
use crate::terminal::Terminal;

const OP: &str = r#"{"ops": [{"pat": "old($A)", "out": "new($A)"}]}"#;

/// A workspace with two files to rewrite.
fn sources() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.js"), "old(1);\n").unwrap();
    fs::write(folder.path().join("b.py"), "old(2)\nold(3)\n").unwrap();
    folder
}

fn held(folder: &TempDir) -> (String, String) {
    let read = |name| fs::read_to_string(folder.path().join(name)).unwrap();
    (read("a.js"), read("b.py"))
}

#[test]
fn a_preview_is_shown_and_stays_pending() {
    let (store, folder) = (Store::new(), sources());
    let before = held(&folder);
    let ran = store.airlock(folder.path(), &["run", "ast_edit", OP]).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    for line in [
        "3 replacements in 2 files, of 2 files searched.",
        "+++ b/a.js",
        "-old(1);",
        "+new(1);",
        "AST Edit: 3 replacements in 2 files",
    ] {
        let mut lines = ran
            .stdout
            .lines()
            .map(|it| it.trim_start_matches([' ', '│']));
        assert!(lines.any(|it| it.starts_with(line)), "{line}: {ran:#?}");
    }
    assert!(
        ran.stderr.contains("airlock resolve apply --id "),
        "{ran:#?}"
    );
    assert_eq!(held(&folder), before);
}

/// So much that `ast_edit` leaves a part out for its caller: the last replacement.
fn many_sources() -> TempDir {
    let folder = TempDir::new().unwrap();
    for file in 0..300 {
        let stays = "this_line_stays()\n".repeat(8);
        let source = (0..10).map(|line| format!("old('{file} {line}')\n{stays}"));
        fs::write(
            folder.path().join(format!("f{file:03}.py")),
            source.collect::<String>(),
        )
        .unwrap();
    }
    folder
}

const LAST: &str = "+new('299 9')";

#[test]
fn what_is_too_long_for_a_model_is_shown_whole_to_whoever_decides() {
    let (store, folder) = (Store::new(), many_sources());
    let report = store.json(folder.path(), &["run", "ast_edit", OP]);
    let text = report["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Too long to be shown: "), "{text}");
    assert!(!text.contains(LAST), "{text}");
    let id = report["pending"][0]["id"].as_str().unwrap();
    for args in [&["show", id][..], &["pending", "--verbose"]] {
        let shown = store.airlock(folder.path(), args).run().stdout;
        assert!(shown.contains(LAST), "{args:?}: {shown}");
        assert!(!shown.contains("Too long to be shown"), "{args:?}: {shown}");
    }
}

#[test]
fn who_is_asked_at_a_terminal_has_seen_all_of_it() {
    let folder = many_sources();
    let mut terminal = Terminal::run(folder.path(), &["run", "ast_edit", OP]);
    terminal.sees(LAST).asks("s");
    terminal.sees(LAST).asks("l").ends(0);
}

#[test]
fn a_later_process_lists_shows_and_applies_it() {
    let (store, folder) = (Store::new(), sources());
    let report = store.json(folder.path(), &["run", "ast-edit", "ast_edit", OP]);
    assert_eq!(report["details"]["replacements"], 3);
    let id = report["pending"][0]["id"].as_str().unwrap();

    let pending = store.json(folder.path(), &["pending"]);
    assert_eq!(pending["pending"][0]["sourceToolName"], "ast_edit");
    assert_eq!(pending["pending"][0]["durable"], true);
    let shown = store.json(folder.path(), &["show", id]);
    let inspected = airlock(&["inspect", "ast_edit", "--json"]).run().json();
    assert_eq!(shown["plugin"], inspected["digest"]);

    // From another directory, by its id.
    let elsewhere = TempDir::new().unwrap();
    let args = ["resolve", "apply", "--id", id, "--reason", "right"];
    let resolved = store.json(elsewhere.path(), &args);
    assert_eq!(
        resolved["details"]["sourceResultDetails"],
        json!({
            "dryRun": false, "replacements": 3, "fileCount": 2,
            "files": [{"path": "a.js", "replacements": 1}, {"path": "b.py", "replacements": 2}],
        }),
        "{resolved:#}"
    );
    let after = ("new(1);\n".to_owned(), "new(2)\nnew(3)\n".to_owned());
    assert_eq!(held(&folder), after);
    let log = store.json(folder.path(), &["log"]);
    assert_eq!(
        log["log"][0]["label"],
        "AST Edit: 3 replacements in 2 files"
    );
}

#[test]
fn a_stale_preview_is_refused_by_name_and_stays_pending() {
    let (store, folder) = (Store::new(), sources());
    store.json(folder.path(), &["run", "ast_edit", OP]);
    fs::write(folder.path().join("b.py"), "old(4)\n").unwrap();
    let resolve = ["resolve", "apply", "--reason", "right"];
    let ran = store.airlock(folder.path(), &resolve).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(
        ran.stderr
            .contains("the preview is stale, since b.py has changed"),
        "{ran:#?}"
    );
    assert_eq!(held(&folder).0, "old(1);\n");
    let pending = store.json(folder.path(), &["pending"]);
    let pending = &pending["pending"][0];
    // Nothing was tried.
    assert_eq!(pending["attempts"], 0);
    assert_eq!(pending["stale"][0]["path"], "b.py", "{pending:#}");
}

#[test]
fn it_applies_at_once_where_that_is_decided_before() {
    let (store, folder) = (Store::new(), sources());
    let args = ["run", "ast_edit", OP, "--apply", "I know it"];
    let report = store.json(folder.path(), &args);
    assert_eq!(
        report["resolved"]["details"]["action"], "apply",
        "{report:#}"
    );
    assert_eq!(report["pending"], json!([]));
    assert_eq!(held(&folder).0, "new(1);\n");
}

#[test]
fn it_is_listed_inspected_and_its_mistakes_are_usage() {
    let listed = airlock(&["plugins", "--json"]).run().json();
    let mut plugins = listed["plugins"].as_array().unwrap().iter();
    let ast_edit = plugins.find(|plugin| plugin["name"] == "ast_edit").unwrap();
    assert_eq!(ast_edit["native"], true);

    let inspected = airlock(&["inspect", "ast_edit", "--json"]).run().json();
    assert_eq!(inspected["digest"], ast_edit["digest"]);
    assert_eq!(inspected["tools"][0]["name"], "ast_edit");
    assert_eq!(
        inspected["tools"][0]["parameters"]["required"],
        json!(["ops"])
    );
    assert_eq!(inspected["stateVersion"], 3);
    let shown = airlock(&["inspect", "ast_edit"]).run();
    assert!(shown.stdout.contains("part of this program"), "{shown:#?}");
    assert!(shown.stdout.contains("ops[].pat"), "{shown:#?}");
    let help = airlock(&["run", "--help"]).run();
    assert!(
        help.stdout.contains("airlock run ast_edit --ops.pat "),
        "{help:#?}"
    );

    let folder = sources();
    for params in [
        r#"{}"#,
        r#"{"ops": [{"pat": "$A", "out": ""}]}"#,
        r#"{"ops": [{"pat": "a", "out": "b"}], "lang": "cobol"}"#,
        r#"{"ops": [{"pat": "a", "out": "b"}], "paths": ["../x"]}"#,
    ] {
        let ran = airlock_in(folder.path(), &["run", "ast_edit", params, "--json"]).run();
        assert_eq!(ran.code, 2, "{params}: {ran:#?}");
        let (kind, _, hint) = ran.error();
        assert_eq!(kind, "invalid-params");
        assert!(hint.contains("airlock run ast_edit --help"), "{hint}");
    }
}

#[test]
fn the_time_of_a_call_is_limited_as_a_plugins_is() {
    let (store, folder) = (Store::new(), sources());
    let source = "old(1)\n".repeat(50_000);
    for file in 0..40 {
        fs::write(folder.path().join(format!("{file}.js")), &source).unwrap();
    }
    let args = ["run", "ast_edit", OP, "--timeout", "0.05"];
    let ran = store.airlock(folder.path(), &args).run();
    assert_eq!(ran.code, 4, "{ran:#?}");
    assert!(ran.stderr.contains("was stopped after 0."), "{ran:#?}");
    assert!(ran.stderr.contains("0.05 s"), "{ran:#?}");
}

#[test]
fn two_previews_of_one_file_are_both_applied_if_they_touch_other_lines() {
    let (store, folder) = (Store::new(), TempDir::new().unwrap());
    let file = folder.path().join("a.js");
    fs::write(&file, "old(1);\n\n\n\n\n\nother(2);\n").unwrap();
    for (pattern, out) in [("old($A)", "one($A);\ntwo($A)"), ("other($A)", "next($A)")] {
        let params = json!({"ops": [{"pat": pattern, "out": out}]}).to_string();
        let ran = store
            .airlock(folder.path(), &["run", "ast_edit", &params])
            .run();
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
    let apply = ["resolve", "apply", "--all", "--reason", "right"];
    let ran = store.airlock(folder.path(), &apply).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    let both = "one(1);\ntwo(1);\n\n\n\n\n\nnext(2);\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), both);
}
