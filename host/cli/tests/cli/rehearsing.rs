//! What the host saw an action do before anybody decided, as the commands tell of it.

use std::fs;

use airlock_tests::asked;
use serde_json::{Value, json};

use crate::airlock::{RENAME, Store, folder, guest, names, short, steps};
use crate::terminal::Terminal;

#[test]
fn every_command_tells_what_the_host_saw() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let run = |args: &[&str]| {
        let ran = store.airlock(folder.path(), args).run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.stdout
    };
    let seen = "Verified by the host: 1 renamed";
    let ran = run(&["run", "batch-rename", RENAME]);
    for line in [seen, "│ renamed a.jpeg -> a.jpg"] {
        assert!(ran.contains(line), "{ran}");
    }
    assert!(run(&["pending"]).contains(seen));
    let listed = store.json(folder.path(), &["pending"]);
    let entry = &listed["pending"][0];
    let counted = json!({"verified": true, "counts": {"renamed": 1}});
    assert_eq!(entry["effects"], counted);
    let id = entry["id"].as_str().unwrap();
    assert!(run(&["show", id]).contains("│ renamed a.jpeg -> a.jpg"));
    let shown = store.json(folder.path(), &["show", id]);
    let change = &shown["effects"]["changes"][0];
    assert_eq!(
        (&change["kind"], &change["from"], &change["path"]),
        (&json!("renamed"), &json!("a.jpeg"), &json!("a.jpg"))
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let resolved = store.json(folder.path(), &["resolve", "apply", "--reason", "yes"]);
    assert_eq!(resolved["effects"]["changes"], json!([change]));
    assert_eq!(names(&folder), ["a.jpg"]);
    // As long as what it was decided by is kept.
    assert!(run(&["show", id]).contains(seen));
}

#[test]
fn what_is_stale_is_not_applied_and_previewed_again() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg"]));
    let old = store.push_rename(folder.path());
    fs::write(folder.path().join("a.jpeg"), "another picture").unwrap();
    let apply = ["resolve", "apply", "--reason", "yes"];
    let ran = store.airlock(folder.path(), &apply).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    let refresh = format!("refresh {}` calls its tool again", short(&old));
    for told in ["the preview is stale, since a.jpeg has changed", &refresh] {
        assert!(ran.stderr.contains(told), "{ran:#?}");
    }
    let report = store.airlock(folder.path(), &[&apply[..], &["--json"]].concat());
    let error = &report.run().json()["error"];
    let files = json!([{"path": "a.jpeg", "what": "changed"}]);
    assert_eq!((&error["kind"], &error["files"]), (&json!("stale"), &files));
    let shown = store.airlock(folder.path(), &["show", &old]).run().stdout;
    let told = format!(
        "Stale, and can't be applied; `airlock refresh {}` previews it again:\n  a.jpeg has changed",
        short(&old)
    );
    assert!(shown.contains(&told), "{shown}");
    assert_eq!(store.json(folder.path(), &["show", &old])["stale"], files);
    assert_eq!(names(&folder), ["a.jpeg", "b.jpeg"]);

    let ran = store.airlock(folder.path(), &["refresh", &old]).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    for told in ["a.jpeg -> a.jpg", "Verified by the host: 2 renamed"] {
        assert!(ran.stdout.contains(told), "{ran:#?}");
    }
    assert!(ran.stderr.contains("this action stays pending"), "{ran:#?}");
    let listed = store.json(folder.path(), &["pending"]);
    let [new] = &listed["pending"].as_array().unwrap()[..] else {
        panic!("{listed}");
    };
    let new = new["id"].as_str().unwrap();
    let shown = store.airlock(folder.path(), &["show", &old]).run();
    assert!(
        shown.stdout.contains(&format!("refreshed as {new}")),
        "{shown:#?}"
    );
    let again = store.airlock(folder.path(), &["refresh", &old]).run();
    assert!(again.stderr.contains("already discarded"), "{again:#?}");
    assert_eq!(store.airlock(folder.path(), &apply).run().code, 0);
    assert_eq!(names(&folder), ["a.jpg", "b.jpg"]);
}

