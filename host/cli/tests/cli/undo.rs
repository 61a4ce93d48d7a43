//! `airlock undo`: takes back what was applied, and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::airlock::{ProgramOutput, RENAME, Store, folder, names, short};

/// Applies the rename of `*.jpeg`, and gives its id.
fn apply_rename(store: &Store, folder: &Path) -> String {
    let id = store.push_rename(folder);
    store.json(folder, &["apply", &id, "--reason", "it is right"]);
    id
}

/// What the puppet did in an applied action, by these steps of its apply.
fn apply(store: &Store, folder: &Path, steps: Value) -> String {
    let id = store.push(
        folder,
        json!([{"do": "push", "label": "do it", "apply": steps}]),
    );
    store.json(folder, &["apply", &id, "--reason", "it is right"]);
    id
}

fn undo(store: &Store, folder: &TempDir, args: &[&str]) -> ProgramOutput {
    let airlock = store.airlock(folder.path(), &["undo", "--yes"]);
    airlock.args(args).run()
}

#[test]
fn the_last_apply_is_undone_and_an_undo_of_that_does_it_again() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg", "c.txt"]));
    apply_rename(&store, folder.path());
    let renamed = ["a.jpg", "b.jpg", "c.txt"];
    assert_eq!(names(&folder), renamed);
    let undone = undo(&store, &folder, &["--reason", "the names were right"]);
    assert_eq!(undone.code, 0, "{undone:#?}");
    let expected = "│ Undoes \"Batch rename: 2 files\", applied just now.";
    assert!(undone.stdout.starts_with(expected), "{undone:#?}");
    assert_eq!(names(&folder), ["a.jpeg", "b.jpeg", "c.txt"]);
    let again = undo(&store, &folder, &[]);
    assert_eq!(again.code, 0, "{again:#?}");
    assert_eq!(names(&folder), renamed);

    let log = store.json(folder.path(), &["log"]);
    let entries = log["log"].as_array().unwrap().iter();
    let labels: Vec<_> = entries.map(|it| it["label"].as_str().unwrap()).collect();
    assert_eq!(
        labels,
        [
            "Undo: Undo: Batch rename: 2 files",
            "Undo: Batch rename: 2 files",
            "Batch rename: 2 files"
        ]
    );
    assert_eq!(log["log"][1]["resolved"]["reason"], "the names were right");
}

#[test]
fn an_earlier_action_is_undone_by_the_end_of_its_id() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let id = apply_rename(&store, folder.path());
    fs::write(folder.path().join("b.jpeg"), "b").unwrap();
    apply_rename(&store, folder.path());
    let undone = undo(&store, &folder, &[short(&id)]);
    assert_eq!(undone.code, 0, "{undone:#?}");
    assert_eq!(names(&folder), ["a.jpeg", "b.jpg"]);
}

#[test]
fn contents_permissions_and_removed_files_come_back() {
    let (store, folder) = (Store::new(), folder(&["kept", "removed"]));
    let path = |name: &str| folder.path().join(name);
    fs::set_permissions(path("removed"), fs::Permissions::from_mode(0o640)).unwrap();
    let steps = json!([
        {"do": "fs", "op": "write", "path": "kept", "text": "other"},
        {"do": "fs", "op": "unlink", "path": "removed"},
        {"do": "fs", "op": "write", "path": "new", "text": "new"},
    ]);
    apply(&store, folder.path(), steps);
    assert_eq!(names(&folder), ["kept", "new"]);
    let undone = undo(&store, &folder, &[]);
    assert_eq!(undone.code, 0, "{undone:#?}");
    assert_eq!(names(&folder), ["kept", "removed"]);
    assert_eq!(fs::read_to_string(path("kept")).unwrap(), "kept");
    assert_eq!(fs::read_to_string(path("removed")).unwrap(), "removed");
    let mode = fs::metadata(path("removed")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn a_file_that_has_changed_since_is_named_and_nothing_is_undone() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg"]));
    apply_rename(&store, folder.path());
    fs::write(folder.path().join("a.jpg"), b"no text: \xff").unwrap();
    let refused = undo(&store, &folder, &[]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert!(refused.stderr.contains("a.jpg has changed"), "{refused:#?}");
    assert!(!refused.stderr.contains("b.jpg"), "{refused:#?}");
    assert_eq!(names(&folder), ["a.jpg", "b.jpg"]);
    let edited = fs::read(folder.path().join("a.jpg")).unwrap();
    assert_eq!(edited, b"no text: \xff");

    let skipped = undo(&store, &folder, &["--skip-changed"]);
    assert_eq!(skipped.code, 0, "{skipped:#?}");
    let expected = "Stays, since it has changed since: a.jpg.";
    assert!(skipped.stdout.contains(expected), "{skipped:#?}");
    assert_eq!(names(&folder), ["a.jpg", "b.jpeg"]);
}

#[test]
fn later_edits_of_texts_are_merged_with_the_undo() {
    let (store, folder) = (Store::new(), folder(&["a"]));
    let path = folder.path().join("a");
    fs::write(&path, "1\n2\n3\n4\n").unwrap();
    let steps = json!([{"do": "fs", "op": "write", "path": "a", "text": "one\n2\n3\n4\n"}]);
    apply(&store, folder.path(), steps);
    fs::write(&path, "one\n2\n3\nfour\n").unwrap();
    let undone = undo(&store, &folder, &[]);
    assert_eq!(undone.code, 0, "{undone:#?}");
    let expected = "Merged with later changes: a.";
    assert!(undone.stdout.contains(expected), "{undone:#?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n3\nfour\n");
}

#[test]
fn an_undo_can_be_left_pending_and_shows_what_it_would_change() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let id = apply_rename(&store, folder.path());
    let staged = store.json(folder.path(), &["undo", "--stage"]);
    assert_eq!(names(&folder), ["a.jpg"]);
    let pending = &staged["pending"][0];
    assert_eq!(pending["label"], "Undo: Batch rename: 1 files");
    assert_eq!(pending["details"]["undoes"], json!(id));
    let changes = &staged["effects"][0];
    assert_eq!(changes["verified"], true, "{staged}");
    let change = &changes["changes"][0];
    assert_eq!(
        (&change["kind"], &change["from"], &change["path"]),
        (&json!("renamed"), &json!("a.jpg"), &json!("a.jpeg"))
    );
    store.json(folder.path(), &["apply", "--reason", "back"]);
    assert_eq!(names(&folder), ["a.jpeg"]);
}

/// Between the preview of an undo and its apply, as before any other apply.
#[test]
fn a_pending_undo_is_stale_once_its_file_changes() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    apply_rename(&store, folder.path());
    store.json(folder.path(), &["undo", "--stage"]);
    fs::write(folder.path().join("a.jpg"), "edited").unwrap();
    let args = ["apply", "--reason", "back", "--json"];
    let refused = store.airlock(folder.path(), &args).run();
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert_eq!(names(&folder), ["a.jpg"]);
}

