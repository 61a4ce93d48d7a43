//! A change of one byte in a file of 512 MiB: the write, which copies the file to the layer, the
//! change as whoever decides reads it, and the commit.
//!
//! - The write beside a copy and a `pwrite`.
//! - `tell` beside reading and hashing both files (SHA-256), which the digests of before and after
//!   can't do without.
//! - The commit beside a copy that is synced and renamed over the file. The bare copy is what `cp`
//!   makes: blocks are shared where the file system can, else they are copied by the system
//!   (`copy_file_range`). Ours has both digests too, which whoever agrees to a commit is told; in
//!   the last row the bare side hashes as well.
//!
//! The table's rows say whether the file system shares blocks: run it with `--in` on each kind.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use airlock_workspace::{View, Workspace};
use sha2::{Digest, Sha256};

use crate::folder::{Fixture, Folder, commit, open, timed, to_write};
use crate::rounds::Report;

const SIZE: u64 = 512 << 20;

const ROUNDS: usize = 5;

pub fn measure(place: &Fixture, report: &mut Report) {
    let names = ["write", "tell", "commit"];
    let base = names.map(|what| format!("one byte of 512 MiB: {what}"));
    if !base.iter().any(|name| report.wants(name)) {
        return;
    }
    let [bare, ours] = [place.folder(), place.folder()];
    for folder in [&bare, &ours] {
        fill(folder);
    }
    let shares = if shares_blocks(&bare) {
        "blocks shared"
    } else {
        "no blocks shared"
    };
    let [write, tell, commits] = base.map(|name| format!("{name}, {shares}"));
    let workspace = ours.workspace();
    report.compare(
        &write,
        (ROUNDS, 1),
        None,
        |round| {
            bare.settle();
            let took = timed(|| drop(copy_and_change(&bare, round)));
            fs::remove_file(bare.path.join("new")).unwrap();
            took
        },
        |round| {
            ours.settle();
            changed(&ours, &workspace, round).1
        },
    );
    copy_and_change(&bare, 0);
    let (view, _) = changed(&ours, &workspace, 0);
    report.compare(
        &tell,
        (ROUNDS, 1),
        None,
        |_| {
            timed(|| {
                let digests = ["file", "new"].map(|name| hash(&bare.path.join(name)));
                assert_ne!(digests[0], digests[1]);
            })
        },
        |_| timed(|| assert_eq!(view.changes().unwrap().len(), 1)),
    );
    drop(view);
    fs::remove_file(bare.path.join("new")).unwrap();
    let bare_commit = |round: usize| {
        bare.settle();
        timed(|| {
            copy_and_change(&bare, round).sync_all().unwrap();
            rustix::fs::renameat(&bare.root, "new", &bare.root, "file").unwrap();
            bare.root.sync_all().unwrap();
        })
    };
    let mut committed = 0;
    let mut our_commit = || {
        committed += 1;
        let (view, _) = changed(&ours, &workspace, committed);
        ours.settle();
        commit(&view, &workspace, committed)
    };
    report.compare(&commits, (ROUNDS, 1), Some(1.5), bare_commit, |_| {
        our_commit()
    });
    let with_digests = commits.replace("commit", "commit, and told by bare too");
    report.compare(
        &with_digests,
        (ROUNDS, 1),
        Some(1.5),
        |round| {
            let file = bare.path.join("file");
            let told = timed(|| {
                // As long as it takes for both: they have the same length.
                hash(&file);
                hash(&file);
            });
            told + bare_commit(round)
        },
        |_| our_commit(),
    );
}

fn fill(folder: &Folder) {
    let mut file = File::create(folder.path.join("file")).unwrap();
    let chunk: Vec<u8> = (0..1_u32 << 20).map(|at| (at % 251) as u8).collect();
    for _ in 0..SIZE >> 20 {
        file.write_all(&chunk).unwrap();
    }
    folder.settle();
}

fn changed(folder: &Folder, workspace: &Workspace, round: usize) -> (View, Duration) {
    let view = folder.layer(workspace);
    let took = timed(|| {
        let file = open(&view, "file", to_write());
        file.write_at(&[byte(round)], SIZE / 2).unwrap();
    });
    (view, took)
}

fn copy_and_change(folder: &Folder, round: usize) -> File {
    let from = File::open(folder.path.join("file")).unwrap();
    let to = File::create_new(folder.path.join("new")).unwrap();
    if rustix::fs::ioctl_ficlone(&to, &from).is_err() {
        let mut left = SIZE as usize;
        while left > 0 {
            let copied = rustix::fs::copy_file_range(&from, None, &to, None, left).unwrap();
            assert_ne!(copied, 0);
            left -= copied;
        }
    }
    to.write_all_at(&[byte(round)], SIZE / 2).unwrap();
    to
}

/// Another one in each round, and none that the file begins with.
fn byte(round: usize) -> u8 {
    252 + (round % 4) as u8
}

fn hash(path: &std::path::Path) -> [u8; 32] {
    let mut file = File::open(path).unwrap();
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 256 * 1024]);
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => return hasher.finalize().into(),
            read => hasher.update(&buffer[..read]),
        }
    }
}

fn shares_blocks(folder: &Folder) -> bool {
    let from = File::open(folder.path.join("file")).unwrap();
    let to = File::create_new(folder.path.join("shared")).unwrap();
    let shares = rustix::fs::ioctl_ficlone(to, from).is_ok();
    fs::remove_file(folder.path.join("shared")).unwrap();
    shares
}
