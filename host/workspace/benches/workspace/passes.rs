//! Each pass over 10,000 renames: they are made in a layer, told as changes, and committed.
//!
//! - `make` beside a `renameat` for each, relative to the folder and nothing synced.
//! - `tell` beside what a list of changes with digests can't do without: each file is opened, read
//!   and hashed (SHA-256).
//! - `commit` beside the commit of [`bare`](crate::bare), which hashes nothing, while ours tells
//!   the changes to whoever agrees; and once more beside the bare one with all files hashed.
//! - A `preview` is made and told, beside both of the bare ones; an `apply` is made and committed,
//!   beside the bare commit alone.

use std::cell::Cell;
use std::io::Read as _;
use std::time::Duration;

use airlock_workspace::{View, Workspace};
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};

use crate::bare::{self, Change};
use crate::folder::{Fixture, Folder, commit, timed};
use crate::rounds::Report;

const FILES: usize = 10_000;

const SIZE: usize = 300;

const ROUNDS: usize = 9;

pub fn measure(place: &Fixture, report: &mut Report) {
    let names = [
        "make",
        "tell",
        "commit",
        "commit, and told by bare too",
        "preview",
        "apply",
    ];
    let names = names.map(|pass| format!("10,000 renames: {pass}"));
    if !names.iter().any(|name| report.wants(name)) {
        return;
    }
    let [bare, ours] = [place.folder(), place.folder()];
    for folder in [&bare, &ours] {
        folder.fill(FILES, SIZE);
    }
    let workspace = ours.workspace();
    let [make, tell, commits, with_digests, preview, apply] = names;
    let made = |from, to| rename_all(&bare, from, to);
    report.compare(
        &make,
        (ROUNDS, 1),
        None,
        |_| {
            let took = made("f", "g");
            made("g", "f");
            took
        },
        |_| rename_in_layer(&ours.layer(&workspace), "f", "g"),
    );
    report.compare(
        &tell,
        (ROUNDS, 1),
        None,
        |_| hash_all(&bare, "f"),
        |_| {
            let view = ours.layer(&workspace);
            rename_in_layer(&view, "f", "g");
            told(&view)
        },
    );
    report.compare(
        &preview,
        (ROUNDS, 1),
        Some(1.5),
        |_| {
            let took = hash_all(&bare, "f") + made("f", "g");
            made("g", "f");
            took
        },
        |_| {
            let view = ours.layer(&workspace);
            rename_in_layer(&view, "f", "g") + told(&view)
        },
    );
    // From one name to the other and back, round by round.
    let mut committed = 0;
    let mut ours_committed = |workspace: &Workspace| {
        committed += 1;
        let (from, to) = names_in(committed);
        let view = ours.layer(workspace);
        let made = rename_in_layer(&view, from, to);
        ours.settle();
        (made, commit(&view, workspace, committed))
    };
    let bare_rounds = Cell::new(0);
    let bare_committed = |_: usize| {
        bare_rounds.set(bare_rounds.get() + 1);
        let (from, to) = names_in(bare_rounds.get());
        bare_commit(&bare, from, to)
    };
    report.compare(&commits, (ROUNDS, 1), Some(1.5), bare_committed, |_| {
        ours_committed(&workspace).1
    });
    report.compare(
        &with_digests,
        (ROUNDS, 1),
        Some(1.5),
        |round| {
            let (from, _) = names_in(bare_rounds.get() + 1);
            let told = hash_all(&bare, from);
            told + bare_committed(round)
        },
        |_| ours_committed(&workspace).1,
    );
    report.compare(&apply, (ROUNDS, 1), Some(1.5), bare_committed, |_| {
        let (made, took) = ours_committed(&workspace);
        made + took
    });
}

fn names_in(round: usize) -> (&'static str, &'static str) {
    if round % 2 == 1 {
        ("f", "g")
    } else {
        ("g", "f")
    }
}

fn rename_all(folder: &Folder, from: &str, to: &str) -> Duration {
    let names = pairs(from, to);
    timed(|| {
        for (from, to) in &names {
            rustix::fs::renameat(&folder.root, &**from, &folder.root, &**to).unwrap();
        }
    })
}

fn rename_in_layer(view: &View, from: &str, to: &str) -> Duration {
    let names = pairs(from, to);
    let root = view.root();
    timed(|| {
        for (from, to) in &names {
            root.rename(from, &root, to).unwrap();
        }
    })
}

fn told(view: &View) -> Duration {
    timed(|| assert_eq!(view.changes().unwrap().len(), FILES))
}

/// Reads and hashes all files.
fn hash_all(folder: &Folder, prefix: &str) -> Duration {
    let names = pairs(prefix, prefix);
    timed(|| {
        let mut bytes = Vec::new();
        let mut digests = Vec::new();
        for (name, _) in &names {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&folder.root, &**name, flags, Mode::empty());
            bytes.clear();
            std::fs::File::from(file.unwrap())
                .read_to_end(&mut bytes)
                .unwrap();
            digests.push(Sha256::digest(&bytes));
        }
        assert_eq!(digests.len(), FILES);
    })
}

fn bare_commit(folder: &Folder, from: &str, to: &str) -> Duration {
    let changes = pairs(from, to).into_iter().map(|(from, to)| {
        let seen = bare::look(&folder.root, &from);
        Change::Renamed(from, to, seen)
    });
    let changes: Vec<_> = changes.collect();
    folder.settle();
    timed(|| bare::commit(&folder.root, &changes))
}

fn pairs(from: &str, to: &str) -> Vec<(String, String)> {
    let pair = |number| (Folder::file(from, number), Folder::file(to, number));
    (0..FILES).map(pair).collect()
}
