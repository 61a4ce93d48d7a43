//! An undo is merged with what others wrote since, or leaves it as it is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::model::kept;
use super::script::{Op, tree};
use super::undo::{Folder, make, put, remove, rename};
use crate::{ConflictKind, RestoreError};

/// Something that another program does after the commit.
type Later = fn(&Path);

const LINES: &str = "1\n2\n3\n4\n5\n6\n";

/// Returns a folder with the lines in `f`, which a commit has changed.
fn committed(ops: &[Op]) -> Folder {
    let folder = Folder::new();
    fs::write(folder.path.join("f"), LINES).unwrap();
    folder.run(ops, &kept("one"));
    folder
}

fn read(folder: &Folder, path: &str) -> Option<String> {
    fs::read_to_string(folder.path.join(path)).ok()
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

pub(super) fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn edits_that_came_later_stay() {
    let two = || put("f", b"1\ntwo\n3\n4\n5\n6\n");
    type Case<'a> = (&'a str, Vec<Op>, Later, &'a str);
    let cases: Vec<Case<'_>> = vec![
        (
            "a line elsewhere",
            vec![two()],
            |at| write(&at.join("f"), "1\ntwo\n3\n4\n5\nsix\n"),
            "1\n2\n3\n4\n5\nsix\n",
        ),
        (
            "the same line, as it was before",
            vec![two()],
            |at| write(&at.join("f"), "1\n2\n3\n4\n5\n6\n7\n"),
            "1\n2\n3\n4\n5\n6\n7\n",
        ),
        (
            "a new file in its place, as editors write it",
            vec![two()],
            |at| {
                write(&at.join("other"), "0\n1\ntwo\n3\n4\n5\n6\n");
                fs::rename(at.join("other"), at.join("f")).unwrap();
            },
            "0\n1\n2\n3\n4\n5\n6\n",
        ),
        (
            "a file that was replaced by a new one",
            vec![put("tmp", b"1\ntwo\n3\n4\n5\n6\n"), rename("tmp", "f")],
            |at| write(&at.join("f"), "1\ntwo\n3\n4\n5\n"),
            "1\n2\n3\n4\n5\n",
        ),
        (
            "a file that was moved",
            vec![rename("f", "g")],
            |at| write(&at.join("g"), "anything\n"),
            "anything\n",
        ),
        (
            "a file that was moved and rewritten",
            vec![make("new"), two(), rename("f", "new/g")],
            |at| write(&at.join("new/g"), "1\ntwo\n3\n4\n5\nsix\n"),
            "1\n2\n3\n4\n5\nsix\n",
        ),
    ];
    for (name, ops, later, expected) in cases {
        let folder = committed(&ops);
        later(&folder.path);
        let after = tree(&folder.path);
        let restored = folder.undo("one", &kept("undo")).unwrap();
        assert_eq!(read(&folder, "f").as_deref(), Some(expected), "{name}");
        assert_eq!(restored.merged, ["f"], "{name}");
        if tree(&folder.path) != after {
            folder.undo("undo", &kept("redo")).unwrap();
            assert_eq!(tree(&folder.path), after, "{name}: done again");
        }
    }
}