#[test]
fn where_nothing_was_applied_there_is_nothing_to_undo() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let check = |args: &[&str], expected: &str| {
        let refused = undo(&store, &folder, args);
        assert_ne!(refused.code, 0, "{refused:#?}");
        assert!(refused.stderr.contains(expected), "{refused:#?}");
    };
    check(&[], "nothing was applied here that can be undone");
    store.json(folder.path(), &["run", "batch-rename", RENAME]);
    check(&[], "nothing was applied here that can be undone");
    check(&["abcd"], "abcd can't be undone here");
}

#[test]
fn a_rule_that_refuses_a_change_refuses_its_undo_too() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    apply_rename(&store, folder.path());
    let rules = folder_with_rules("then = 'refuse'\npaths = ['*.jpeg']");
    let config = rules.path().join("airlock-host.toml");
    let refused = undo(&store, &folder, &["--config", config.to_str().unwrap()]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert!(refused.stderr.contains("keep"), "{refused:#?}");
    assert_eq!(names(&folder), ["a.jpg"]);
}

#[test]
fn an_operator_chooses_what_is_kept() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let check = |undo_: &str, expected: &str| {
        let config = folder_with("airlock-host.toml", &format!("[undo]\n{undo_}\n"));
        let config = config.path().join("airlock-host.toml");
        let config = ["--config", config.to_str().unwrap()];
        let steps = json!([{"do": "fs", "op": "unlink", "path": "a.jpeg"}]);
        fs::write(folder.path().join("a.jpeg"), "12345").unwrap();
        let id = store.push(
            folder.path(),
            json!([{"do": "push", "label": "x", "apply": steps}]),
        );
        let apply = ["apply", &id, "--reason", "", config[0], config[1]];
        store.json(folder.path(), &apply);
        let undone = undo(&store, &folder, &config);
        assert!(
            undone.stdout.contains(expected) || undone.stderr.contains(expected),
            "{undone:#?}"
        );
    };
    check("time = '1h'\nsize = '1MiB'", "Undoes");
    check("time = '0s'", "nothing was applied here that can be undone");
}

/// A folder with a configuration that has one rule, named `keep`.
fn folder_with_rules(rule: &str) -> TempDir {
    folder_with(
        "airlock-host.toml",
        &format!("[[rule]]\nname = 'keep'\n{rule}\n"),
    )
}

fn folder_with(name: &str, text: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

#[test]
fn the_space_of_what_can_be_undone_is_shown_with_its_limits() {
    let (store, folder) = (Store::new(), folder(&["kept"]));
    let stats = store.json(folder.path(), &["store", "stats"]);
    assert_eq!(stats.get("originals"), None, "{stats:#}");
    for text in ["other", "another"] {
        let write = json!([{"do": "fs", "op": "write", "path": "kept", "text": text}]);
        apply(&store, folder.path(), write);
    }
    let stats = store.json(folder.path(), &["store", "stats"]);
    let originals = &stats["originals"];
    assert_eq!(originals["applies"], 2, "{stats:#}");
    assert!(originals["bytes"].as_u64().unwrap() > 9, "{stats:#}");
    assert_eq!(originals["limit"], 1 << 30);
    assert_eq!(originals["retention"], "1w");
    let shown = store.airlock(folder.path(), &["store", "stats"]).run();
    assert!(
        shown.stdout.contains("2 applies in this folder"),
        "{shown:#?}"
    );
}
