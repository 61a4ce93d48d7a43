//! What depends on the file system. `tests/file-systems` makes these, and names them in
//! `AIRLOCK_SCRATCH`: as root, so that none of it is part of the other tests.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode};
use rustix::io::Errno;
use tempfile::TempDir;

use super::model::{open, scratch, ticket};
use super::script::{fill, tree};
use crate::{CommitError, Directory, LayerOptions, OpenOptions, Opened, View, Workspace};

const MIB: usize = 1 << 20;

struct Fixture {
    folders: TempDir,
    /// Elsewhere, so that what is in a layer needs no room there.
    spill: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        let folder = folders.path().join("folder");
        fs::create_dir(&folder).unwrap();
        fill(&folder);
        let spill = TempDir::new().unwrap();
        Self { folders, spill }
    }

    fn folder(&self) -> PathBuf {
        self.folders.path().join("folder")
    }

    /// A layer with a large file that is new, one that is replaced, and one that moves.
    fn changed(&self) -> (Workspace, View) {
        let workspace = open(&self.folder());
        let view = workspace.view(0).unwrap();
        view.begin(&LayerOptions::new(self.spill.path())).unwrap();
        let root = view.root();
        put(&root, "large", &vec![7; 8 * MIB]);
        put(&root, "b", &vec![8; MIB]);
        root.rename("a", &root, "d/moved").unwrap();
        (workspace, view)
    }

    fn check_committed(&self, workspace: &Workspace, view: &View) {
        let committed = view.commit(workspace, &ticket("it")).unwrap();
        assert!(committed.not_cleaned_up.is_none());
        assert_eq!(
            fs::read(self.folder().join("large")).unwrap(),
            vec![7; 8 * MIB]
        );
        assert!(self.folder().join("d/moved").exists());
    }
}

fn put(root: &Directory, path: &str, bytes: &[u8]) {
    let options = OpenOptions {
        write: true,
        create: true,
        truncate: true,
        ..OpenOptions::default()
    };
    match root.open(path, options).unwrap() {
        Opened::File(file) => file.write_at(bytes, 0).unwrap(),
        Opened::Directory(_) => panic!("{path} is a directory"),
    }
}

