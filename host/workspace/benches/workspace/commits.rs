//! Commits of 1, 20, 200 and 5,000 files that are modified, created or renamed, beside the commit
//! of [`bare`](crate::bare). What leads to a commit is not timed: the layer's changes on one side,
//! and on the other having the new contents in memory.

use std::fs;
use std::time::Duration;

use airlock_workspace::Workspace;

use crate::bare::{self, Change};
use crate::folder::{Fixture, Folder, commit, contents, open, timed, to_make, to_write};
use crate::rounds::Report;

/// Of a file, in bytes.
const SIZE: usize = 300;

const PROMISED: f64 = 1.5;

#[derive(Clone, Copy, PartialEq)]
enum Case {
    Modified,
    Created,
    Renamed,
}

pub fn measure(place: &Fixture, report: &mut Report) {
    for (case, what) in [
        (Case::Modified, "modified"),
        (Case::Created, "created"),
        (Case::Renamed, "renamed"),
    ] {
        for (files, label, rounds) in [
            (1, "1 file", 41),
            (20, "20 files", 31),
            (200, "200 files", 21),
            (5_000, "5,000 files", 9),
        ] {
            let name = format!("commit of {label} {what}");
            if report.wants(&name) {
                let sides = [place.folder(), place.folder()];
                measure_case(&sides, report, &name, case, files, rounds);
            }
        }
    }
}

fn measure_case(
    [bare, ours]: &[Folder; 2],
    report: &mut Report,
    name: &str,
    case: Case,
    files: usize,
    rounds: usize,
) {
    for folder in [bare, ours] {
        match case {
            Case::Created => folder.make_directories(files),
            Case::Modified | Case::Renamed => folder.fill(files, SIZE),
        }
    }
    let workspace = ours.workspace();
    report.compare(
        name,
        (rounds, 1),
        Some(PROMISED),
        |round| bare_commit(bare, case, files, round),
        |round| our_commit(ours, &workspace, case, files, round),
    );
}

fn bare_commit(folder: &Folder, case: Case, files: usize, round: usize) -> Duration {
    let changes = (0..files).map(|number| {
        let (from, to) = names(number, round);
        match case {
            Case::Modified => {
                let path = Folder::file("f", number);
                let seen = bare::look(&folder.root, &path);
                Change::Modified(path, contents(number, round + 1, SIZE), seen)
            }
            Case::Created => {
                Change::Created(Folder::file("f", number), contents(number, round + 1, SIZE))
            }
            Case::Renamed => {
                let seen = bare::look(&folder.root, &from);
                Change::Renamed(from, to, seen)
            }
        }
    });
    let changes: Vec<_> = changes.collect();
    folder.settle();
    let took = timed(|| bare::commit(&folder.root, &changes));
    clean(folder, case, files);
    took
}

fn our_commit(
    folder: &Folder,
    workspace: &Workspace,
    case: Case,
    files: usize,
    round: usize,
) -> Duration {
    let view = folder.layer(workspace);
    let root = view.root();
    for number in 0..files {
        let (from, to) = names(number, round);
        let path = Folder::file("f", number);
        let write = |options| {
            let file = open(&view, &path, options);
            let bytes = contents(number, round + 1, SIZE);
            file.write_at(&bytes, 0).unwrap();
        };
        match case {
            Case::Modified => write(to_write()),
            Case::Created => write(to_make()),
            Case::Renamed => root.rename(&from, &root, &to).unwrap(),
        }
    }
    folder.settle();
    let took = commit(&view, workspace, round);
    clean(folder, case, files);
    took
}

/// A file's names of before and after: it goes back in the next round.
fn names(number: usize, round: usize) -> (String, String) {
    let names = [Folder::file("f", number), Folder::file("g", number)];
    let [from, to] = names;
    if round.is_multiple_of(2) {
        (from, to)
    } else {
        (to, from)
    }
}

/// What was created goes before it is created again.
fn clean(folder: &Folder, case: Case, files: usize) {
    if case == Case::Created {
        for number in 0..files {
            fs::remove_file(folder.path.join(Folder::file("f", number))).unwrap();
        }
    }
}
