//! Stores that can't be used, and what is said then.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::airlock::{ProgramOutput, Store, airlock_in, command, folder, guest, steps};

fn push(bytes: usize) -> String {
    steps(json!([{"do": "push", "label": "One", "quiet": true, "stateBytes": bytes}]))
}

/// Every command says the same about a store that none can use.
#[track_caller]
fn check(folder: &Path, store: &str, kind: &str, message: &str, hint: &str) {
    let (puppet, params) = (guest("puppet"), push(0));
    let commands = [
        &["run", &puppet, "puppet", &params][..],
        &["pending"],
        &["log"],
        &["show", "x"],
        &["resolve", "apply", "--reason", "x"],
        &["store", "check"],
        &["store", "stats"],
    ];
    for args in commands {
        let ran = airlock_in(folder, args)
            .env("AIRLOCK_STORE", store)
            .arg("--json")
            .run();
        let (told_kind, told, told_hint) = ran.error();
        assert_eq!(
            (ran.code, told_kind.as_str(), ran.stderr.as_str()),
            (1, kind, ""),
            "{args:?}: {ran:#?}"
        );
        assert!(told.contains(message), "{args:?}: {told}");
        assert!(told_hint.contains(hint), "{args:?}: {told_hint}");
        let ran = airlock_in(folder, args).env("AIRLOCK_STORE", store).run();
        assert_eq!(
            (ran.code, ran.stderr.lines().count()),
            (1, 2),
            "{args:?}: {ran:#?}"
        );
    }
}

#[test]
fn a_file_that_is_no_store_is_left_as_it_is() {
    let folder = folder(&["letter.txt"]);
    let text = "Dear Ann, ".repeat(1000);
    fs::write(folder.path().join("letter.txt"), &text).unwrap();
    check(
        folder.path(),
        "letter.txt",
        "store-damaged",
        "letter.txt is damaged",
        "airlock store restore",
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("letter.txt")).unwrap(),
        text
    );
}

#[test]
fn a_store_of_a_newer_version_is_left_as_it_is() {
    let (store, folder) = (Store::new(), folder(&[]));
    store.json(folder.path(), &["store", "retention", "1d"]);
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    drop(connection);
    let path = store.path();
    check(
        folder.path(),
        path.to_str().unwrap(),
        "store-newer",
        "a newer version",
        "update airlock",
    );
}

#[test]
fn a_place_where_there_can_be_no_store_is_told() {
    let folder = folder(&["file"]);
    check(
        folder.path(),
        "file/pending.db",
        "store",
        "file/pending.db",
        "`--store`",
    );
    check(
        folder.path(),
        ".",
        "store-settings",
        "is not a regular file",
        "a store is a file",
    );
}

#[test]
fn a_store_that_was_named_and_is_not_there_is_a_mistake() {
    let folder = folder(&[]);
    for args in [
        &["pending"][..],
        &["log"],
        &["show", "x"],
        &["resolve", "discard", "--reason", "x"],
        &["store", "check"],
        &["store", "backup", "copy.db"],
    ] {
        let ran = airlock_in(folder.path(), args)
            .arg("--store")
            .arg("mistyped.db")
            .arg("--json")
            .run();
        assert_eq!(
            (ran.code, ran.error().0.as_str()),
            (1, "store-missing"),
            "{args:?}: {ran:#?}"
        );
    }
    assert!(!folder.path().join("mistyped.db").exists());
    let ran = airlock_in(
        folder.path(),
        &["pending", "--store", "mysql://u:secret@h/d", "--json"],
    )
    .run();
    assert_eq!((ran.code, ran.error().0.as_str()), (2, "usage"));
    assert!(!ran.stdout.contains("secret"), "{ran:#?}");
}