#[test]
fn what_can_not_be_merged_is_refused_or_skipped() {
    let changed = ConflictKind::Changed;
    let two = || put("f", b"1\ntwo\n3\n4\n5\n6\n");
    let words: String = (0..10_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    type Case<'a> = (&'a str, Vec<Op>, Later, (&'a str, ConflictKind));
    let cases: Vec<Case<'_>> = vec![
        (
            "the same lines",
            vec![two()],
            |at| write(&at.join("f"), "0\n1\nbut\nthree\n4\n5\n6\n"),
            ("f", ConflictKind::Overlap { first: 3, last: 4 }),
        ),
        (
            "an adjacent line",
            vec![two()],
            |at| write(&at.join("f"), "1\ntwo\nthree\n4\n5\n6\n"),
            ("f", ConflictKind::Overlap { first: 3, last: 3 }),
        ),
        (
            "a text with zeros",
            vec![two()],
            |at| write(&at.join("f"), "1\ntwo\n3\n4\n5\n6\0\n"),
            ("f", changed),
        ),
        (
            "no UTF-8",
            vec![two()],
            |at| fs::write(at.join("f"), b"1\ntwo\n3\n4\n5\n\xff\n").unwrap(),
            ("f", changed),
        ),
        (
            "more than a mebibyte",
            vec![two()],
            |at| {
                write(
                    &at.join("f"),
                    &format!("1\ntwo\n3\n4\n5\n{}\n", "6".repeat(1 << 20)),
                )
            },
            ("f", changed),
        ),
        (
            "a file that was none before",
            vec![put("f", b"1\n\0\n")],
            |at| write(&at.join("f"), "1\n2\n"),
            ("f", changed),
        ),
        (
            "too much of it was changed to be kept",
            vec![put("f", words.as_bytes())],
            |at| write(&at.join("f"), "1\n"),
            ("f", changed),
        ),
        (
            "other permissions too",
            vec![two()],
            |at| {
                write(&at.join("f"), "1\ntwo\n3\n4\n5\nsix\n");
                chmod(&at.join("f"), 0o600);
            },
            ("f", changed),
        ),
        (
            "a file that was created",
            vec![put("new", b"1\n")],
            |at| write(&at.join("new"), "1\n2\n"),
            ("new", changed),
        ),
        (
            "a removed file whose place is taken",
            vec![remove("f")],
            |at| write(&at.join("f"), "mine\n"),
            ("f", ConflictKind::Appeared),
        ),
        (
            "a moved file whose place is taken",
            vec![rename("f", "g")],
            |at| write(&at.join("f"), "mine\n"),
            ("f", ConflictKind::Appeared),
        ),
        (
            "a directory that became a file",
            vec![make("new"), rename("f", "new/f")],
            |at| {
                fs::remove_dir_all(at.join("new")).unwrap();
                write(&at.join("new"), "mine\n");
            },
            ("new", changed),
        ),
    ];
    for (name, mut ops, later, (path, what)) in cases {
        ops.push(put("a", b"committed"));
        let folder = committed(&ops);
        later(&folder.path);
        let before = tree(&folder.path);
        let undone = folder.undo("one", &kept("undo"));
        let Err(RestoreError::Changed(conflicts)) = undone else {
            panic!("{name}: {undone:?}");
        };
        let found = conflicts.iter().find(|it| it.path == path);
        assert_eq!(found.map(|it| it.what), Some(what), "{name}: {conflicts:?}");
        assert_eq!(tree(&folder.path), before, "{name}: nothing was written");

        let restored = folder.undo_or_skip("one", &kept("undo"), true).unwrap();
        assert!(
            restored.skipped.contains(&path.to_owned()),
            "{name}: {restored:?}"
        );
        assert_eq!(
            read(&folder, "a").as_deref(),
            Some("contents of a"),
            "{name}"
        );
        let mut after = tree(&folder.path);
        after.insert("a".to_owned(), before["a"].clone());
        assert_eq!(after, before, "{name}: the rest stays");
    }
}

#[test]
fn if_everything_has_changed_there_is_nothing_to_skip() {
    let folder = committed(&[put("f", b"two\n")]);
    write(&folder.path.join("f"), "three\n");
    let undone = folder.undo_or_skip("one", &kept("undo"), true);
    assert!(
        matches!(undone, Err(RestoreError::Changed(_))),
        "{undone:?}"
    );
}

#[test]
fn a_merged_file_gets_no_privileges_back() {
    let folder = Folder::new();
    let path = folder.path.join("f");
    write(&path, LINES);
    chmod(&path, 0o4755);
    folder.run(&[put("f", b"1\ntwo\n3\n4\n5\n6\n")], &kept("one"));
    write(&path, "1\ntwo\n3\n4\n5\nsix\n");
    folder.undo("one", &kept("undo")).unwrap();
    assert_eq!(read(&folder, "f").as_deref(), Some("1\n2\n3\n4\n5\nsix\n"));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn an_edit_between_the_merge_and_its_commit_is_a_conflict() {
    let folder = committed(&[put("f", b"1\ntwo\n3\n4\n5\n6\n")]);
    let path = folder.path.join("f");
    write(&path, "1\ntwo\n3\n4\n5\nsix\n");
    let workspace = folder.workspace();
    let view = folder.layer(&workspace);
    view.restore(&workspace, "one", false).unwrap();
    write(&path, "1\ntwo\n3\n4\n5\nsix\n7\n");
    let refused = view.commit(&workspace, &kept("undo"));
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(
        read(&folder, "f").as_deref(),
        Some("1\ntwo\n3\n4\n5\nsix\n7\n")
    );
}

#[test]
fn the_record_of_an_earlier_version_is_read() {
    let record = r#"{"title": "", "changes": [], "slots": {}, "left": {}}"#;
    let record: crate::commit::Record<'_> = serde_json::from_str(record).unwrap();
    assert!(record.deltas.is_empty());
}

#[test]
fn the_changes_to_texts_count_as_kept() {
    let lines = |word: &str| (0..4_000).map(|_| format!("{word}\n")).collect::<String>();
    let folder = Folder::new();
    write(&folder.path.join("f"), &lines("before"));
    folder.run(&[put("f", lines("later").as_bytes())], &kept("one"));
    let kept = folder.workspace().originals().unwrap();
    let both = lines("before").len() + lines("later").len();
    assert!(kept[0].bytes > both as u64, "{kept:?}");
}