#[test]
fn what_does_something_else_than_was_reviewed_is_applied_by_a_decision_that_names_it() {
    let (store, folder) = (Store::new(), folder(&[]));
    let said = json!([{"do": "resolution"}, {"do": "write-said", "path": "why"}]);
    let push = json!({"do": "push", "label": "It", "apply": said});
    let id = store.push(folder.path(), json!([push]));
    let apply = ["resolve", "apply", "--reason", "I have looked"];
    let ran = store.airlock(folder.path(), &apply).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    for told in [
        "effects differ from the review (1 created, as before, but not the same)",
        "Reviewed effects:",
        "Effects now:",
        "I have looked",
    ] {
        assert!(ran.stderr.contains(told), "{ran:#?}");
    }
    assert_eq!(names(&folder), [""; 0]);
    let (_, review) = ran.stderr.split_once("--review ").unwrap();
    let review = review.split(' ').next().unwrap();
    // Repeating the command accepts nothing unseen, and a wrong digest doesn't either.
    let short = [&apply[..], &["--review", &review[..19]]].concat();
    assert_eq!(store.airlock(folder.path(), &short).run().code, 2);
    let guess = "sha256:0123456789abcdef0123456789abcdef";
    let guess = [&apply[..], &["--review", guess]].concat();
    for unseen in [&apply[..], &guess] {
        let ran = store.airlock(folder.path(), unseen).run();
        assert_eq!(ran.code, 1, "{ran:#?}");
        assert!(
            ran.stderr.contains("its effects differ from the review"),
            "{ran:#?}"
        );
        assert_eq!(names(&folder), [""; 0]);
    }
    let shown = store.airlock(folder.path(), &["show", &id]).run().stdout;
    assert!(shown.contains(&format!("Review: {review}\n")), "{shown}");
    let seen = [&apply[..], &["--review", review]].concat();
    assert_eq!(store.airlock(folder.path(), &seen).run().code, 0);
    assert_eq!(names(&folder), ["why"]);
}

#[test]
fn what_the_host_has_not_seen_before_is_shown_before_it_is_committed() {
    let folder = folder(&["a.jpeg"]);
    let run = [
        "run",
        "batch-rename",
        RENAME,
        "--rehearse",
        "never",
        "--confirm-effects",
    ];
    let mut terminal = Terminal::run(folder.path(), &run);
    terminal
        .asks("a")
        .asks_why("")
        .sees("renamed a.jpeg -> a.jpg")
        .sees("Put this into the workspace?")
        .types("n")
        .sees("not confirmed")
        .asks("l")
        .ends(1);
    assert_eq!(names(&folder), ["a.jpeg"]);
    let mut terminal = Terminal::run(folder.path(), &[&run[..], &["--apply", "yes"]].concat());
    terminal
        .sees("Put this into the workspace?")
        .types("y")
        .sees("Renamed")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpg"]);
    let resolve = ["resolve", "apply", "--reason", "yes", "--confirm-effects"];
    let ran = Store::new().airlock(folder.path(), &resolve).run();
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.stderr.contains("asks on a terminal"), "{ran:#?}");
}

#[test]
fn a_rehearsal_can_be_left_out() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let args = ["run", "batch-rename", RENAME, "--rehearse", "never"];
    let report = store.json(folder.path(), &args);
    assert_eq!(report["effects"], json!(null));
    let listed = store.json(folder.path(), &["pending"]);
    let entry = &listed["pending"][0];
    assert_eq!(entry["effects"], json!(null));
    let id = entry["id"].as_str().unwrap();
    let shown = store.airlock(folder.path(), &["show", id]).run();
    assert!(!shown.stdout.contains("Verified"), "{shown:#?}");
    let apply = ["resolve", "apply", "--reason", "yes"];
    assert_eq!(store.airlock(folder.path(), &apply).run().code, 0);
}

/// How often each tool is rehearsed, and applied by another process.
fn rounds() -> usize {
    asked("AIRLOCK_REHEARSALS").unwrap_or(2)
}