/// Runs a shell with a small file system of its own at `mnt`, in a namespace of its own.
fn shell(folder: &Path, size: &str, script: &str, args: &[&str]) -> ProgramOutput {
    fs::create_dir(folder.join("mnt")).unwrap();
    let script = format!("set -e; mount -t tmpfs -o size={size} tmpfs mnt; {script}");
    let airlock = command(folder);
    let mut shell = Command::new("unshare");
    shell
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            &script,
            "sh",
        ])
        .arg(airlock.get_program())
        .args(args)
        .current_dir(folder);
    for (name, value) in airlock.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell.env("AIRLOCK_STORE", "mnt/pending.db");
    let output = shell.output().expect("this machine has util-linux");
    ProgramOutput {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_full_disk_loses_nothing_and_is_told() {
    let folder = folder(&[]);
    let (puppet, small, large) = (guest("puppet"), push(0), push(3 << 20));
    // The first fits, with the plugin. The second does not, and the tool tells what it was told.
    let script = r#"
        "$1" run "$2" puppet "$3" --json >first 2>&1
        "$1" run "$2" puppet "$4" >second 2>&1 || echo $? >code
        "$1" pending --json"#;
    let ran = shell(folder.path(), "3m", script, &[&puppet, &small, &large]);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(ran.code, 0, "{ran:#?} {}", read("first"));
    let pending = ran.json();
    assert_eq!(pending["pending"].as_array().unwrap().len(), 1, "{pending}");
    assert!(
        read("second").contains("has no space left on its disk"),
        "{}",
        read("second")
    );
}

#[test]
fn a_disk_without_any_room_is_told() {
    let folder = folder(&[]);
    let script = r#"
        cat /dev/zero >mnt/filler 2>filled || true
        "$1" pending --json"#;
    let ran = shell(folder.path(), "64k", script, &[]);
    let (kind, _, hint) = ran.error();
    assert_eq!((ran.code, kind.as_str()), (1, "store-full"), "{ran:#?}");
    assert!(hint.contains("free some space"), "{hint}");
}

#[test]
fn a_read_only_file_system_is_told() {
    let folder = folder(&[]);
    let (puppet, params) = (guest("puppet"), push(0));
    let script = r#"
        "$1" run "$2" puppet "$3" >first 2>&1
        mount -o remount,ro mnt
        "$1" resolve apply --reason x --json"#;
    let ran = shell(folder.path(), "8m", script, &[&puppet, &params]);
    let (kind, _, hint) = ran.error();
    assert_eq!(
        (ran.code, kind.as_str()),
        (1, "store-read-only"),
        "{ran:#?}"
    );
    assert!(hint.contains("check the permissions"), "{hint}");
}

#[cfg(feature = "postgres")]
mod server {
    use super::*;

    const ADDRESS: &str = "postgres://ann:secret@127.0.0.1:1/airlock";

    // Until the library has `PostgresStore`, see `store/server.rs`.
    #[cfg(feature = "postgres")]
    #[test]
    fn a_server_that_does_not_answer_is_told_without_the_password() {
        let folder = folder(&[]);
        for args in [&["pending"][..], &["store", "stats"], &["pending", "-vvv"]] {
            let ran = airlock_in(folder.path(), args)
                .arg("--store")
                .arg(ADDRESS)
                .arg("--json")
                .run();
            let (kind, message, hint) = ran.error();
            assert_eq!(
                (ran.code, kind.as_str()),
                (1, "store-unreachable"),
                "{ran:#?}"
            );
            assert!(hint.contains("check the address"), "{hint}");
            let printed = format!("{message}{}{}", ran.stdout, ran.stderr);
            assert!(!printed.contains("secret"), "{printed}");
        }
    }

    #[test]
    fn a_server_is_backed_up_with_its_own_tools() {
        let folder = folder(&[]);
        let check = |command: &str, expected: &str| {
            let args = ["store", command, "copy", "--json", "--store", ADDRESS];
            let ran = airlock_in(folder.path(), &args).run();
            let (kind, _, hint) = ran.error();
            assert_eq!(
                (ran.code, kind.as_str(), hint.as_str()),
                (2, "usage", expected)
            );
        };
        check(
            "backup",
            "`pg_dump --format=custom --file copy postgres://ann@127.0.0.1:1/airlock`",
        );
        check(
            "restore",
            "`pg_restore --clean --if-exists --dbname postgres://ann@127.0.0.1:1/airlock copy`",
        );
    }
}

#[test]
fn a_store_that_fails_is_an_object_for_programs() {
    let folder = folder(&[]);
    let ran = airlock_in(folder.path(), &["pending", "--store", "none.db", "--json"]).run();
    let object: Value = ran.json();
    assert_eq!(object["error"]["kind"], "store-missing");
    assert_eq!(object.as_object().unwrap().len(), 1);
}
