//! Undos compared with the applies that they undo, and applies that keep originals compared with
//! others. The work on the layer before the commit is timed, too.

use std::time::{Duration, Instant};

use airlock_workspace::{Retention, Workspace};

use crate::folder::{Fixture, Folder, commit_with, contents, open, timed, to_write};
use crate::rounds::Report;

/// Of a file, in bytes.
const SIZE: usize = 300;

const FILES: usize = 10_000;

const ROUNDS: usize = 9;

const PROMISED: f64 = 1.5;

/// Enough for the last few rounds.
const RETENTION: Retention = Retention {
    time: Duration::from_secs(3600),
    bytes: 1 << 30,
};

pub fn measure(place: &Fixture, report: &mut Report) {
    let name = "undo of 10,000 files modified, against their apply";
    if report.wants(name) {
        let (applied, undone) = (place.folder(), place.folder());
        applied.fill(FILES, SIZE);
        undone.fill(FILES, SIZE);
        let workspaces = (applied.workspace(), undone.workspace());
        report.compare(
            name,
            (ROUNDS, 1),
            Some(PROMISED),
            |round| apply(&applied, &workspaces.0, round, Some(RETENTION)),
            |round| undo(&undone, &workspaces.1, round),
        );
    }
    let name = "commit of 10,000 files that keeps originals, against one that keeps none";
    if report.wants(name) {
        let (without, with) = (place.folder(), place.folder());
        without.fill(FILES, SIZE);
        with.fill(FILES, SIZE);
        let workspaces = (without.workspace(), with.workspace());
        report.compare(
            name,
            (ROUNDS, 1),
            None,
            |round| apply(&without, &workspaces.0, round, None),
            |round| apply(&with, &workspaces.1, round, Some(RETENTION)),
        );
    }
}

fn apply(
    folder: &Folder,
    workspace: &Workspace,
    round: usize,
    originals: Option<Retention>,
) -> Duration {
    folder.settle();
    timed(|| {
        let view = folder.layer(workspace);
        for number in 0..FILES {
            let file = open(&view, &Folder::file("f", number), to_write());
            let bytes = contents(number, round + 1, SIZE);
            file.write_at(&bytes, 0).unwrap();
        }
        commit_with(&view, workspace, &format!("round-{round}"), originals);
    })
}

fn undo(folder: &Folder, workspace: &Workspace, round: usize) -> Duration {
    apply(folder, workspace, round, Some(RETENTION));
    folder.settle();
    let began = Instant::now();
    let view = folder.layer(workspace);
    let applied = format!("round-{round}");
    view.restore(workspace, &applied, false).unwrap();
    commit_with(&view, workspace, &format!("undo-{round}"), Some(RETENTION));
    began.elapsed()
}
