//! Files that were searched, overwritten or moved as nobody meant it.

use std::fs;

use crate::arrange;
use crate::change;
use crate::params::{DeleteFile, Transfer};
use crate::plan::carry_out;
use crate::workspace::tests::Sandbox;

fn transfer(source: &str, destination: &str) -> Transfer {
    Transfer {
        source: source.into(),
        destination: destination.into(),
    }
}

// anthropics/claude-code#31251
#[test]
fn a_path_may_have_spaces() {
    let sandbox = Sandbox::with(&[]);
    let preview = change::write(&sandbox.workspace(), "My Files/a b.txt", "x").unwrap();
    carry_out(&sandbox.workspace(), preview.actions()[0].plan(), 1).unwrap();
    assert_eq!(sandbox.read("My Files/a b.txt"), "x");
}

// anthropics/claude-code#52463
#[test]
#[cfg(unix)]
fn a_file_behind_links_is_named_and_not_silently_left() {
    let sandbox = Sandbox::with(&[("real/settings.json", "1")]);
    fs::create_dir(sandbox.path("real/host")).unwrap();
    sandbox.link("../settings.json", "real/host/settings.json");
    sandbox.link("real/host", "synced");
    let refused = |path: &str| {
        change::write(&sandbox.workspace(), path, "2")
            .unwrap_err()
            .to_string()
    };
    let through = "`synced` is a symbolic link to `real/host`: name the file that it leads to.";
    assert_eq!(refused("synced/settings.json"), through);
    assert!(refused("real/host/settings.json").contains("a symbolic link to `../settings.json`"));
}

#[test]
fn nothing_is_overwritten_by_a_move_or_a_copy() {
    let sandbox = Sandbox::with(&[("a", "1"), ("b", "2"), ("d/e", "3")]);
    let workspace = sandbox.workspace();
    let refused = arrange::copy(&workspace, &transfer("a", "b"))
        .unwrap_err()
        .to_string();
    assert!(refused.starts_with("`b` exists already"), "{refused}");
    let refused = arrange::relocate(&workspace, &transfer("a", "d"))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("such as `d/a`"), "{refused}");
    assert!(arrange::relocate(&workspace, &transfer("d", "d/f")).is_err());
    assert!(arrange::relocate(&workspace, &transfer("x", "y")).is_err());
}

#[test]
fn a_file_that_changed_since_the_preview_stays() {
    let sandbox = Sandbox::with(&[("a", "1\n")]);
    let workspace = sandbox.workspace();
    let preview = change::write(&workspace, "a", "2\n").unwrap();
    let plan = preview.actions()[0].plan();
    fs::write(sandbox.path("a"), "other\n").unwrap();
    let refused = carry_out(&workspace, plan, 1).unwrap_err().to_string();
    assert!(
        refused.starts_with("Nothing was changed, because `a` has changed"),
        "{refused}"
    );
    fs::remove_file(sandbox.path("a")).unwrap();
    assert!(carry_out(&workspace, plan, 2).is_err());
    assert!(sandbox.paths().is_empty());
}

#[test]
fn a_plan_that_was_carried_out_is_not_repeated() {
    let sandbox = Sandbox::with(&[("a", "1\n"), ("d/b", "2"), ("x", "3")]);
    let workspace = sandbox.workspace();
    let previews = [
        change::write(&workspace, "a", "2\n").unwrap(),
        arrange::relocate(&workspace, &transfer("d", "e")).unwrap(),
        arrange::copy(&workspace, &transfer("d", "f")).unwrap(),
        arrange::delete(
            &workspace,
            &DeleteFile {
                path: "x".into(),
                recursive: false,
            },
        )
        .unwrap(),
    ];
    for at in [0, 2, 1, 3] {
        let plan = previews[at].actions()[0].plan();
        assert_eq!(carry_out(&workspace, plan, 1), Ok(true));
        assert_eq!(carry_out(&workspace, plan, 2), Ok(false));
    }
    assert_eq!(sandbox.paths(), ["a", "e/", "e/b", "f/", "f/b"]);
}

#[test]
fn a_directory_is_only_deleted_with_everything_in_it_if_asked_for() {
    let sandbox = Sandbox::with(&[("d/a", "1"), ("d/b/c", "2")]);
    let delete = |recursive| {
        arrange::delete(
            &sandbox.workspace(),
            &DeleteFile {
                path: "d".into(),
                recursive,
            },
        )
    };
    assert!(
        delete(false)
            .unwrap_err()
            .to_string()
            .contains("set `recursive`")
    );
    let preview = delete(true).unwrap();
    assert_eq!(preview.actions()[0].label(), "Delete d");
    carry_out(&sandbox.workspace(), preview.actions()[0].plan(), 1).unwrap();
    assert!(sandbox.paths().is_empty());
}

#[test]
#[cfg(unix)]
fn a_link_is_deleted_itself() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.link("a", "link");
    let params = DeleteFile {
        path: "link".into(),
        recursive: false,
    };
    let preview = arrange::delete(&sandbox.workspace(), &params).unwrap();
    carry_out(&sandbox.workspace(), preview.actions()[0].plan(), 1).unwrap();
    assert_eq!(sandbox.paths(), ["a"]);
}
