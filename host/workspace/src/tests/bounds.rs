//! What comparing and committing changes costs is bounded, however large the files are.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use rustix::io::Errno;
use tempfile::TempDir;

use super::model::{open, scratch, ticket};
use crate::{Directory, LayerOptions, OpenOptions, Opened, View, Workspace};

const GIB: u64 = 1 << 30;

struct Fixture {
    folders: TempDir,
    workspace: Workspace,
    view: View,
}

impl Fixture {
    fn new(options: impl FnOnce(&mut LayerOptions)) -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        let folder = folders.path().join("folder");
        fs::create_dir(&folder).unwrap();
        File::create(folder.join("huge"))
            .and_then(|file| file.set_len(64 * GIB))
            .unwrap();
        let workspace = open(&folder);
        let view = workspace.view(0).unwrap();
        let mut chosen = LayerOptions::new(folders.path());
        options(&mut chosen);
        view.begin(&chosen).unwrap();
        Self {
            folders,
            workspace,
            view,
        }
    }
}

/// Writes a byte so far from the beginning.
fn write_at(root: &Directory, path: &str, at: u64) {
    let options = OpenOptions {
        write: true,
        create: true,
        ..OpenOptions::default()
    };
    match root.open(path, options).unwrap() {
        Opened::File(file) => file.write_at(b"x", at).unwrap(),
        Opened::Directory(_) => panic!("{path} is a directory"),
    }
}

#[test]
fn a_comparison_ends_with_its_time_and_so_does_a_commit() {
    let place = Fixture::new(|options| {
        options.bytes = u64::MAX;
        options.compare_time = Some(Duration::from_millis(50));
    });
    write_at(&place.view.root(), "sparse", 15 * GIB);
    let error = place.view.changes().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let error = place.view.commit(&place.workspace, &ticket("it"));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("took longer than 0.05 s"), "{error}");
    assert!(!place.folders.path().join("folder/sparse").exists());
}

#[test]
fn a_large_file_is_removed_without_being_read() {
    let place = Fixture::new(|options| options.compare_time = Some(Duration::from_secs(20)));
    place.view.root().remove_file("huge").unwrap();
    let changes = place.view.changes().unwrap();
    let before = changes[0].before.as_ref().unwrap();
    assert_eq!((before.size, &before.digest), (64 * GIB, &None));
    assert!(before.identity.is_some());
    place.view.commit(&place.workspace, &ticket("it")).unwrap();
    assert!(!place.folders.path().join("folder/huge").exists());
}

#[test]
fn a_hole_in_a_file_stays_a_hole() {
    let place = Fixture::new(|_| {});
    for at in [0, 100 << 20, 200 << 20] {
        write_at(&place.view.root(), "sparse", at);
    }
    place.view.commit(&place.workspace, &ticket("it")).unwrap();
    let path = place.folders.path().join("folder/sparse");
    let committed = path.metadata().unwrap();
    assert_eq!(committed.len(), (200 << 20) + 1);
    assert!(committed.blocks() * 512 < 4 << 20, "{committed:?}");
    let text = fs::read(path).unwrap();
    assert_eq!(text.iter().filter(|byte| **byte == b'x').count(), 3);
}

#[test]
fn long_targets_of_links_count_as_more_than_one_entry() {
    let place = Fixture::new(|options| options.entries = 100);
    let root = place.view.root();
    let target = "x".repeat(2560);
    let made = (0..100).take_while(|at| root.create_link(&target, &format!("l{at}")).is_ok());
    assert_eq!(made.count(), 9);
    let refused = root.create_link(&target, "l").unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(Errno::DQUOT.raw_os_error()));
    // What is gone counts no more.
    root.remove_file("l0").unwrap();
    root.create_link(&target, "l").unwrap();
}

#[test]
fn a_file_of_the_folder_is_read_for_no_longer_than_there_is_time() {
    let place = Fixture::new(|_| {});
    let mut real = place.view.real().within(Duration::from_millis(50));
    let read = real.facts("huge").unwrap_err();
    assert_eq!(read.kind(), ErrorKind::TimedOut);
    assert!(real.stamp("huge").unwrap().is_some());
}
