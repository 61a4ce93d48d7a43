//! All that is pending is reviewed as one and applied in one step.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::airlock::{Store, airlock_in, folder, guest, names, steps};
use crate::terminal::Terminal;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// Leaves five actions of three tools pending. Two edit the same file.
fn push_five(folder: &Path) {
    fs::write(folder.join("c.txt"), LINES).unwrap();
    let rename = |file: &str| json!({"files": [file], "find": "jpeg$", "replace": "jpg"});
    let write = json!({"do": "fs", "op": "replace", "path": "c.txt", "find": "8", "text": "eight"});
    let push = json!([{"do": "push", "label": "Write eight", "apply": [write]}]);
    let replace = json!({"path": "c.txt", "find": "2", "replace": "two"});
    let more = json!([{"do": "push", "label": "New file", "apply": [
        {"do": "fs", "op": "mkdir", "path": "new"},
        {"do": "fs", "op": "write", "path": "new/file", "text": "new\n"},
    ]}]);
    let calls = [
        ("batch-rename".to_owned(), rename("a.jpeg").to_string()),
        (guest("rust/replace-text"), replace.to_string()),
        (guest("puppet"), steps(push)),
        (guest("go/batch-rename"), rename("b.jpeg").to_string()),
        (guest("puppet"), steps(more)),
    ];
    for (plugin, params) in calls {
        let tool = if plugin.ends_with("puppet.wasm") {
            &["puppet"][..]
        } else {
            &[]
        };
        let args = [&["run", &plugin][..], tool, &[&params]].concat();
        let ran = airlock_in(folder, &args).run();
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
}

fn c_txt(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("c.txt")).unwrap()
}

#[test]
fn five_actions_of_three_tools_in_two_languages_are_one_question_and_one_commit() {
    let folder = folder(&["a.jpeg", "b.jpeg"]);
    push_five(folder.path());
    let before = names(&folder);
    let all = ["resolve", "apply", "--all"];
    let mut terminal = Terminal::run(folder.path(), &all);
    terminal
        .sees("5 actions to apply in one step, in this order:")
        .sees("1. Batch rename: 1 files")
        .sees("2. Replace text: 1 times in c.txt")
        .sees("3. Write eight")
        .sees("5. New file")
        .sees("renamed a.jpeg -> a.jpg")
        .sees("+two")
        .sees("+eight")
        .sees("Apply all 5 in one step? [y]es, [r]eview, [o]ne by one, [n]o, [?]: ");
    assert_eq!(names(&folder), before);
    terminal
        .types("y")
        .asks_why("they belong together")
        .sees("All 5 actions were applied in one step")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpg", "b.jpg", "c.txt", "new"]);
    assert_eq!(
        c_txt(&folder),
        LINES.replace('2', "two").replace('8', "eight")
    );
    let originals = fs::read_dir(folder.path().join(".airlock/originals"));
    assert_eq!(originals.unwrap().count(), 1, "one commit");
    let log = airlock_in(folder.path(), &["log", "--json"]).run().json();
    let entries = log["log"].as_array().unwrap().iter();
    let reasons = entries.clone().map(|it| &it["resolved"]["reason"]);
    assert!(reasons.eq([&json!("they belong together"); 5]), "{log:#}");
    assert!(entries.clone().all(|it| it["undoable"] == true), "{log:#}");

    let undo = ["undo", "--yes", "--reason", "not at all"];
    let undone = airlock_in(folder.path(), &undo).run();
    assert_eq!(undone.code, 0, "{undone:#?}");
    let expected = "│ Undoes \"Batch rename: 1 files and 4 more\", applied just now.";
    assert!(undone.stdout.starts_with(expected), "{undone:#?}");
    assert_eq!(names(&folder), before);
    assert_eq!(c_txt(&folder), LINES);
}

