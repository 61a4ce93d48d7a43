//! `airlock test` in a project that has to be built first.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::airlock::airlock_in;
use crate::toolchain::{done, shell};

/// What `airlock test` says of the project in `add-a-line`, and what it said on standard error.
/// A project as it was made leaves nothing untried.
fn test(folder: &Path, options: &str) -> (i32, Value, String) {
    let line = format!("airlock test add-a-line --tries 1 --strict --json {options}");
    let output = shell("c", folder, &line);
    let said = String::from_utf8(output.stderr).unwrap();
    let object = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), object, said)
}

const NEW: &str = "airlock new add-a-line --lang c --json";

#[test]
fn a_project_is_built_where_its_component_is_missing_or_old() {
    let folder = TempDir::new().unwrap();
    let in_folder = folder.path();
    done(shell("c", in_folder, NEW));
    let source = in_folder.join("add-a-line/src/tool.c");
    let text = fs::read_to_string(&source).unwrap();

    let check = |options: &str, built: bool, why: &str| {
        let (code, object, said) = test(in_folder, options);
        assert_eq!(code, 0, "{object:#} {said}");
        assert_eq!(object["built"], built, "{said}");
        assert_eq!(object["component"], "add-a-line/build/add-a-line.wasm");
        assert_eq!(said.trim_end(), why);
    };
    check("", true, "building add-a-line: it has no component yet");
    check("", false, "");

    // What a test writes and what says how to test make no component old.
    let cases = in_folder.join("add-a-line/airlock-test.toml");
    fs::write(&cases, fs::read_to_string(&cases).unwrap()).unwrap();
    check("--junit add-a-line/report.xml", false, "");
    check("--junit add-a-line/report.xml", false, "");
    fs::remove_file(in_folder.join("add-a-line/report.xml")).unwrap();

    fs::write(&source, text.replace("Adds a line", "Puts a line")).unwrap();
    check("--no-build", false, "");
    let why = "building add-a-line: src/tool.c is newer than build/add-a-line.wasm (with --no-build, that is tested)";
    check("", true, why);
    let component = fs::read(in_folder.join("add-a-line/build/add-a-line.wasm")).unwrap();
    assert!(component.windows(11).any(|bytes| bytes == b"Puts a line"));
    check("", false, "");

    fs::write(&source, "not C").unwrap();
    let (code, object, said) = test(in_folder, "");
    assert_eq!(
        (code, &object["error"]["kind"]),
        (1, &"build-failed".into())
    );
    assert!(said.contains("tool.c:1"), "{said}");
    check("--no-build", false, "");
}

#[test]
fn people_are_told_and_the_same_again_builds_as_little() {
    let folder = TempDir::new().unwrap();
    let project = folder.path().join("add-a-line");
    done(shell("c", folder.path(), NEW));
    done(shell("c", &project, "airlock build --json"));
    let line = "airlock test --no-build --tries 1 --seed 5";
    let output = shell("c", &project, line);
    let said = String::from_utf8(output.stdout).unwrap();
    let again = "The same again: airlock test . --no-build --tries 1 --seed 5";
    assert!(said.lines().any(|line| line == again), "{said}");
}

#[test]
fn without_a_build_there_may_be_nothing_to_test() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("Cargo.toml"), "").unwrap();
    let check = |args: &[&str], code: i32, kind: &str, message: &str, hint: &str| {
        let ran = airlock_in(folder.path(), args).arg("--json").run();
        let (found, said, advice) = ran.error();
        assert_eq!((ran.code, found.as_str()), (code, kind), "{said}");
        assert_eq!((said.as_str(), advice.as_str()), (message, hint));
    };
    check(
        &["test", "--no-build"],
        3,
        "not-built",
        "there is no component in .",
        "build it first: `airlock build`",
    );
    // There is no PATH here, and so no cargo.
    check(
        &["test"],
        1,
        "missing-tool",
        "cargo, Rust's builder, is missing on this machine",
        "to install it: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh",
    );
    fs::remove_file(folder.path().join("Cargo.toml")).unwrap();
    check(
        &["test"],
        3,
        "not-built",
        "there is no component in .",
        "looked in target/wasm32-wasip2/release, target/wasm32-wasip2/debug, dist, build, .; name another folder, or a file: `airlock test FILE`",
    );
}
