//! What commands ask of the system, in numbers that a busy machine does not change much: how often
//! they open, read, write, sync and map, and how much. `counted.txt` has what was recorded, and
//! `UPDATE_EXPECT=1` records it anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use airlock_tests::recorded::{self, Numbers, Tolerated};
use serde_json::json;

use crate::airlock::{RENAME, Store, folder};

/// How often each is run: the least of all counts, since threads that wait for each other ask more.
const RUNS: usize = 7;

/// The program that counts.
fn counter(folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("counted.c"), folder.join("counted"));
    fs::write(&source, include_str!("counted.c")).unwrap();
    // The compiler that SQLite was compiled with.
    let compiled = Command::new("cc")
        .arg("-o")
        .args([&program, &source])
        .status();
    assert!(compiled.unwrap().success());
    program
}

fn count(counter: &Path, store: &Store, folder: &Path, args: &[&str]) -> Numbers {
    let notes = counter.with_extension("notes");
    let ran = store.airlock(folder, args).beneath(counter, &notes).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    let notes = fs::read_to_string(notes).unwrap();
    let notes = notes.lines().map(|line| {
        let (name, count) = line.split_once(' ').unwrap();
        (name.to_owned(), count.parse().unwrap())
    });
    notes.collect()
}

/// The least of each of several runs.
fn least(run: impl Fn() -> Numbers) -> Numbers {
    let mut least = run();
    for _ in 1..RUNS {
        for (name, count) in run() {
            let least = least.get_mut(&name).unwrap();
            *least = count.min(*least);
        }
    }
    least
}

#[test]
fn no_command_asks_for_a_tenth_more_of_the_system_than_was_recorded() {
    let (store, place) = (Store::new(), folder(&["a.jpeg"]));
    let programs = tempfile::TempDir::new().unwrap();
    let counter = counter(programs.path());
    let preview = ["run", "batch-rename", RENAME, "--json", "--discard", "x"];
    // It makes the store, keeps the plugin, and fills the cache.
    store.json(place.path(), &preview[..3]);
    let push = json!([{"do": "push", "label": "pending", "apply": []}]);
    store.push(place.path(), push);
    let commands = [
        ("run --discard", &preview[..]),
        ("pending", &["pending", "--json"]),
        ("pending --all", &["pending", "--all", "--json"]),
        ("log", &["log", "--json"]),
        ("store stats", &["store", "stats", "--json"]),
        ("--version", &["--version"]),
    ];
    let mut counted = Numbers::new();
    for (name, args) in commands {
        let counts = least(|| count(&counter, &store, place.path(), args));
        counted.extend(
            counts
                .into_iter()
                .map(|(kind, n)| (format!("{name} {kind}"), n)),
        );
    }
    // Threads that wait for each other ask once or twice more.
    let tolerated = Tolerated {
        percent: 10,
        always: 2,
        less_is_told: false,
    };
    recorded::check(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/counted.txt"),
        "What commands ask of the system. Written by host/cli/tests/cli/counted.rs, with `UPDATE_EXPECT=1`.",
        &counted,
        tolerated,
    );
}
