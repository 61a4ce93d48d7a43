//! What a command waits for the disk for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::airlock::{RENAME, Store, folder, guest, steps};

/// A library that notes each sync of the process that loads it, and each answer.
fn notes(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("syncs.c"), folder.join("syncs.so"));
    fs::write(&source, include_str!("syncs.c")).unwrap();
    // The compiler that SQLite was compiled with.
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(compiled.unwrap().success());
    library
}

/// What such a command waits for, and when it answers.
fn noted(store: &Store, library: &Path, folder: &Path, args: &[&str]) -> Vec<String> {
    let notes = library.with_extension("noted");
    let ran = store
        .airlock(folder, args)
        .arg("--json")
        .env("LD_PRELOAD", library)
        .env("AIRLOCK_NOTED_SYNCS", &notes)
        .run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    let noted = fs::read_to_string(&notes).unwrap();
    fs::remove_file(notes).unwrap();
    let mut noted: Vec<_> = noted.lines().map(str::to_owned).collect();
    // An answer is written in several pieces.
    noted.dedup_by(|next, last| next == "answer" && last == "answer");
    noted
}

#[test]
fn a_preview_with_its_decision_waits_for_the_disk_three_times_and_answers_after_that() {
    let (store, place) = (Store::new(), folder(&["a.jpeg"]));
    let folder = tempfile::TempDir::new().unwrap();
    let library = notes(folder.path());
    let run = ["run", "batch-rename", RENAME, "--discard", "x"];
    // It makes the store, and keeps the plugin.
    store.json(place.path(), &run);
    for _ in 0..5 {
        let noted = noted(&store, &library, place.path(), &run);
        // The push, the claim with what the rehearsal saw, and the end.
        let log = "sync pending.db-wal";
        assert_eq!(noted, [log, log, log, "answer"]);
    }
}

#[test]
fn a_command_that_only_reads_waits_for_no_disk() {
    let (store, place) = (Store::new(), folder(&["a.jpeg"]));
    let folder = tempfile::TempDir::new().unwrap();
    let library = notes(folder.path());
    store.push_rename(place.path());
    for args in [&["pending"][..], &["log"], &["store", "stats"]] {
        let noted = noted(&store, &library, place.path(), args);
        assert_eq!(noted, ["answer"], "{args:?}");
    }
}

#[test]
fn all_that_is_pending_is_discarded_in_one_commit_or_in_two_of_each_where_its_tool_hears_of_it() {
    let (store, place) = (Store::new(), folder(&[]));
    let folder = tempfile::TempDir::new().unwrap();
    let library = notes(folder.path());
    let all = ["resolve", "discard", "--all", "--reason", "x"];
    let push_all = |count: usize, reject: &Value| {
        let push = |number: usize| {
            let mut step = json!({"do": "push", "label": format!("{number}"), "apply": []});
            if !reject.is_null() {
                step["reject"] = reject.clone();
            }
            step
        };
        let (puppet, params) = (guest("puppet"), steps((0..count).map(push).collect()));
        let run = ["run", &puppet, "puppet", &params, "--rehearse", "never"];
        store.json(place.path(), &run);
    };
    // One commit; where a tool hears of it, each claim and each end is durable, and as many share a
    // commit as come together, which a fast disk leaves few. Who closes the store may find its log
    // large, and write it back: two more.
    for (count, reject, most) in [(40, Value::Null, 3), (40, json!([]), 2 * 40 + 2)] {
        push_all(count, &reject);
        let noted = noted(&store, &library, place.path(), &all);
        assert!((2..=most + 1).contains(&noted.len()), "{noted:?}");
        assert_eq!(noted.last().unwrap(), "answer");
        let open = store.json(place.path(), &["pending"]);
        assert_eq!(open["pending"], json!([]));
    }
}
