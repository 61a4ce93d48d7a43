//! What is kept for an undo, for how long, and what of files and folders it covers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use super::model::{KEEP, kept, ticket};
use super::script::{Op, tree};
use super::undo::{Folder, make, put, remove, rename};
use crate::{Conflict, ConflictKind, RestoreError, Retention, Ticket};

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn set_note(path: &Path, note: &[u8]) {
    let file = fs::File::open(path).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::fsetxattr(file, "user.note", note, flags).unwrap();
}

fn ids(folder: &Folder) -> Vec<String> {
    let kept = folder.workspace().originals().unwrap().into_iter();
    kept.map(|it| it.id).collect()
}

fn is_changed(undone: &Result<crate::Restored, RestoreError>, path: &str) -> bool {
    let expected = [Conflict {
        path: path.to_owned(),
        what: ConflictKind::Changed,
    }];
    matches!(undone, Err(RestoreError::Changed(conflicts)) if *conflicts == expected)
}

#[test]
fn later_permissions_and_attributes_are_never_overwritten() {
    // A large file is identified by its inode, and a file of the layer by its contents.
    type Case<'a> = (&'a str, Vec<Op>, fn(&Path), &'a str);
    let cases: [Case<'_>; 3] = [
        (
            "permissions of a large file that was moved",
            vec![rename("big", "moved")],
            |at| chmod(&at.join("moved"), 0o600),
            "moved",
        ),
        (
            "an attribute of a file that was replaced",
            vec![put("tmp", b"new"), rename("tmp", "b")],
            |at| set_note(&at.join("b"), b"later"),
            "b",
        ),
        (
            "an attribute of a file that was rewritten",
            vec![put("a", b"new")],
            |at| set_note(&at.join("a"), b"later"),
            "a",
        ),
    ];
    for (name, ops, later, path) in cases {
        let folder = Folder::new();
        fs::write(folder.path.join("big"), vec![7; 2 << 20]).unwrap();
        folder.run(&ops, &kept("one"));
        later(&folder.path);
        let undone = folder.undo("one", &kept("undo"));
        assert!(is_changed(&undone, path), "{name}: {undone:?}");
    }
}

#[test]
fn a_replaced_file_gets_its_own_permissions_and_attributes_back() {
    let cases = [
        vec![put("tmp", b"new"), rename("tmp", "b")],
        vec![put("b", b"new")],
    ];
    for ops in cases {
        let folder = Folder::new();
        // Set-user-ID too, which a write clears.
        chmod(&folder.path.join("b"), 0o4755);
        let before = tree(&folder.path);
        folder.run(&ops, &kept("one"));
        assert_ne!(tree(&folder.path), before);
        folder.undo("one", &kept("undo")).unwrap();
        assert_eq!(tree(&folder.path), before, "{ops:?}");
    }
}

#[test]
fn a_replaced_directory_keeps_its_permissions_and_that_is_told() {
    let folder = Folder::new();
    chmod(&folder.path.join("e"), 0o700);
    let remove_e = Op::RemoveDirectory {
        start: 0,
        path: "e".to_owned(),
    };
    folder.run(&[remove("e/link"), remove_e, make("e")], &kept("one"));
    let restored = folder.undo("one", &kept("undo")).unwrap();
    assert_eq!(restored.permissions, ["e"]);
}

#[test]
fn commits_are_listed_in_their_order_however_fast_they_are() {
    let folder = Folder::new();
    let expected: Vec<String> = (0..12).map(|number| format!("c{number}")).collect();
    for (number, id) in expected.iter().enumerate() {
        folder.run(&[put("a", &vec![1; 1200 - 100 * number])], &kept(id));
    }
    assert_eq!(ids(&folder), expected);
    let last = folder.workspace().last_committed().unwrap();
    assert_eq!(last.as_deref(), Some("c11"));
}

