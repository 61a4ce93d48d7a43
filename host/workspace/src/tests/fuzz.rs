//! Functions of any bytes, which panic where the crate breaks a promise. Proptest calls them here,
//! and libFuzzer in `tests/fuzz` of the repository, which compiles the crate with `--cfg fuzzing`.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::crash::Stage;
use super::model::{difference, open, scratch, ticket};
use super::script::{Op, Random, fill, op, tree};
use crate::LayerOptions;
use crate::commit::Private;
use crate::fault::{Fault, with};

/// How many operations a script has at most.
const OPERATIONS: usize = 60;

/// A script of file operations: it comes to the same in a layer as in a plain folder, and so does
/// its commit, which is cut off somewhere then, as is its recovery: it is whole or never was.
pub fn workspace_commit(bytes: &[u8]) {
    let mut random = Random::of_bytes(bytes);
    let [at, again] = [0; 2].map(|_| random.below(1 << 16) as u64);
    let mut ops: Vec<Op> = Vec::new();
    while random.has_more() && ops.len() < OPERATIONS {
        ops.push(op(&mut random));
    }
    if let Some(difference) = difference(&ops) {
        panic!("{difference}\n{ops:#?}");
    }
    let mut stage = Stage::new();
    let (committed, steps) = stage.commit(&ops, None);
    let committed = committed.expect("nothing was cut off");
    if committed.expect("a commit").changes.is_empty() {
        return;
    }
    let after = tree(&stage.folder);
    stage.reset();
    let (committed, _) = stage.commit(&ops, Some((1 + at % steps, Fault::Stop)));
    assert!(committed.is_none());
    let found = stage.recover(&mut Random::new(again));
    assert!(found == after || found == stage.before, "{ops:#?}");
    stage.check_settled(found == after);
}

/// What lies in the private folder of a workspace: names, records, journals, also such as carry our
/// hash. Whatever is made of it, nothing outside is touched, and nothing at all where it is not
/// ours.
pub fn workspace_private(bytes: &[u8]) {
    let mut random = Random::of_bytes(bytes);
    let folders = TempDir::new_in(scratch()).unwrap();
    let [folder, outside] = ["folder", "outside"].map(|name| folders.path().join(name));
    for place in [&folder, &outside] {
        fs::create_dir(place).unwrap();
        fill(place);
    }
    let before = [&folder, &outside].map(|place| tree(place));
    let workspace = open(&folder);
    let mut has_ours = false;
    let (private, _) = Private::open_or_make(&workspace.inner).unwrap();
    while random.has_more() {
        let place = folder.join(".airlock").join(place(&mut random, &private));
        let _ = fs::create_dir_all(place.parent().unwrap());
        // What is written here itself goes through no link.
        let _ = fs::remove_file(&place);
        match random.below(8) {
            0 => drop(fs::create_dir_all(&place)),
            1 => drop(symlink(text(&mut random), &place)),
            2 => drop(symlink(outside.join("a"), &place)),
            3 => {
                let record = journal(&mut random, &folder);
                has_ours = true;
                let kind = ["journal", "outcome"][random.below(2)];
                drop(fs::write(&place, private.sealed(kind, record.as_bytes())));
            }
            4 => {
                // Ours but for a byte.
                let record = journal(&mut random, &folder);
                let mut sealed = private.sealed("journal", record.as_bytes());
                let at = random.below(sealed.len());
                sealed[at] ^= 1 + random.below(7) as u8;
                drop(fs::write(&place, sealed));
            }
            5 => drop(fs::write(&place, journal(&mut random, &folder))),
            _ => drop(fs::write(&place, text(&mut random))),
        }
    }
    let recover = || {
        let _ = workspace.recover();
        let _ = workspace.outcomes();
        let _ = workspace.is_committed("it");
        let _ = workspace.take_outcome("it");
        let _ = workspace.check_commits();
    };
    recover();
    if !has_ours {
        assert_eq!(tree(&folder), before[0]);
    }
    let spill = folders.path().join("spill");
    fs::create_dir(&spill).unwrap();
    let view = workspace.view(0).unwrap();
    view.begin(&LayerOptions::new(&spill)).unwrap();
    view.root().create_directory("of the commit").unwrap();
    let commit = || view.commit(&workspace, &ticket("it")).is_ok();
    let at = 1 + random.below(64) as u64;
    let run = || catch_unwind(AssertUnwindSafe(commit));
    let _ = with(Some((at, Fault::Stop)), run);
    recover();
    assert_eq!(tree(&outside), before[1]);
}

fn text(random: &mut Random) -> String {
    let length = random.below(24);
    let text = (0..length).map(|_| char::from(b' ' + random.below(95) as u8));
    text.filter(|it| !matches!(it, '/' | '.')).collect()
}

/// A path below the private folder.
fn place(random: &mut Random, private: &Private<'_>) -> String {
    let transaction = private.transaction_name("0123456789abcdef");
    match random.below(12) {
        0 => "committed".to_owned(),
        1 => "outcomes".to_owned(),
        2 => format!("outcomes/{}", ["it", "other", "x y"][random.below(3)]),
        3 => "txn-0-0/journal".to_owned(),
        4 => format!("txn-{}x", text(random)),
        5 => format!("{transaction}/outcome"),
        6 => format!("{transaction}/n1"),
        7 => format!("{transaction}/p2/a"),
        8 => format!("{transaction}/p1"),
        _ => format!("{transaction}/journal"),
    }
}

/// A journal, whose steps may be any.
fn journal(random: &mut Random, folder: &Path) -> String {
    let names = [
        "a",
        "b",
        "d",
        "d/a",
        "d/e",
        "e",
        "link",
        "new",
        "d/new",
        "",
        ".",
        "..",
        "../outside/a",
        "/etc/passwd",
        "link/a",
        "d/../..",
        ".airlock",
        ".airlock/committed",
        "n1",
        "p1",
        "p2/a",
        "journal",
        "outcome",
        "a/b/c",
        "\u{0}",
    ];
    let name = |random: &mut Random| {
        let name = names[random.below(names.len())];
        match random.below(2) {
            0 => json!({ "path": name }),
            _ => json!({ "slot": name }),
        }
    };
    // Most that is moved is what is there.
    let object = |random: &mut Random| {
        let path = folder.join(names[random.below(names.len())]);
        let found = fs::symlink_metadata(path).ok();
        let inode = found.map_or(random.below(1 << 16) as u64, |found| found.ino());
        json!({ "inode": inode })
    };
    let steps: Vec<_> = (0..random.below(5))
        .map(|_| {
            let (from, to, object_moved) = (name(random), name(random), object(random));
            let mut step = json!({ "from": from, "to": to, "object": object_moved });
            if random.below(3) == 0 {
                step["displaced"] = object(random);
            }
            step["empty"] = json!(random.below(4) == 0);
            if random.below(3) == 0 {
                step["made"] = json!(random.below(1 << 16));
            }
            step
        })
        .collect();
    let id = ["it", "other", "../x", "a\nb"][random.below(4)];
    match random.below(6) {
        0 => text(random),
        1 => json!([id, text(random)]).to_string(),
        _ => json!({ "id": id, "steps": steps }).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_script_of_any_bytes_is_committed_whole(bytes in vec(any::<u8>(), 0..400)) {
            super::workspace_commit(&bytes);
        }

        #[test]
        fn whatever_lies_in_the_private_folder_harms_nothing_else(
            bytes in vec(any::<u8>(), 0..400),
        ) {
            super::workspace_private(&bytes);
        }
    }
}