#[test]
fn the_actions_of_all_conversations_in_a_workspace_are_one_question_and_one_commit() {
    let folder = folder(&["a.jpeg", "b.jpeg", "c.jpeg"]);
    let before = names(&folder);
    // All tests share a store.
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    let [one, another] = ["one", "another"].map(|it| format!("{it}-{name}"));
    for (file, session) in [("a", &one), ("b", &another), ("c", &one)] {
        let params = json!({"files": [format!("{file}.jpeg")], "find": "jpeg$", "replace": "jpg"});
        let params = params.to_string();
        let args = ["run", "batch-rename", &params, "--session", session];
        let ran = airlock_in(folder.path(), &args).run();
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
    let all = ["apply", "--everywhere", "--reason", "all of it"];
    let mut terminal = Terminal::run(folder.path(), &all);
    terminal
        .sees("3 actions to apply in one step, in this order:")
        .sees("renamed a.jpeg -> a.jpg")
        .sees("renamed b.jpeg -> b.jpg")
        .sees("renamed c.jpeg -> c.jpg")
        .sees("Apply all 3 in one step? [y]es, [r]eview, [o]ne by one, [n]o, [?]: ")
        .types("y")
        .sees("All 3 actions were applied in one step")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpg", "b.jpg", "c.jpg"]);
    let originals = fs::read_dir(folder.path().join(".airlock/originals"));
    assert_eq!(originals.unwrap().count(), 1, "one commit");
    for (session, count) in [(&one, 2), (&another, 1)] {
        let log = airlock_in(folder.path(), &["log", "--session", session, "--json"])
            .run()
            .json();
        let entries = log["log"].as_array().unwrap().iter();
        let reasons = entries.map(|it| it["resolved"]["reason"].as_str());
        assert!(reasons.eq(vec![Some("all of it"); count]), "{log:#}");
    }

    let undo = ["undo", "--yes", "--reason", "not at all"];
    let undone = airlock_in(folder.path(), &undo).run();
    assert_eq!(undone.code, 0, "{undone:#?}");
    assert_eq!(names(&folder), before);
    for session in [&one, &another] {
        let log = airlock_in(folder.path(), &["log", "--session", session, "--json"])
            .run()
            .json();
        let mut entries = log["log"].as_array().unwrap().iter();
        assert!(entries.all(|it| it["undoneBy"].is_string()), "{log:#}");
    }
}

#[test]
fn one_question_has_other_answers() {
    let check = |type_in: &dyn Fn(&mut Terminal), left: usize| {
        let folder = folder(&["a.jpeg", "b.jpeg"]);
        push_five(folder.path());
        let mut terminal = Terminal::run(folder.path(), &["resolve", "apply", "--all"]);
        terminal.sees("Apply all 5 in one step?");
        type_in(&mut terminal);
        terminal.ends(0);
        let pending = airlock_in(folder.path(), &["pending", "--json"])
            .run()
            .json();
        assert_eq!(pending["pending"].as_array().unwrap().len(), left);
    };
    check(&|it| _ = it.types("n").sees("5 actions stay pending."), 5);
    check(
        &|it| _ = it.types("?").sees("ask about each action").types("q"),
        5,
    );
    // The first one that was pushed comes first.
    check(
        &|it| {
            it.types("o").sees("1 of 5: Batch rename: 1 files");
            it.types("y").asks_why("right").sees("Applied batch rename");
            it.sees("2 of 5: Replace text").types("q");
        },
        4,
    );
}

#[test]
fn hunks_are_marked_as_reviewed_and_stay_so_in_a_later_review() {
    let folder = folder(&["a.jpeg", "b.jpeg"]);
    push_five(folder.path());
    let all = ["resolve", "apply", "--all"];
    let mut terminal = Terminal::run(folder.path(), &all);
    terminal
        .sees("Apply all 5 in one step?")
        .types("r")
        .sees("renamed a.jpeg -> a.jpg")
        .sees("(1/5) Mark as reviewed [y,n,a,d,q,?]? ")
        .types("?")
        .sees("  q  quit the review; the marks stay")
        .types("y")
        .sees("renamed b.jpeg -> b.jpg")
        .sees("(2/5)")
        .types("n")
        .sees("+two")
        .sees("(3/5)")
        .types("y")
        .sees("created new")
        .sees("(4/5)")
        .types("q")
        .sees("Apply all 5 in one step?")
        .types("s")
        .sees("You have reviewed 2 of 5 hunks.")
        .sees("Apply all 5 in one step?")
        .types("q")
        .ends(0);

    let write = json!({"do": "fs", "op": "write", "path": "d.txt", "text": "d\n"});
    let push = json!([{"do": "push", "label": "One more", "apply": [write]}]);
    let args = ["run", &guest("puppet"), "puppet", &steps(push)];
    assert_eq!(airlock_in(folder.path(), &args).run().code, 0);
    let mut terminal = Terminal::run(folder.path(), &all);
    terminal
        .sees("renamed a.jpeg -> a.jpg (reviewed)")
        .sees("renamed b.jpeg -> b.jpg")
        .sees("modified c.txt (reviewed)")
        .sees("@@ -1,9 +1,9 @@ (reviewed)")
        .sees("You have reviewed 2 of 6 hunks.")
        .sees("Apply all 6 in one step? [y]es, [r]eview, [o]ne by one, [n]o, [?]: ")
        .types("r");
    for number in 1..=4 {
        let question = format!("({number}/4) Mark as reviewed");
        terminal.sees(&question).types("a");
    }
    terminal
        .sees("Apply all 6 in one step? [y]es, [o]ne by one, [n]o, [?]: ")
        .types("y")
        .asks_why("all seen")
        .sees("All 6 actions were applied in one step")
        .ends(0);
}

#[test]
fn what_can_not_be_applied_together_is_applied_one_by_one_until_one_fails() {
    let (store, folder) = (Store::new(), folder(&["file"]));
    let push = |label: &str, text: &str| {
        let append = json!({"do": "fs", "op": "append", "path": "file", "text": text});
        store.push(
            folder.path(),
            json!([{"do": "push", "label": label, "apply": [append]}]),
        );
    };
    push("One", "1");
    push("Two", "2");
    let all = ["resolve", "apply", "--all", "--reason", "yes"];
    let ran = store.airlock(folder.path(), &all).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stderr.contains("Failed: Two"), "{ran:#?}");
    let note = "note: these actions can't be applied in one step, so each is decided by itself. The obstacle is \"Two\": its change of file can't be combined with that of \"One\"";
    assert!(ran.stderr.replace("\n  ", " ").contains(note), "{ran:#?}");
    let text = fs::read_to_string(folder.path().join("file")).unwrap();
    assert_eq!(text, "file1");
}