#[test]
fn originals_that_can_not_be_removed_do_not_keep_the_others() {
    let folder = Folder::new();
    let remove_d = Op::RemoveDirectory {
        start: 0,
        path: "new".to_owned(),
    };
    folder.run(&[make("new")], &ticket("first"));
    folder.run(&[remove_d], &kept("one"));
    folder.run(&[put("a", b"2")], &kept("two"));
    // As a program does whose current directory was removed.
    let all = folder.path.join(".airlock/originals");
    let entries = fs::read_dir(&all).unwrap().map(|it| it.unwrap().path());
    let parked = entries.flat_map(|it| fs::read_dir(it).unwrap());
    let mut parked = parked.map(|it| it.unwrap().path());
    let parked = parked.find(|it| it.is_dir()).unwrap();
    fs::write(parked.join("theirs"), "theirs").unwrap();
    folder.run(&[put("a", b"3")], &ticket("three"));
    assert_eq!(ids(&folder), Vec::<String>::new());
    assert_eq!(fs::read_dir(&all).unwrap().count(), 1, "theirs stays");
    assert_eq!(fs::read_to_string(parked.join("theirs")).unwrap(), "theirs");
}

#[test]
fn originals_are_kept_for_their_time_and_up_to_their_size() {
    let folder = Folder::new();
    let with = |id: &str, retention: Retention| Ticket {
        originals: Some(retention),
        ..ticket(id)
    };
    // `b` has 100,000 bytes.
    let half = Retention {
        bytes: 150_000,
        ..KEEP
    };
    folder.run(&[put("b", &[1; 100_000])], &with("one", half));
    assert_eq!(ids(&folder), ["one"]);
    folder.run(&[put("b", &[2; 100_000])], &with("two", half));
    assert_eq!(ids(&folder), ["two"], "the older one made room");
    let less = Retention {
        bytes: 99_999,
        ..KEEP
    };
    folder.run(&[put("b", &[3; 100_000])], &with("three", less));
    assert_eq!(ids(&folder), Vec::<String>::new(), "too large");
    assert!(matches!(
        folder.undo("three", &kept("undo")),
        Err(RestoreError::NotKept(_))
    ));
    folder.run(&[put("b", b"4")], &ticket("four"));
    assert_eq!(ids(&folder), Vec::<String>::new(), "not asked for");
    let soon = Retention {
        time: Duration::ZERO,
        ..KEEP
    };
    folder.run(&[put("b", b"5")], &with("five", soon));
    assert_eq!(ids(&folder), Vec::<String>::new(), "no longer than at all");
}

#[test]
fn damaged_or_foreign_originals_restore_nothing() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage); 3] = [
        ("other contents", |kept| {
            fs::write(kept.join("n1"), "forged").unwrap()
        }),
        ("a missing file", |kept| {
            fs::remove_file(kept.join("n1")).unwrap()
        }),
        ("another record", |kept| {
            let record = fs::read_to_string(kept.join("originals")).unwrap();
            fs::write(kept.join("originals"), record.replace("\"a\"", "\"c\"")).unwrap()
        }),
    ];
    for (name, damage) in cases {
        let folder = Folder::new();
        folder.run(&[put("a", b"new")], &kept("one"));
        let all = folder.path.join(".airlock/originals");
        let one = fs::read_dir(&all).unwrap().next().unwrap().unwrap().path();
        damage(&one);
        let before = tree(&folder.path);
        let undone = folder.undo("one", &kept("undo"));
        assert!(undone.is_err(), "{name}: {undone:?}");
        assert_eq!(tree(&folder.path), before, "{name}");
    }
    // A copy of the folder has no originals of its own.
    let folder = Folder::new();
    folder.run(&[put("a", b"new")], &kept("one"));
    let copy = Folder::new();
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([folder.path.join(".airlock"), copy.path.clone()])
        .status();
    assert!(copied.unwrap().success());
    assert_eq!(copy.workspace().originals().unwrap(), []);
}
