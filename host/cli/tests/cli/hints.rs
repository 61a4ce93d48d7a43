//! What commands advise where something failed: never what was done already.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;

use serde_json::json;

use crate::airlock::{RENAME, Store, airlock_in, command, folder, guest, puppet};

#[test]
fn nobody_is_advised_to_show_what_is_shown_already() {
    let fault = "hint: this is a fault of the tool";
    let crash = json!([{"do": "trap"}]);
    let check = |options: &[&str], expected: &str| {
        let ran = puppet(crash.clone(), options).run();
        let hint = ran.stderr.lines().last().unwrap_or_default();
        assert_eq!((ran.code, hint), (4, expected), "{options:?}");
    };
    check(&[], &format!("{fault}; `-v` shows its log"));
    check(&["-v"], fault);
    check(&["-vv"], fault);

    let check = |options: &[&str], expected: &str| {
        let guest = guest("bad_definitions_trap");
        let (args, folder) = ([&["inspect", &*guest], options].concat(), folder(&[]));
        let ran = airlock_in(folder.path(), &args).run();
        let hint = ran.stderr.lines().last().unwrap_or_default();
        assert_eq!((ran.code, hint), (3, expected), "{options:?}");
    };
    let fault = "hint: this is a fault of the plugin";
    check(&[], &format!("{fault}; `-v` shows its log"));
    check(&["-v"], fault);
}

#[test]
fn a_list_is_advised_where_it_has_something() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    store.push_rename(folder.path());
    let resolve = ["resolve", "apply", "--reason", "x", "--workspace", "other"];
    let hint = || {
        let ran = store.airlock(folder.path(), &resolve).arg("--json").run();
        let (kind, _, hint) = ran.error();
        assert_eq!((ran.code, &*kind), (1, "nothing-pending"), "{ran:#?}");
        hint
    };
    let list = hint();
    assert!(
        list.ends_with("; `airlock pending --all` lists all sessions"),
        "{list}"
    );
    let discard = ["resolve", "discard", "--reason", "x"];
    assert_eq!(store.airlock(folder.path(), &discard).run().code, 0);
    let list = hint();
    assert!(
        list.ends_with("; nothing is pending in any other"),
        "{list}"
    );
}

/// The program is copied, and runs as a user whom permissions hold for.
#[test]
fn a_workspace_that_can_not_be_used_is_no_fault_of_the_tool() {
    const NOBODY: u32 = 65534;
    let (outer, is_root) = (folder(&[]), rustix::process::geteuid().is_root());
    let everybody = Permissions::from_mode(0o755);
    fs::set_permissions(outer.path(), everybody.clone()).unwrap();
    let own = outer.path().join("own");
    let program = outer.path().join("airlock");
    fs::create_dir(&own).unwrap();
    // Not by this process: while it had the copy open to write, another test that starts a program
    // would give it that descriptor, and nobody could run the copy until then.
    let mut copy = std::process::Command::new("cp");
    copy.arg(command(outer.path()).get_program()).arg(&program);
    assert!(copy.status().unwrap().success());
    fs::set_permissions(&program, everybody).unwrap();
    let ws = own.join("ws");
    fs::create_dir(&ws).unwrap();
    fs::write(ws.join("a.jpeg"), "a").unwrap();
    if is_root {
        for path in [&own, &ws] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let check = |tool: &[&str], mode: u32, expected: Option<&str>| {
        fs::set_permissions(&ws, Permissions::from_mode(mode)).unwrap();
        let mut airlock = std::process::Command::new(&program);
        airlock.env_clear().env("HOME", &own).current_dir(&own);
        airlock
            .arg("run")
            .args(tool)
            .args(["--workspace", "ws", "--json"]);
        if is_root {
            airlock.uid(NOBODY).gid(NOBODY);
        }
        let ran = airlock.output().unwrap();
        fs::set_permissions(&ws, Permissions::from_mode(0o700)).unwrap();
        let object: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        let kind = object["error"]["kind"].as_str();
        let told = format!("{tool:?} in {mode:o}: {object}");
        assert_eq!(kind, expected, "{told}");
        let Some(_) = expected else { return };
        let message = object["error"]["message"].as_str().unwrap();
        let hint = object["error"]["hint"].as_str().unwrap();
        assert!(
            message.ends_with("as a workspace: Permission denied (os error 13)"),
            "{told}"
        );
        assert!(
            hint.starts_with("check the path and its permissions"),
            "{told}"
        );
    };
    let rename = ["batch-rename", RENAME];
    let edit = [
        "ast_edit",
        r#"{"ops": [{"pat": "a", "out": "b"}], "paths": ["."]}"#,
    ];
    check(&rename, 0o700, None);
    for mode in [0o000, 0o100, 0o300, 0o400, 0o600] {
        check(&rename, mode, Some("workspace"));
        if cfg!(feature = "ast-edit") {
            check(&edit, mode, Some("workspace"));
        }
    }
}

#[test]
fn what_is_no_directory_is_no_workspace() {
    let folder = folder(&["file"]);
    symlink("loop", folder.path().join("loop")).unwrap();
    symlink("gone", folder.path().join("dangling")).unwrap();
    let long = "x".repeat(300);
    let check = |workspace: &str, reason: &str| {
        let run = [
            "run",
            "batch-rename",
            RENAME,
            "--json",
            "--workspace",
            workspace,
        ];
        let ran = airlock_in(folder.path(), &run).run();
        let (kind, message, hint) = ran.error();
        assert_eq!((ran.code, &*kind), (2, "workspace"), "{ran:#?}");
        let begins = format!("can't use {workspace} as a workspace: {reason}");
        assert!(message.starts_with(&begins), "{message}");
        assert!(
            hint.starts_with("check the path and its permissions"),
            "{hint}"
        );
        assert!(!Path::new(workspace).is_dir());
    };
    check("file", "not a directory");
    check("file/below", "Not a directory");
    check("loop", "Too many levels of symbolic links");
    check("dangling", "No such file or directory");
    check(&long, "File name too long");
}
