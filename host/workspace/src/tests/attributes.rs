//! The attributes that a file keeps when its contents change, and the side effects listed before.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Uid, XattrFlags, fsetxattr};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};
use tempfile::TempDir;

use super::changes::put;
use super::model::{open, scratch, ticket};
use crate::commit::DEFAULT_ACL;
use crate::kept::{ACL, attribute};
use crate::{Change, CommitError, LayerOptions, OwnerChange, SideEffects};

/// Users and groups that need no name.
const BOB: u32 = 61_001;
const ALICE: u32 = 61_002;
const TEAM: u32 = 61_010;
const SECRET: u32 = 61_011;

/// An ACL as Linux has it in an attribute: the version, and tag, permissions and ID of each entry.
/// User 1 may read and write, as far as `mask` goes.
fn acl(owner: u16, group: u16, mask: u16, other: u16) -> Vec<u8> {
    let none = u32::MAX;
    let entries = [
        (0x01, owner, none),
        (0x02, 6, 1),
        (0x04, group, none),
        (0x10, mask, none),
        (0x20, other, none),
    ];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(u16::to_le_bytes(tag));
        bytes.extend(u16::to_le_bytes(permissions));
        bytes.extend(u32::to_le_bytes(id));
    }
    bytes
}

fn set(path: &Path, name: &str, value: &[u8]) {
    let file = File::open(path).unwrap();
    fsetxattr(file, name, value, XattrFlags::empty()).unwrap();
}

fn get(path: &Path, name: &str) -> Option<Vec<u8>> {
    attribute(&File::open(path).unwrap(), name).unwrap()
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

struct Fixture {
    folders: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        fs::create_dir(folders.path().join("folder")).unwrap();
        fs::create_dir(folders.path().join("spill")).unwrap();
        let place = Self { folders };
        fs::write(place.file(), "old").unwrap();
        place
    }

    fn folder(&self) -> PathBuf {
        self.folders.path().join("folder")
    }

    fn file(&self) -> PathBuf {
        self.folder().join("file")
    }

    /// Writes to the file. Returns the announced side effects, which must be the committed ones.
    fn change(&self) -> Result<Vec<Change>, CommitError> {
        let workspace = open(&self.folder());
        let view = workspace.view(0).unwrap();
        let options = LayerOptions::new(self.folders.path().join("spill"));
        view.begin(&options).unwrap();
        put(&view.root(), "file", "new");
        let said = view.changes().unwrap();
        let committed = view.commit(&workspace, &ticket("it"))?;
        assert_eq!(committed.changes, said);
        assert_eq!(fs::read_to_string(self.file()).unwrap(), "new");
        super::crash::check_nothing_left(&self.folder());
        Ok(said)
    }
}

fn side_effects(changes: &[Change]) -> &SideEffects {
    assert_eq!(changes.len(), 1);
    &changes[0].side_effects
}

#[test]
fn acls_and_attributes_are_kept() {
    let place = Fixture::new();
    chmod(&place.file(), 0o600);
    set(&place.file(), ACL, &acl(6, 0, 4, 0));
    set(&place.file(), "user.tag", b"hello");
    set(&place.file(), "user.empty", b"");
    set(&place.file(), "user.long", &[7; 300]);
    let changes = place.change().unwrap();
    assert_eq!(*side_effects(&changes), SideEffects::default());
    assert_eq!(get(&place.file(), ACL), Some(acl(6, 0, 4, 0)));
    assert_eq!(get(&place.file(), "user.tag").unwrap(), b"hello");
    assert_eq!(get(&place.file(), "user.empty").unwrap(), b"");
    assert_eq!(get(&place.file(), "user.long").unwrap(), [7; 300]);
    let now = fs::metadata(place.file()).unwrap();
    assert_eq!(now.mode() & 0o7777, 0o640);
}

#[test]
fn new_contents_run_with_nobody_elses_rights_and_that_is_told() {
    let place = Fixture::new();
    chmod(&place.file(), 0o6755);
    let changes = place.change().unwrap();
    let modes = [&changes[0].before, &changes[0].after].map(|it| it.as_ref().unwrap().mode);
    assert_eq!(modes, [0o6755, 0o755]);
    let now = fs::metadata(place.file()).unwrap();
    assert_eq!(now.mode() & 0o7777, 0o755);
    // A file that is written as it was is not replaced.
    let place = Fixture::new();
    fs::write(place.file(), "new").unwrap();
    chmod(&place.file(), 0o6755);
    assert_eq!(place.change().unwrap(), []);
    let now = fs::metadata(place.file()).unwrap();
    assert_eq!(now.mode() & 0o7777, 0o6755);
}

