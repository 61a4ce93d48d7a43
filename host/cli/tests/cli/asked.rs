//! What `resolve` asks somebody at a terminal, and answers for several actions.

use expectrl::ControlCode;
use serde_json::json;

use crate::airlock::{RENAME, Store, folder, names};
use crate::terminal::Terminal;

#[test]
fn who_resolves_at_a_terminal_is_asked_unless_they_have_said_all() {
    let folder = folder(&["a.jpeg"]);
    let mut terminal = Terminal::run(folder.path(), &["run", "batch-rename", RENAME]);
    terminal.asks("l").ends(0);
    let apply = ["resolve", "apply"];
    let mut terminal = Terminal::run(folder.path(), &apply);
    terminal
        .sees("Apply it?")
        .types("?")
        .sees("no, leave it pending")
        .sees("show it again")
        .sees("Apply it?")
        .types("s")
        .sees("a.jpeg -> a.jpg")
        .sees("Apply it?")
        .types("n")
        .sees("1 action stays pending")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpeg"]);
    let mut terminal = Terminal::run(folder.path(), &apply);
    terminal
        .sees("Apply it?")
        .types("y")
        .asks_why("")
        .sees("Applied batch rename")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpg"]);
    let back = r#"{"files": ["*.jpg"], "find": "jpg$", "replace": "jpeg"}"#;
    let mut terminal = Terminal::run(folder.path(), &["run", "batch-rename", back]);
    terminal.asks("l").ends(0);
    let yes = ["resolve", "apply", "--reason", "I have looked", "--yes"];
    let mut terminal = Terminal::run(folder.path(), &yes);
    terminal.sees("Reason: I have looked").ends(0);
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn all_that_is_pending_is_applied_in_its_order_until_one_fails() {
    let folder = folder(&[]);
    let says = |label: &str| json!({"do": "push", "label": label, "apply": [{"do": "text", "text": format!("did {label}")}]});
    let fails =
        json!({"do": "push", "label": "three", "apply": [{"do": "failed", "message": "no way"}]});
    let pushes = json!([says("one"), says("two"), fails, says("four")]);
    let mut terminal = Terminal::puppet(folder.path(), pushes);
    terminal.asks("quit").sees("stay pending").ends(0);
    let mut terminal = Terminal::run(folder.path(), &["resolve", "apply", "--all"]);
    terminal
        .sees("each is decided by itself")
        .sees("1 of 4: one")
        .sees("[?]: ")
        .types("n")
        .sees("2 of 4: two")
        .sees("[?]: ")
        .types("all")
        .asks_why("they are right")
        .sees("did two")
        .sees("Failed: three")
        .sees("3 actions are pending")
        .ends(1);
    let mut terminal = Terminal::run(folder.path(), &["resolve", "discard", "--all", "--yes"]);
    terminal
        .sees("Discard: ")
        .sees("Discard: ")
        .sees("Discard: ")
        .ends(0);
    let mut terminal = Terminal::run(folder.path(), &["pending"]);
    terminal.sees("Nothing is pending").ends(0);
}

#[test]
fn an_answer_may_be_for_all_that_follow_and_the_preview_is_shown_again() {
    let folder = folder(&[]);
    let says = |label: &str| json!({"do": "push", "label": label, "apply": [{"do": "text", "text": format!("did {label}")}]});
    let text = json!({"do": "text", "text": "the preview"});
    let pushes = json!([says("one"), says("two"), says("three"), text]);
    let mut terminal = Terminal::puppet(folder.path(), pushes);
    terminal
        .sees("the preview")
        .asks("?")
        .sees("apply it and those that follow")
        .asks("s")
        .sees("the preview")
        .asks("l")
        .asks("apply all")
        .asks_why("")
        .sees("did one")
        .sees("did two")
        .sees("this action stays pending")
        .ends(0);
}

#[test]
fn an_action_that_was_left_is_resolved_later() {
    let folder = folder(&["a.jpeg"]);
    let mut terminal = Terminal::run(folder.path(), &["run", "batch-rename", RENAME]);
    terminal.asks("l").sees("stays pending").ends(0);
    let resolve = ["resolve", "apply", "--reason", "I have looked again"];
    let mut terminal = Terminal::run(folder.path(), &resolve);
    // What it is about to do is shown first.
    terminal
        .sees("paged: ")
        .sees("Batch rename: 1 files")
        .sees("a.jpeg -> a.jpg")
        .sees("Apply it? [y]es, [n]o, [?]: ");
    assert_eq!(names(&folder), ["a.jpeg"]);
    terminal
        .types("y")
        .sees("Applied batch rename. Reason: I have looked again")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpg"]);
    let mut terminal = Terminal::run(folder.path(), &["log"]);
    terminal
        .sees("a person (evidence: answered on the terminal)")
        .ends(0);
}

#[test]
fn an_interrupted_resolve_leaves_the_action_pending() {
    let folder = folder(&[]);
    let progress = json!({"do": "progress", "message": "Counting", "progress": 1, "total": 3});
    let push = json!([{"do": "push", "label": "One", "apply": [progress, {"do": "spin"}]}]);
    Terminal::puppet(folder.path(), push).asks("l").ends(0);
    let resolve = ["resolve", "apply", "--reason", "yes", "-y"];
    let mut terminal = Terminal::run(folder.path(), &resolve);
    terminal
        .sees("Counting (1 of 3)")
        .presses(ControlCode::EndOfText)
        .sees("cancelled")
        .sees("the action is pending again")
        .ends(130);
    let mut terminal = Terminal::run(folder.path(), &["pending"]);
    terminal.sees("tried once: cancelled").ends(0);
}

#[test]
fn an_interrupt_while_one_of_all_is_applied_is_told_as_one() {
    let folder = folder(&[]);
    let progress = json!({"do": "progress", "message": "Counting", "progress": 1, "total": 3});
    let push = json!([{"do": "push", "label": "One", "apply": [progress, {"do": "spin"}]}]);
    Terminal::puppet(folder.path(), push).asks("l").ends(0);
    let all = ["resolve", "apply", "--all", "--yes"];
    let mut terminal = Terminal::run(folder.path(), &all);
    terminal
        .sees("Counting (1 of 3)")
        .presses(ControlCode::EndOfText)
        .sees("cancelled")
        .sees("1 action is pending")
        .ends(130);
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let folder = folder(&["a.jpeg"]);
    let run = ["run", "batch-rename", RENAME];
    let mut terminal = Terminal::run_after(&["a", "typed too early"], folder.path(), &run);
    terminal.asks("l").sees("stays pending").ends(0);
    assert_eq!(names(&folder), ["a.jpeg"]);
    let mut terminal = Terminal::run_after(&["y", ""], folder.path(), &["resolve", "apply"]);
    terminal
        .sees("Apply it?")
        .types("n")
        .sees("stays pending")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn only_who_answered_at_a_terminal_is_recorded_as_a_person() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let args = ["run", "batch-rename", RENAME, "--apply", ""];
    assert_eq!(store.airlock(folder.path(), &args).run().code, 0);
    let log = store.json(folder.path(), &["log"]);
    let resolved = &log["log"][0]["resolved"];
    assert_eq!(resolved["decidedBy"]["actor"], "unknown", "{resolved}");
    assert_eq!(resolved["reason"], "");
    let log = store.airlock(folder.path(), &["log"]).run();
    assert!(log.stdout.contains(", without a question"), "{log:#?}");
}
