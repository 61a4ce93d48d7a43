//! `--apply` and `--discard`, on real files.

use std::fs;
use std::fs::File;
use std::process::Stdio;

use serde_json::json;

use crate::airlock::{RENAME, Store, airlock_in, command, folder, guest, names, steps};

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
    check(&[], before, "Batch rename: 2 files\n");
    check(&["--json"], before, "Batch rename: 2 files");
    check(
        &["--discard", "wrong ones"],
        before,
        "\n\nDiscard: Batch rename: 2 files\n  │ Discarded batch rename. Reason: wrong ones\n",
    );
    let after = ["a.jpg", "b.jpg", "c.txt"];
    check(
        &["--apply", "right ones"],
        after,
        "\n\nAccept: Batch rename: 2 files\n  │ Applied batch rename. Reason: right ones\n  │\n  │ Renamed 2 files:\n",
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

#[test]
fn what_can_not_be_printed_is_decided_all_the_same() {
    let check = |stdout: Stdio, code: i32, stderr: &str| {
        let folder = folder(&["a.jpeg"]);
        let mut command = command(folder.path());
        command.args(["run", "batch-rename", RENAME, "--apply", "yes"]);
        let output = command
            .stdin(Stdio::null())
            .stdout(stdout)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.as_str()), (Some(code), stderr));
        assert_eq!(names(&folder), ["a.jpg"]);
    };
    // Whose reader had enough, as in `airlock … | head -0`.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    check(writer.into(), 0, "");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let message = "error: could not write the output: No space left on device (os error 28)\n";
    check(full.into(), 1, message);
}

#[test]
fn where_a_tool_that_pushes_has_pushed_nothing_that_is_told() {
    let note = "note: nothing became pending: the tool pushed no action";
    let folder = folder(&["a.jpeg"]);
    let check = |args: &[&str], told: bool| {
        let ran = airlock_in(folder.path(), args).run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        let is_told = ran.stderr.lines().any(|line| line == note);
        assert_eq!(is_told, told, "{ran:#?}");
        assert!(!ran.stdout.contains("note:"), "{ran:#?}");
    };
    let nothing = r#"{"files": ["*"], "find": "no such name", "replace": ""}"#;
    let run = ["run", "batch-rename"];
    check(&[&run[..], &[nothing]].concat(), true);
    check(&[&run[..], &[nothing, "--apply", "yes"]].concat(), true);
    // Programs read it off the object.
    check(&[&run[..], &[nothing, "--json"]].concat(), false);
    check(&[&run[..], &[RENAME]].concat(), false);
    check(&[&run[..], &[RENAME, "--discard", "no"]].concat(), false);
    let (puppet, text) = (guest("puppet"), steps(json!([{"do": "text", "text": "a"}])));
    check(&["run", &puppet, "puppet", &text], true);
    // It has promised to push nothing.
    check(
        &["run", &puppet, "typed", r#"{"name": "a", "count": 1}"#],
        false,
    );
}

#[test]
fn what_is_wrong_with_an_action_is_said_before_a_missing_reason() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let check = |args: &[&str], code: i32, kind: &str, message: &str| {
        let ran = store.airlock(folder.path(), args).run();
        let (told_kind, told, _) = ran.error();
        assert_eq!((ran.code, &*told_kind), (code, kind), "{ran:#?}");
        assert!(told.contains(message), "{told}");
    };
    let pending = "No pending action";
    check(
        &["resolve", "apply", "--json"],
        1,
        "nothing-pending",
        pending,
    );
    let unknown = "there is no action xxxx";
    check(&["apply", "xxxx", "--json"], 1, "unknown-action", unknown);
    store.push_rename(folder.path());
    let reason = "needs a reason, because nothing is asked";
    check(&["resolve", "apply", "--json"], 2, "usage", reason);
    let ran = store.airlock(folder.path(), &["resolve", "apply"]).run();
    let told = "error: there is no terminal to ask you at, and no reason";
    assert!(ran.stderr.starts_with(told), "{ran:#?}");
}