#[test]
fn a_decision_on_the_command_line_applies_all_that_a_call_pushed_in_the_order_of_its_pushes() {
    let write = |path: &str| json!({"do": "fs", "op": "write", "path": path, "text": "x"});
    let first = json!({"do": "fs", "op": "mkdir", "path": "new"});
    let fails = json!({"do": "failed", "message": "no"});
    let push = |label: &str, apply: &[Value]| json!({"do": "push", "label": label, "apply": apply});
    let check = |pushes: Value, code: i32, expected: &[&str], commits: usize| {
        let (store, folder) = (Store::new(), folder(&[]));
        let params = steps(pushes);
        let args = ["run", &guest("puppet"), "puppet", &params, "--apply", "yes"];
        let ran = store.airlock(folder.path(), &args).run();
        assert_eq!(ran.code, code, "{ran:#?}");
        assert_eq!(names(&folder), expected, "{ran:#?}");
        let originals = fs::read_dir(folder.path().join(".airlock/originals"));
        assert_eq!(originals.map_or(0, Iterator::count), commits, "{ran:#?}");
    };
    check(
        json!([push("One", &[write("a")]), push("Two", &[write("b")])]),
        0,
        &["a", "b"],
        1,
    );
    // The second one needs the first one.
    let natural = json!([
        push("One", std::slice::from_ref(&first)),
        push("Two", &[write("new/x")])
    ]);
    check(natural, 0, &["new"], 1);
    check(
        json!([push("One", &[write("a")]), push("Two", &[fails])]),
        1,
        &["a"],
        1,
    );
}

#[test]
fn where_one_is_stale_those_before_it_are_applied_and_a_program_is_told_of_it() {
    let folder = folder(&["a.jpeg", "b.jpeg"]);
    push_five(folder.path());
    fs::write(folder.path().join("b.jpeg"), "changed").unwrap();
    let all = ["resolve", "apply", "--all", "--reason", "yes", "--json"];
    let ran = airlock_in(folder.path(), &all).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    let told = ran.json();
    assert_eq!(told["resolved"].as_array().unwrap().len(), 3, "{told:#}");
    let failed = told["failed"]["content"][0]["text"].as_str().unwrap();
    assert!(failed.contains("b.jpeg has changed"), "{told:#}");
}