/// The system's reason for which a commit failed.
fn reason(view: &View, workspace: &Workspace) -> Errno {
    match view.commit(workspace, &ticket("it")) {
        Err(CommitError::Io { source, .. }) => Errno::from_io_error(&source).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Writes until no byte more is taken.
fn fill_up(path: &Path) -> fs::File {
    let mut file = fs::File::create(path).unwrap();
    for length in [MIB, 4096, 1] {
        let bytes = vec![1; length];
        while file
            .write_all(&bytes)
            .and_then(|()| file.sync_data())
            .is_ok()
        {}
    }
    file
}

#[test]
#[ignore = "tests/file-systems makes a small file system, or one with a quota"]
fn a_commit_for_which_there_is_no_room_leaves_the_folder_as_it_was() {
    let place = Fixture::new();
    let before = tree(&place.folder());
    let (workspace, view) = place.changed();
    let filler = place.folders.path().join("filler");
    drop(fill_up(&filler));
    let reason = reason(&view, &workspace);
    let expected = if std::env::var("AIRLOCK_HAS_QUOTA").is_ok() {
        Errno::DQUOT
    } else {
        Errno::NOSPC
    };
    assert_eq!(reason, expected);
    assert_eq!(tree(&place.folder()), before);
    super::crash::check_nothing_left(&place.folder());
    // The layer is still there, and is committed once there is room.
    fs::remove_file(filler).unwrap();
    rustix::fs::syncfs(fs::File::open(place.folder()).unwrap()).unwrap();
    place.check_committed(&workspace, &view);
}

fn remount(how: &str) {
    let mount = std::env::var("AIRLOCK_MOUNT").unwrap();
    let done = Command::new("mount")
        .args(["-o", &format!("remount,{how}"), &mount])
        .status();
    assert!(done.unwrap().success());
}

#[test]
#[ignore = "tests/file-systems makes a file system that can be mounted anew"]
fn a_commit_to_what_can_only_be_read_fails_with_that_reason_and_is_told_before() {
    let place = Fixture::new();
    let before = tree(&place.folder());
    let (workspace, view) = place.changed();
    workspace.check_commits().unwrap();
    remount("ro");
    let message = workspace.check_commits().unwrap_err();
    let reason = reason(&view, &workspace);
    // What is changed later is refused as the system would.
    let fresh = workspace.view(0).unwrap();
    fresh.begin(&LayerOptions::new(place.spill.path())).unwrap();
    let refused = fresh.root().create_directory("new").unwrap_err();
    let seen = tree(&place.folder());
    remount("rw");
    assert_eq!(Errno::from_io_error(&message), Some(Errno::ROFS));
    assert_eq!(reason, Errno::ROFS);
    assert_eq!(Errno::from_io_error(&refused), Some(Errno::ROFS));
    assert_eq!(seen, before);
    workspace.check_commits().unwrap();
    place.check_committed(&workspace, &view);
}

/// Bytes that are taken on the scratch file system.
fn used() -> u64 {
    let root = fs::File::open(scratch()).unwrap();
    rustix::fs::syncfs(&root).unwrap();
    let found = rustix::fs::fstatvfs(&root).unwrap();
    (found.f_blocks - found.f_bfree) * found.f_frsize
}

#[test]
#[ignore = "tests/file-systems makes one that shares blocks"]
fn contents_of_a_layer_share_their_blocks_with_the_files() {
    const LARGE: usize = 64 * MIB;
    let place = Fixture::new();
    let large = place.folder().join("large");
    let bytes: Vec<u8> = (0..LARGE).map(|at| (at ^ (at >> 9)) as u8).collect();
    fs::write(&large, &bytes).unwrap();
    let spill = place.folders.path().join("spill");
    fs::create_dir(&spill).unwrap();
    let workspace = open(&place.folder());
    let view = workspace.view(0).unwrap();
    view.begin(&LayerOptions::new(&spill)).unwrap();
    let before = used();
    let options = OpenOptions {
        write: true,
        ..OpenOptions::default()
    };
    let Opened::File(file) = view.root().open("large", options).unwrap() else {
        panic!("large is a directory");
    };
    file.append(b"more").unwrap();
    let in_layer = used().saturating_sub(before);
    view.commit(&workspace, &ticket("it")).unwrap();
    let committed = used().saturating_sub(before);
    println!("a file of {LARGE} bytes: {in_layer} more in a layer, {committed} after the commit");
    assert!(in_layer < LARGE as u64 / 4 && committed < LARGE as u64 / 4);
    assert_eq!(fs::metadata(&large).unwrap().len(), LARGE as u64 + 4);
    assert_eq!(fs::read(&large).unwrap()[..LARGE], bytes);
}

#[test]
#[ignore = "tests/file-systems runs it as root, who can make devices"]
fn devices_are_moved_and_removed_but_never_opened() {
    let place = Fixture::new();
    let folder = place.folder();
    let mode = Mode::from_raw_mode(0o600);
    let device = rustix::fs::makedev(1, 3);
    for name in ["moved", "gone"] {
        let path = folder.join(name);
        rustix::fs::mknodat(CWD, path, FileType::CharacterDevice, mode, device).unwrap();
    }
    let workspace = open(&folder);
    let view = workspace.view(0).unwrap();
    view.begin(&LayerOptions::new(place.spill.path())).unwrap();
    let root = view.root();
    let opened = root.open("moved", OpenOptions::default());
    let refused = opened.err().map(|error| Errno::from_io_error(&error));
    assert_eq!(refused, Some(Some(Errno::OPNOTSUPP)));
    root.rename("moved", &root, "here").unwrap();
    root.remove_file("gone").unwrap();
    view.commit(&workspace, &ticket("it")).unwrap();
    let here = fs::symlink_metadata(folder.join("here")).unwrap();
    assert!(here.file_type().is_char_device() && here.rdev() == device);
    assert!(!folder.join("gone").exists());
}

/// `folder` has `file`, `other` and `below/file` from a layer that can only be read.
#[test]
#[ignore = "tests/file-systems makes an overlay"]
fn files_of_an_overlays_lower_layer_are_changed_and_its_directories_stay_where_they_are() {
    let spill = TempDir::new().unwrap();
    let folder = scratch().join("folder");
    let workspace = open(&folder);
    let view = workspace.view(0).unwrap();
    let begin = || view.begin(&LayerOptions::new(spill.path())).unwrap();
    let before = tree(&folder);
    // Neither moved nor removed, unless the overlay is mounted with `redirect_dir=on`.
    let root = view.root();
    let actions: [&dyn Fn(); 2] = [&|| root.rename("below", &root, "moved").unwrap(), &|| {
        root.remove_file("below/file").unwrap();
        root.remove_directory("below").unwrap();
    }];
    for act in actions {
        begin();
        put(&root, "file", b"new");
        act();
        assert_eq!(reason(&view, &workspace), Errno::XDEV);
        assert_eq!(tree(&folder), before);
        super::crash::check_nothing_left(&folder);
        view.abandon();
    }
    begin();
    put(&root, "file", b"new");
    root.rename("other", &root, "below/other").unwrap();
    root.rename("below/file", &root, "here").unwrap();
    view.commit(&workspace, &ticket("it")).unwrap();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(
        [read("file"), read("below/other"), read("here")],
        ["new", "other", "below"]
    );
}

/// Something that is mounted, until it is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: &Path, arguments: &[&str]) -> Self {
        let done = Command::new("mount").args(arguments).arg(at).status();
        assert!(done.unwrap().success(), "mount {arguments:?}");
        Self(at.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

const TMPFS: [&str; 3] = ["-t", "tmpfs", "airlock-test"];

#[test]
#[ignore = "tests/file-systems runs it as root, who can mount an overlay"]
fn files_of_an_overlay_of_two_file_systems_are_changed_and_renamed() {
    let place = Fixture::new();
    let [lower, upper] = ["lower", "upper"].map(|name| {
        let at = place.folders.path().join(name);
        fs::create_dir(&at).unwrap();
        Mounted::new(&at, &TMPFS)
    });
    for name in ["file", "moved"] {
        fs::write(lower.0.join(name), "old").unwrap();
    }
    for name in ["upper", "work"] {
        fs::create_dir(upper.0.join(name)).unwrap();
    }
    let options = format!(
        "lowerdir={},upperdir={},workdir={},xino=off",
        lower.0.display(),
        upper.0.join("upper").display(),
        upper.0.join("work").display()
    );
    let folder = Mounted::new(
        &place.folder(),
        &["-t", "overlay", "-o", &options, "overlay"],
    );
    let devices = ["", "file"].map(|name| fs::metadata(folder.0.join(name)).unwrap().dev());
    assert_ne!(devices[0], devices[1]);
    for round in ["1", "2"] {
        let workspace = open(&folder.0);
        let view = workspace.view(1000).unwrap();
        view.begin(&LayerOptions::new(place.spill.path())).unwrap();
        let root = view.root();
        put(&root, "file", round.as_bytes());
        root.rename("moved", &root, "there").unwrap();
        view.commit(&workspace, &ticket(round)).unwrap();
        assert_eq!(fs::read_to_string(folder.0.join("file")).unwrap(), round);
        assert_eq!(fs::read_to_string(folder.0.join("there")).unwrap(), "old");
        fs::rename(folder.0.join("there"), folder.0.join("moved")).unwrap();
    }
    super::crash::check_nothing_left(&folder.0);
}

#[test]
#[ignore = "tests/file-systems runs it as root, who can mount"]
fn a_mount_in_the_folder_is_named_and_stops_no_change_elsewhere() {
    let place = Fixture::new();
    let (workspace, folder) = (open(&place.folder()), place.folder());
    let bound = place.folders.path().join("bound");
    fs::write(&bound, "of elsewhere").unwrap();
    let bound = bound.to_str().unwrap();
    // Another file system, one directory more of the same one, and a file that is mounted.
    let inside = place.folders.path().to_str().unwrap();
    let _mounts = [
        Mounted::new(&folder.join("e"), &TMPFS),
        Mounted::new(&folder.join("d/e"), &["--bind", inside]),
        Mounted::new(&folder.join("a"), &["--bind", bound]),
    ];
    fs::write(folder.join("e/file"), "there").unwrap();
    let view = workspace.view(1000).unwrap();
    view.begin(&LayerOptions::new(place.spill.path())).unwrap();
    let root = view.root();
    put(&root, "b", b"new");
    root.rename("d/a", &root, "d/moved").unwrap();
    let check = |mount: &str, refused: std::io::Result<()>| {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::CrossesDevices);
        let named = format!("{mount} is a mount of its own: nothing is changed there");
        assert_eq!(error.to_string(), named);
    };
    check("e", root.rename("e/file", &root, "file"));
    check("e", root.remove_file("e/file"));
    check("e", root.create_directory("e/new"));
    check("d/e", root.rename("d/b", &root, "d/e/b"));
    check("a", root.remove_file("a"));
    view.commit(&workspace, &ticket("it")).unwrap();
    assert_eq!(fs::read_to_string(folder.join("b")).unwrap(), "new");
    assert_eq!(fs::read_to_string(folder.join("e/file")).unwrap(), "there");
    assert!(folder.join("d/moved").exists() && !folder.join("d/a").exists());
}
