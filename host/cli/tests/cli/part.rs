//! A part of a preview is applied, and the rest is not.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::airlock::{Store, command, folder, names, steps};
use crate::terminal::Terminal;

const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n";

/// Lines 2 and 4 are one section of the diff, and line 18 is another.
fn new_text() -> String {
    let text = OLD.replacen("2\n", "two\n", 1);
    text.replacen("4\n", "four\n", 1)
        .replacen("18\n", "eighteen\n", 1)
}

fn write(path: &str, text: &str) -> Value {
    json!({"do": "fs", "op": "write", "path": path, "text": text})
}

fn pushed(apply: &[Value]) -> Value {
    json!([{"do": "push", "label": "do it", "apply": apply}])
}

/// Leaves an action pending that writes three files, and gives its id.
fn push_three(store: &Store, folder: &Path) -> String {
    let apply = [write("a.md", "1"), write("b.md", "2"), write("c.txt", "3")];
    store.push(folder, pushed(&apply))
}

#[test]
fn only_what_is_named_is_applied_and_the_rest_is_recorded() {
    let check = |options: &[&str], expected: &[&str], left: &[&str]| {
        let (store, folder) = (Store::new(), folder(&["a.md"]));
        let id = push_three(&store, folder.path());
        let mut args = vec!["apply", &*id, "--reason", "a part"];
        args.extend(options);
        let applied = store.json(folder.path(), &args);
        assert_eq!(names(&folder), expected, "{applied:#}");
        let paths = |part: &Value| -> Vec<String> {
            let left = part["leftOut"].as_array().unwrap().iter();
            left.map(|it| it["path"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(paths(&applied["details"]["part"]), left, "{applied:#}");
        let shown = store.json(folder.path(), &["show", &id]);
        assert_eq!(paths(&shown["resolved"]["part"]), left, "{shown:#}");
        let log = store.airlock(folder.path(), &["log"]).run().stdout;
        assert!(log.contains("applied in part by"), "{log}");
        assert!(
            log.contains(&format!("not created {}", left[left.len() - 1])),
            "{log}"
        );
    };
    check(&["--only", "*.md"], &["a.md", "b.md"], &["c.txt"]);
    check(&["--except", "b.md"], &["a.md", "c.txt"], &["b.md"]);
    let both = ["--only", "*.md", "--only", "c.txt", "--except", "b.*"];
    check(&both, &["a.md", "c.txt"], &["b.md"]);
}

#[test]
fn the_rest_is_kept_if_asked_and_applied_later_by_another_process() {
    let (store, folder) = (Store::new(), folder(&["a.md"]));
    let id = push_three(&store, folder.path());
    let apply = [
        "apply",
        &id,
        "--only",
        "a.md",
        "--reason",
        "this one",
        "--keep-rest",
    ];
    let ran = store.airlock(folder.path(), &apply).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(
        ran.stdout.contains("The rest stays pending as "),
        "{ran:#?}"
    );
    let pending = store.json(folder.path(), &["pending"]);
    let rest = &pending["pending"][0];
    assert_eq!(rest["label"], "Rest of: do it");
    let shown = store
        .airlock(folder.path(), &["show", rest["id"].as_str().unwrap()])
        .run();
    assert!(shown.stdout.contains("created b.md"), "{shown:#?}");
    store.json(
        folder.path(),
        &["resolve", "apply", "--reason", "now the others"],
    );
    assert_eq!(names(&folder), ["a.md", "b.md", "c.txt"]);
}

#[test]
fn a_part_that_makes_no_sense_is_refused_and_nothing_is_applied() {
    let check = |args: &[&str], code: i32, says: &str| {
        let (store, folder) = (Store::new(), folder(&[]));
        let id = push_three(&store, folder.path());
        let mut all = vec![args[0], &*id, "--reason", "r"];
        all.extend(&args[1..]);
        let refused = store.airlock(folder.path(), &all).run();
        assert_eq!(refused.code, code, "{refused:#?}");
        assert!(refused.stderr.contains(says), "{refused:#?}");
        assert_eq!(names(&folder), [""; 0]);
        let pending = store.json(folder.path(), &["pending"]);
        assert_eq!(pending["pending"][0]["id"], *id);
    };
    let none = "`*.rs` matches no change of the action; it changes a.md, b.md, c.txt";
    check(&["apply", "--only", "*.rs"], 2, none);
    check(
        &["apply", "--except", "*"],
        2,
        "nothing of the action is left to apply",
    );
    check(
        &["discard", "--only", "a.md"],
        2,
        "a discard drops all changes",
    );
}

#[test]
fn what_a_change_needs_comes_along_and_an_undo_takes_back_the_part() {
    let (store, folder) = (Store::new(), folder(&["kept"]));
    let apply = [
        json!({"do": "fs", "op": "mkdir", "path": "new"}),
        write("new/a", "a"),
        write("new/b", "b"),
        write("kept", "other"),
    ];
    let id = store.push(folder.path(), pushed(&apply));
    let apply = ["apply", &id, "--reason", "r", "--only", "new/b"];
    store.json(folder.path(), &apply);
    assert_eq!(names(&folder), ["kept", "new"]);
    assert!(!folder.path().join("new/a").exists());
    assert_eq!(
        fs::read_to_string(folder.path().join("new/b")).unwrap(),
        "b"
    );
    let undone = store.airlock(folder.path(), &["undo", "--yes"]).run();
    assert_eq!(undone.code, 0, "{undone:#?}");
    assert_eq!(names(&folder), ["kept"]);
    assert_eq!(
        fs::read_to_string(folder.path().join("kept")).unwrap(),
        "kept"
    );
}

/// A folder with a file of numbered lines, where an action is pending that changes three of them.
fn numbered() -> TempDir {
    let folder = folder(&[]);
    fs::write(folder.path().join("n"), OLD).unwrap();
    let puppet = crate::airlock::guest("puppet");
    let apply = [write("n", &new_text()), write("other", "o")];
    let steps = steps(pushed(&apply));
    let mut run = command(folder.path());
    run.args(["run", &puppet, "puppet", &steps]);
    assert!(run.output().unwrap().status.success());
    folder
}

#[test]
fn at_a_terminal_each_hunk_is_asked_about_with_the_keys_of_git() {
    let check = |keys: &[&str], expected: Option<String>, has_other: bool| {
        let folder = numbered();
        let mut terminal = Terminal::run(folder.path(), &["apply"]);
        terminal.sees("[y]es, [p]art, [n]o, [?]: ").types("p");
        for key in keys {
            let question = match *key {
                "y other" | "n other" => "Apply this change [y,n,q,?]? ",
                _ => "Apply this hunk [",
            };
            terminal.sees(question).types(&key[..1]);
        }
        match &expected {
            None => {
                terminal
                    .sees("Nothing is selected.")
                    .sees("[p]art")
                    .types("n");
            }
            Some(_) => {
                terminal.sees("Apply what is selected? [y/N] ").types("y");
                terminal.asks_why("");
            }
        }
        terminal.ends(0);
        let text = fs::read_to_string(folder.path().join("n")).unwrap();
        assert_eq!(text, expected.unwrap_or_else(|| OLD.to_owned()), "{keys:?}");
        assert_eq!(folder.path().join("other").exists(), has_other, "{keys:?}");
    };
    let two = OLD.replacen("2\n", "two\n", 1);
    let last = OLD.replacen("18\n", "eighteen\n", 1);
    check(&["y", "y", "y other"], Some(new_text()), true);
    check(&["a", "n other"], Some(new_text()), false);
    check(&["n", "y", "n other"], Some(last), false);
    check(&["s", "y", "n", "n", "y other"], Some(two.clone()), true);
    check(&["s", "y", "q"], Some(two), false);
    check(&["d", "y other"], Some(OLD.to_owned()), true);
    check(&["d", "n other"], None, false);
    check(&["q"], None, false);
}

#[test]
fn a_hunk_can_be_edited_and_what_was_written_is_recorded() {
    let folder = numbered();
    let editor = folder.path().join("editor");
    fs::write(&editor, "#!/bin/sh\nsed -i 's/^+two/+deux/' \"$1\"\n").unwrap();
    let mut terminal = Terminal::run_with(
        folder.path(),
        &["apply"],
        ("EDITOR", &format!("sh {}", editor.display())),
    );
    terminal.sees("[p]art").types("p");
    terminal.sees("Apply this hunk [").types("e");
    terminal.sees("Apply this hunk [").types("n");
    terminal.sees("Apply this change [").types("n");
    terminal
        .sees("n as edited")
        .sees("Apply what is selected?")
        .types("y");
    terminal
        .asks_why("in French")
        .sees("Applied in part")
        .ends(0);
    let text = fs::read_to_string(folder.path().join("n")).unwrap();
    let expected = OLD
        .replacen("2\n", "deux\n", 1)
        .replacen("4\n", "four\n", 1);
    assert_eq!(text, expected);
    let mut log = command(folder.path());
    let log = log.args(["log", "--json"]).output().unwrap();
    let log: Value = serde_json::from_slice(&log.stdout).unwrap();
    let part = &log["log"][0]["resolved"]["part"];
    assert_eq!(part["edited"][0]["path"], "n", "{log:#}");
    let diff = part["edited"][0]["diff"].as_str().unwrap();
    assert!(
        diff.contains("-two\n+deux\n") && diff.contains("-eighteen\n+18\n"),
        "{diff}"
    );
}