/// The host compares the bytes: where a tool comes to others, its apply is not committed.
#[test]
fn what_differs_in_every_run_is_the_same_when_it_is_applied_in_each_language() {
    for language in ["c", "go", "python", "rust", "ts"] {
        let plugin = guest(&format!("conformance/{language}"));
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..rounds() {
            let (store, folder) = (Store::new(), folder(&[]));
            let params = json!({"label": "It", "apply": {"how": "vary"}}).to_string();
            let ran = store.json(folder.path(), &["run", &plugin, "stage", &params]);
            let effects = &ran["effects"][0];
            let told = [&effects["verified"], &effects["usesTime"]];
            assert_eq!(told, [&json!(true); 2], "{language}: {ran}");
            store.json(folder.path(), &["resolve", "apply", "--reason", "yes"]);
            let varied = fs::read_to_string(folder.path().join("varied")).unwrap();
            assert!(
                seen.insert(varied),
                "{language} differs in no way: {seen:?}"
            );
        }
    }
}

/// What can be applied by another process, of the examples and of what comes with the program.
#[test]
fn the_examples_do_when_applied_what_the_host_saw_before() {
    let files = json!(["a.jpeg", "b.jpeg"]);
    let renames = json!({"files": files, "find": "jpeg", "replace": "jpg"});
    let replaces = json!({"path": "c.txt", "find": "c", "replace": "d"});
    let renamed = ["a.jpg", "b.jpg", "c.txt"];
    let rows = [
        (guest("c/batch-rename"), &renames, 2, renamed),
        (guest("go/batch-rename"), &renames, 2, renamed),
        (guest("python/batch_rename"), &renames, 2, renamed),
        (guest("ts/batch-rename"), &renames, 2, renamed),
        (
            guest("rust/replace-text"),
            &replaces,
            1,
            ["a.jpeg", "b.jpeg", "c.txt"],
        ),
        ("batch-rename".to_owned(), &renames, 2, renamed),
    ];
    for (plugin, params, changed, left) in rows {
        for _ in 0..rounds() {
            let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg"]));
            fs::write(folder.path().join("c.txt"), "abc\n").unwrap();
            let ran = store.json(folder.path(), &["run", &plugin, &params.to_string()]);
            let seen = &ran["effects"][0];
            assert_eq!(seen["verified"], true, "{plugin}: {ran}");
            assert_eq!(seen["changes"].as_array().unwrap().len(), changed, "{ran}");
            let apply = ["resolve", "apply", "--reason", "yes"];
            let applied = store.json(folder.path(), &apply);
            let without_diffs = |changes: &Value| {
                let mut changes = changes.as_array().unwrap().clone();
                for change in &mut changes {
                    change.as_object_mut().unwrap().remove("diff");
                }
                changes
            };
            let (before, after) = (&seen["changes"], &applied["effects"]["changes"]);
            assert_eq!(without_diffs(after), without_diffs(before), "{plugin}");
            assert_eq!(names(&folder), left);
        }
    }
}

#[test]
fn what_a_plugin_is_granted_by_name_is_kept_with_its_actions_and_shown() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    // A plugin that doesn't list its wants: the bundled ones don't want the time.
    let rename = json!({"do": "fs", "op": "rename", "path": "a.jpeg", "to": "a.jpg"});
    let params = steps(json!([{"do": "push", "label": "It", "apply": [rename]}]));
    let puppet = guest("puppet");
    let run = ["run", &puppet, "puppet", &params];
    let granted = ["--grant", "real-time", "--grant", "fresh-randomness"];
    let ran = store.json(folder.path(), &[&run[..], &granted].concat());
    let id = ran["pending"][0]["id"].as_str().unwrap();
    let shown = store.json(folder.path(), &["show", id]);
    let expected =
        serde_json::json!({"workspace": "read-write", "real-time": true, "fresh-randomness": true});
    assert_eq!(shown["grants"], expected);
    let shown = store.airlock(folder.path(), &["show", id]).run();
    let told = shown
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let expected = "real time while applying; fresh randomness while applying;";
    assert!(told.contains(expected), "{shown:#?}");
    // It renames the same file then as now.
    let apply = ["resolve", "apply", "--reason", "granted"];
    assert_eq!(store.airlock(folder.path(), &apply).run().code, 0);
    let unknown = [&run[..], &["--grant", "network"]].concat();
    let refused = store.airlock(folder.path(), &unknown).run();
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.stderr.contains("real-time"), "{refused:#?}");
}
