//! What a layer changes is told so that whoever reads it knows what there is then.

use std::fs;

use tempfile::TempDir;

use super::model::open;
use crate::{Change, Directory, Kind, LayerOptions, OpenOptions, Opened};

/// What is told of these changes to a folder with `d/a` and `d/e/a` in it: kind, from and path.
pub fn told(change: impl FnOnce(&Directory)) -> Vec<(&'static str, Option<String>, String)> {
    let folders = TempDir::new().unwrap();
    let folder = folders.path().join("folder");
    fs::create_dir_all(folder.join("d/e")).unwrap();
    fs::write(folder.join("d/a"), "one").unwrap();
    fs::write(folder.join("d/e/a"), "two").unwrap();
    let view = open(&folder).view(1000).unwrap();
    view.begin(&LayerOptions::new(folders.path())).unwrap();
    change(&view.root());
    let changes = view.changes().unwrap().into_iter();
    changes.map(|it| (kind(&it), it.from, it.path)).collect()
}

/// A word for what a change does.
pub fn kind(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (_, None) => "deleted",
        _ if change.is_moved => "renamed",
        (_, Some(after)) if after.kind == Kind::Link => "link",
        (None, _) => "created",
        (Some(before), Some(after)) if before.digest == after.digest => "mode",
        _ => "modified",
    }
}

pub fn put(root: &Directory, path: &str, text: &str) {
    let options = OpenOptions {
        write: true,
        create: true,
        truncate: true,
        ..OpenOptions::default()
    };
    match root.open(path, options).unwrap() {
        Opened::File(file) => file.write_at(text.as_bytes(), 0).unwrap(),
        Opened::Directory(_) => panic!("{path} is a directory"),
    }
}

fn change(
    kind: &'static str,
    from: Option<&str>,
    path: &str,
) -> (&'static str, Option<String>, String) {
    (kind, from.map(str::to_owned), path.to_owned())
}

#[test]
fn what_is_rewritten_in_a_directory_that_moved_is_told_with_where_it_was() {
    let told = told(|root| {
        root.rename("d", root, "x").unwrap();
        put(root, "x/a", "1");
        put(root, "x/e/a", "2");
    });
    assert_eq!(
        told,
        [
            change("renamed", Some("d"), "x"),
            change("modified", Some("d/a"), "x/a"),
            change("modified", Some("d/e/a"), "x/e/a"),
        ]
    );
}

#[test]
fn what_is_removed_from_a_directory_that_moved_is_not_what_is_made_where_that_was() {
    // Also where it holds the same.
    for text in ["one", "another"] {
        let told = told(|root| {
            root.rename("d", root, "x").unwrap();
            root.remove_file("x/a").unwrap();
            root.create_directory("d").unwrap();
            put(root, "d/a", text);
        });
        assert_eq!(
            told,
            [
                change("created", None, "d"),
                change("created", None, "d/a"),
                change("deleted", None, "d/a"),
                change("renamed", Some("d"), "x"),
            ]
        );
    }
}

#[test]
fn what_is_removed_and_made_again_is_one_change_or_none() {
    for (text, expected) in [
        ("one", vec![]),
        ("another", vec![change("modified", None, "d/a")]),
    ] {
        let told = told(|root| {
            root.remove_file("d/a").unwrap();
            root.remove_file("d/e/a").unwrap();
            root.remove_directory("d/e").unwrap();
            root.remove_directory("d").unwrap();
            root.create_directory("d").unwrap();
            root.create_directory("d/e").unwrap();
            put(root, "d/a", text);
            put(root, "d/e/a", "two");
        });
        assert_eq!(told, expected);
    }
}

/// Reading this one to its end would take minutes.
#[test]
fn a_large_file_that_is_only_renamed_is_not_read() {
    let folders = TempDir::new().unwrap();
    let folder = folders.path().join("folder");
    fs::create_dir(&folder).unwrap();
    for (name, size) in [
        ("large", (1 << 40) + 1),
        ("limit", 1 << 20),
        ("mode", (1 << 20) + 1),
    ] {
        let file = fs::File::create(folder.join(name)).unwrap();
        file.set_len(size).unwrap();
    }
    let workspace = open(&folder);
    let view = workspace.view(1000).unwrap();
    view.begin(&LayerOptions::new(folders.path())).unwrap();
    let root = view.root();
    for name in ["large", "limit", "mode"] {
        root.rename(name, &root, &format!("{name}.new")).unwrap();
    }
    root.set_mode_at("mode.new", 0o600).unwrap();
    let changes = view.changes().unwrap();
    let told = |at: usize| {
        let change = &changes[at];
        assert!(change.is_moved);
        let [before, after] = [&change.before, &change.after].map(|it| it.clone().unwrap());
        assert_eq!(
            (&before.digest, &before.identity),
            (&after.digest, &after.identity)
        );
        (before.identity.map(|it| *it), before.digest.is_some())
    };
    let stamp = view.real().stamp("large").unwrap().unwrap();
    assert_eq!(told(0), (Some(stamp.identity()), false));
    assert_eq!((told(1), told(2)), ((None, true), (None, true)));
    view.commit(&workspace, &super::model::ticket("it"))
        .unwrap();
    let size = fs::metadata(folder.join("large.new")).unwrap().len();
    assert_eq!(size, (1 << 40) + 1);
}