#[test]
fn a_default_acl_of_the_folder_does_not_come_to_files_that_had_none() {
    let place = Fixture::new();
    chmod(&place.file(), 0o664);
    set(&place.folder(), DEFAULT_ACL, &acl(7, 5, 7, 5));
    place.change().unwrap();
    assert_eq!(get(&place.file(), ACL), None);
    let now = fs::metadata(place.file()).unwrap();
    assert_eq!(now.mode() & 0o7777, 0o664);
}

#[test]
fn what_is_new_inherits_from_its_directory_as_a_plain_file_does() {
    let place = Fixture::new();
    // The private folder is in the folder itself, which has another default ACL.
    set(&place.folder(), DEFAULT_ACL, &acl(7, 5, 7, 5));
    for (name, default) in [
        ("team", Some(acl(7, 5, 7, 0))),
        ("plain", None),
        ("minimal", Some(MINIMAL.to_vec())),
    ] {
        let directory = place.folder().join(name);
        fs::create_dir(&directory).unwrap();
        match default {
            Some(default) => set(&directory, DEFAULT_ACL, &default),
            None => {
                let directory = File::open(&directory).unwrap();
                rustix::fs::fremovexattr(directory, DEFAULT_ACL).unwrap();
            }
        }
    }
    let workspace = open(&place.folder());
    let view = workspace.view(0).unwrap();
    let spill = place.folders.path().join("spill");
    view.begin(&LayerOptions::new(spill)).unwrap();
    let root = view.root();
    for name in ["team", "plain", "minimal"] {
        put(&root, &format!("{name}/file"), "new");
        root.create_directory(&format!("{name}/below")).unwrap();
        put(&root, &format!("{name}/below/file"), "new");
    }
    put(&root, "file", "new");
    view.commit(&workspace, &ticket("it")).unwrap();
    assert_eq!(get(&place.file(), ACL), None);
    let facts = |path: PathBuf| {
        let mode = fs::metadata(&path).unwrap().mode() & 0o7777;
        (mode, get(&path, ACL), get(&path, DEFAULT_ACL))
    };
    // The bits that the umask leaves.
    let [file, below] = ["file", "below"].map(|name| place.folders.path().join(name));
    fs::write(&file, "").unwrap();
    fs::create_dir(&below).unwrap();
    let modes = [file, below].map(|path| fs::metadata(path).unwrap().mode() & 0o777);
    for name in ["team", "plain", "minimal"] {
        let directory = place.folder().join(name);
        let ours = ["file", "below", "below/file"].map(|it| facts(directory.join(it)));
        fs::remove_dir_all(directory.join("below")).unwrap();
        fs::remove_file(directory.join("file")).unwrap();
        plain(&directory, modes);
        let plain = ["file", "below", "below/file"].map(|it| facts(directory.join(it)));
        assert_eq!(ours, plain, "{name}");
    }
}

/// No permissions but the owner's.
const MINIMAL: [u8; 28] = [
    2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 4, 0, 0, 0, 255, 255, 255, 255, 0x20, 0, 0, 0, 255,
    255, 255, 255,
];

/// Makes files and a directory with the permissions that the umask leaves, which the system ignores
/// if there is a default ACL.
fn plain(directory: &Path, [file, below]: [u32; 2]) {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let make = |name: &str| {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true).mode(file);
        options.open(directory.join(name)).unwrap();
    };
    make("file");
    let mut builder = fs::DirBuilder::new();
    builder.mode(below).create(directory.join("below")).unwrap();
    make("below/file");
}

#[test]
fn a_file_with_several_names_is_said_to_be_parted() {
    let place = Fixture::new();
    let other = place.folders.path().join("other");
    fs::hard_link(place.file(), &other).unwrap();
    let changes = place.change().unwrap();
    assert_eq!(side_effects(&changes).parts_hard_links, Some(2));
    assert_eq!(fs::read_to_string(other).unwrap(), "old");
    let json = serde_json::to_value(&changes).unwrap();
    assert_eq!(json[0]["side_effects"]["parts_hard_links"], 2);
}

