//! `--apply` and `--discard`, on real files.

use std::fs;

use crate::airlock::{RENAME, airlock_in, folder, names};

#[test]
fn only_an_apply_changes_files() {
    let check = |options: &[&str], expected: [&str; 3], said: &str| {
        let folder = folder(&["a.jpeg", "b.jpeg", "c.txt"]);
        let ran = airlock_in(
            folder.path(),
            &[&["run", "batch-rename", RENAME], options].concat(),
        )
        .run();
        assert_eq!(
            (ran.code, names(&folder)),
            (0, expected.map(str::to_owned).to_vec()),
            "{ran:#?}"
        );
        assert!(ran.stdout.contains(said), "{ran:#?}");
    };
    let before = ["a.jpeg", "b.jpeg", "c.txt"];
    check(&[], before, "Batch rename: 2 files");
    check(&["--json"], before, "Batch rename: 2 files");
    check(
        &["--discard", "wrong ones"],
        before,
        "Discarded batch rename. Reason: wrong ones",
    );
    let after = ["a.jpg", "b.jpg", "c.txt"];
    check(
        &["--apply", "right ones"],
        after,
        "Applied batch rename. Reason: right ones",
    );
    check(
        &["--apply", "", "--json"],
        after,
        "Applied batch rename. Reason: ",
    );
}

#[test]
fn the_workspace_may_be_elsewhere() {
    let (here, there) = (folder(&["a.jpeg"]), folder(&["a.jpeg"]));
    let workspace = there.path().to_str().unwrap();
    let args = [
        "run",
        "batch-rename",
        RENAME,
        "--workspace",
        workspace,
        "--apply",
        "yes",
    ];
    assert_eq!(airlock_in(here.path(), &args).run().code, 0);
    assert_eq!(
        (names(&here), names(&there)),
        (vec!["a.jpeg".into()], vec!["a.jpg".into()])
    );
}

#[test]
fn swapped_files_keep_what_is_in_them() {
    let folder = folder(&["a-b", "b-a"]);
    let swap = r#"{"files": ["*"], "find": "^(.)-(.)$", "replace": "$2-$1"}"#;
    let args = ["run", "batch-rename", swap, "--apply", "swap"];
    let ran = airlock_in(folder.path(), &args).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(
        fs::read_to_string(folder.path().join("a-b")).unwrap(),
        "b-a"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("b-a")).unwrap(),
        "a-b"
    );
}