#[test]
#[ignore = "tests/file-systems runs it as root"]
fn root_keeps_owners_groups_and_the_systems_attributes() {
    let place = Fixture::new();
    chown(place.file(), Some(BOB), Some(SECRET)).unwrap();
    chmod(&place.file(), 0o4750);
    // Of a program that may open low ports.
    let capability = [1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    set(&place.file(), "security.capability", &capability);
    let changes = place.change().unwrap();
    let told = SideEffects {
        not_kept: vec!["security.capability".to_owned()],
        ..SideEffects::default()
    };
    assert_eq!(*side_effects(&changes), told);
    let now = fs::metadata(place.file()).unwrap();
    assert_eq!((now.uid(), now.gid()), (BOB, SECRET));
    // New contents don't run as another user, nor with that program's capabilities.
    assert_eq!(now.mode() & 0o7777, 0o750);
    let modes = [&changes[0].before, &changes[0].after].map(|it| it.as_ref().unwrap().mode);
    assert_eq!(modes, [0o4750, 0o750]);
    assert_eq!(get(&place.file(), "security.capability"), None);
}

/// Runs something as Alice, of the group of the team.
fn as_alice<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|threads| {
        let thread = threads.spawn(|| {
            set_thread_groups(&[Gid::from_raw(TEAM)]).unwrap();
            set_thread_gid(Gid::from_raw(TEAM)).unwrap();
            set_thread_uid(Uid::from_raw(ALICE)).unwrap();
            run()
        });
        thread.join().unwrap()
    })
}

#[test]
#[ignore = "tests/file-systems runs it as root"]
fn a_file_of_another_owner_is_changed_and_nobody_else_can_read_more() {
    let to = |from: u32, to: u32| {
        Some(OwnerChange {
            from: from.to_string(),
            to: to.to_string(),
        })
    };
    // The owner and the group before, the permissions before and after.
    for (owner, group, before, after) in [
        (BOB, TEAM, 0o664, 0o664),
        (BOB, TEAM, 0o4775, 0o775),
        (ALICE, SECRET, 0o640, 0o600),
        (ALICE, SECRET, 0o644, 0o644),
        (BOB, SECRET, 0o646, 0o644),
    ] {
        let place = Fixture::new();
        chmod(place.folders.path(), 0o755);
        for name in ["folder", "spill"] {
            chown(place.folders.path().join(name), Some(ALICE), Some(TEAM)).unwrap();
        }
        chown(place.file(), Some(owner), Some(group)).unwrap();
        chmod(&place.file(), before);
        let changes = as_alice(|| place.change()).unwrap();
        let said = side_effects(&changes);
        let expected = SideEffects {
            owner: (owner != ALICE)
                .then(|| to(owner, ALICE))
                .flatten()
                .map(Box::new),
            group: (group != TEAM)
                .then(|| to(group, TEAM))
                .flatten()
                .map(Box::new),
            ..SideEffects::default()
        };
        assert_eq!(*said, expected);
        let now = fs::metadata(place.file()).unwrap();
        assert_eq!((now.uid(), now.gid()), (ALICE, TEAM));
        assert_eq!(now.mode() & 0o7777, after, "{before:o}");
        assert_eq!(changes[0].after.as_ref().unwrap().mode, after);
    }
    // With an ACL: it is about the group too, so that it goes with it.
    let place = Fixture::new();
    chmod(place.folders.path(), 0o755);
    for name in ["folder", "spill"] {
        chown(place.folders.path().join(name), Some(ALICE), Some(TEAM)).unwrap();
    }
    chown(place.file(), Some(ALICE), Some(SECRET)).unwrap();
    set(&place.file(), ACL, &acl(6, 0, 6, 4));
    let changes = as_alice(|| place.change()).unwrap();
    assert_eq!(side_effects(&changes).not_kept, [ACL]);
    assert_eq!(get(&place.file(), ACL), None);
    let now = fs::metadata(place.file()).unwrap();
    assert_eq!(now.mode() & 0o7777, 0o600);
}

#[test]
fn what_a_file_loses_that_a_tool_replaces_is_said() {
    let place = Fixture::new();
    set(&place.file(), "user.tag", b"hello");
    let workspace = open(&place.folder());
    let view = workspace.view(0).unwrap();
    let spill = place.folders.path().join("spill");
    view.begin(&LayerOptions::new(spill)).unwrap();
    let root = view.root();
    put(&root, "new", "new");
    root.rename("new", &root, "file").unwrap();
    let changes = view.changes().unwrap();
    assert_eq!(side_effects(&changes).not_kept, ["user.tag"]);
    view.commit(&workspace, &ticket("it")).unwrap();
    assert_eq!(get(&place.file(), "user.tag"), None);
}
