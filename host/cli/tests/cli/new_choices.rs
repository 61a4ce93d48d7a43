//! What `airlock new` is asked for beside a language: by answers at a terminal, from a template of
//! the user's own, in a project that was made before, and in CI.

use std::fs;
use std::path::Path;
use std::process::Command;

use expectrl::ControlCode;
use serde_json::json;
use tempfile::TempDir;

use crate::airlock::airlock_in;
use crate::terminal::Terminal;
use crate::toolchain::{done, failed, shell};

#[test]
fn who_sits_at_a_terminal_is_asked_for_the_name_and_the_language() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::run(folder.path(), &["new"]);
    terminal
        .sees("Name, for example rename-photos: ")
        .types("Rename photos")
        .sees("`Rename photos` can't be a project's name")
        .sees("Name, for example rename-photos: ")
        .types("rename_photos")
        .sees("Language (rust, ts, js, python, go, c): ")
        .types("cobol")
        .sees("`cobol` is none of these")
        .sees("Language (rust, ts, js, python, go, c): ")
        .types("Go")
        .sees("cd rename_photos");
    terminal.ends(0);
    let module = fs::read_to_string(folder.path().join("rename_photos/go.mod")).unwrap();
    assert!(
        module.contains("module example.com/rename_photos\n"),
        "{module}"
    );
}

#[test]
fn only_what_is_missing_is_asked_for_and_no_answer_makes_nothing() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::run(folder.path(), &["new", "--lang", "c"]);
    terminal.sees("Name, ").types("first").sees("cd first");
    terminal.ends(0);
    let mut terminal = Terminal::run(folder.path(), &["new", "second"]);
    terminal
        .sees("Language ")
        .presses(ControlCode::EndOfTransmission);
    terminal.ends(130);
    assert!(!folder.path().join("second").exists());
}

#[test]
fn an_interrupt_at_a_question_ends_it_and_makes_nothing() {
    let folder = TempDir::new().unwrap();
    let check = |args: &[&str], question: &str| {
        let mut terminal = Terminal::run(folder.path(), args);
        terminal
            .sees(question)
            .presses(ControlCode::EndOfText)
            .sees("cancelled");
        terminal.ends(130);
        let mut made = fs::read_dir(folder.path()).unwrap();
        assert!(made.next().is_none(), "{args:?}");
    };
    check(&["new"], "Name, for example rename-photos: ");
    check(&["new", "second"], "Language ");
    check(&["new", "--lang", "c"], "Name, ");
}

#[test]
fn without_a_terminal_what_is_missing_is_named() {
    let check = |args: &[&str], part: &str| {
        let folder = TempDir::new().unwrap();
        let (kind, message, hint) = airlock_in(folder.path(), args).arg("--json").run().error();
        assert_eq!(kind, "usage");
        assert_eq!(message, format!("{part} is missing"));
        assert!(hint.contains("on a terminal"), "{hint}");
    };
    check(&["new", "a"], "the language");
    check(&["new", "--lang", "c"], "the name");
}

/// A template in C, as somebody would write it, with what a build left there.
fn template(folder: &Path) {
    for (file, text) in [
        ("airlock.toml", "name = \"{{name}}\"\nlanguage = \"c\"\n"),
        ("src/{{tool}}.c", TOOL),
        (
            ".github/ci.yml",
            "run: ${{ matrix.it }} {{name}} {{unknown}}\n",
        ),
        ("build/old.wasm", "old"),
        ("sdk/airlock.h", "old"),
    ] {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(folder.join("logo.bin"), [0xFF, 0x00, b'{', b'{']).unwrap();
}

const TOOL: &str = r#"#include "airlock.h"
static airlock_status answer(const airlock_call *call, airlock_reply *reply) {
  (void)call;
  airlock_text(reply, "{{label}} of {{name}}");
  return AIRLOCK_OK;
}
static const airlock_tool tool = {
    .name = "{{tool}}",
    .label = "{{label}}",
    .description = "Answers.",
    .parameters = "{\"type\": \"object\"}",
    .traits = AIRLOCK_READ_ONLY,
    .execute = answer,
};
AIRLOCK_TOOLS(&tool);
"#;

#[test]
fn a_folder_of_the_users_own_is_a_template() {
    let folder = TempDir::new().unwrap();
    template(&folder.path().join("mine"));
    let airlock = |line: &str| shell("c", folder.path(), line);
    let (error, _) = failed(airlock("airlock new say-it --template mine --json"), 2);
    assert_eq!(error["hint"], "say its language: --lang LANGUAGE");
    let made = done(airlock(
        "airlock new say-it --template mine --lang c --json",
    ));
    assert_eq!(
        made["files"],
        json!([".github/ci.yml", "airlock.toml", "logo.bin", "src/say_it.c"])
    );
    assert_eq!(
        made["commands"],
        json!(["cd say-it", "airlock build", "airlock test"])
    );
    let read = |file: &str| fs::read(folder.path().join("say-it").join(file)).unwrap();
    assert_eq!(read("logo.bin"), [0xFF, 0x00, b'{', b'{']);
    let ci = String::from_utf8(read(".github/ci.yml")).unwrap();
    assert_eq!(ci, "run: ${{ matrix.it }} say-it {{unknown}}\n");
    let built = done(airlock("cd say-it && airlock build --json"));
    assert_eq!(built["tools"], json!(["say_it"]));
    let ran = done(airlock("airlock run say-it/build/say-it.wasm --json"));
    assert_eq!(ran["content"][0]["text"], "Say it of say-it");
    // Its files tell the language, where they do.
    fs::write(folder.path().join("mine/go.mod"), "module {{name}}\n").unwrap();
    done(airlock("airlock new in-go --template mine --json"));
    assert!(folder.path().join("in-go/sdk/go.mod").exists());
}

#[test]
fn the_sdk_of_a_project_is_replaced_by_that_of_a_newer_program() {
    let folder = TempDir::new().unwrap();
    let airlock = |line: &str| shell("c", folder.path(), line);
    done(airlock("airlock new a --lang c"));
    let stamp = folder.path().join("a/sdk/version.toml");
    let text = fs::read_to_string(&stamp).unwrap();

    // As an older one would have written it.
    let header = folder.path().join("a/sdk/airlock.h");
    let current = fs::read_to_string(&header).unwrap();
    fs::write(&header, current.replace("airlock_push", "airlock_propose")).unwrap();
    let (error, said) = failed(airlock("cd a && airlock new --update-sdk --json"), 2);
    assert!(
        said.contains("was changed since it was put there"),
        "{error}"
    );
    fs::write(&header, &current).unwrap();
    let unchanged = done(airlock("airlock new --update-sdk --path a --json"));
    assert_eq!(unchanged["changed"], false);

    fs::remove_dir_all(folder.path().join("a/sdk")).unwrap();
    let placed = done(airlock("airlock new --update-sdk --path a --json"));
    assert_eq!(
        (&placed["changed"], &placed["before"]),
        (&json!(true), &json!(null))
    );
    assert_eq!(fs::read_to_string(&stamp).unwrap(), text);
    assert_eq!(fs::read_to_string(&header).unwrap(), current);

    // A build says so where it is another one, and builds with that.
    let version = env!("CARGO_PKG_VERSION");
    let older = text.replace(&format!("\"{version}\""), "\"0.0.9\"");
    let older = older.replace("sha256:", "sha256:00");
    fs::write(&stamp, older).unwrap();
    let built = airlock("airlock build a --json");
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    let note = format!(
        "note: the SDK in `sdk` is 0.0.9, and this program's is {version}; to take that: airlock new --update-sdk"
    );
    assert!(said.contains(&note), "{said}");
    done(built);
}

/// What its step does with the archive that the comment above it asks for. GitHub fills in the
/// variables.
#[test]
fn the_ci_file_installs_the_archive_that_it_is_told() {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name);
    done(shell("c", folder.path(), "airlock new a --lang go"));
    let ci = fs::read_to_string(place("a/.github/workflows/ci.yml")).unwrap();
    let (_, behind) = ci.split_once("- name: Install airlock").unwrap();
    let (_, behind) = behind.split_once("run: |\n").unwrap();
    let script: Vec<_> = behind
        .lines()
        .take_while(|line| line.starts_with("          "))
        .collect();
    let script = script.join("\n");

    let program = Path::new(env!("CARGO_BIN_EXE_airlock"));
    let archive = place("airlock.tar.gz");
    let packed = Command::new("tar")
        .args(["-cf".as_ref(), archive.as_os_str(), "-C".as_ref()])
        .args([program.parent().unwrap().as_os_str(), "airlock".as_ref()])
        .status();
    assert!(packed.unwrap().success());
    let digest = Command::new("sha256sum").arg(&archive).output().unwrap();
    let digest = String::from_utf8(digest.stdout).unwrap();
    let digest = digest.split(' ').next().unwrap().to_owned();

    let run = |address: &str, digest: &str| {
        let temporary = TempDir::new_in(folder.path()).unwrap();
        let paths = temporary.path().join("paths");
        let ran = Command::new("bash")
            .args(["-eo", "pipefail", "-c", &script])
            .env("AIRLOCK_URL", address)
            .env("AIRLOCK_SHA256", digest)
            .env("RUNNER_TEMP", temporary.path())
            .env("GITHUB_PATH", &paths)
            .output()
            .unwrap();
        let installed = fs::read_to_string(&paths).unwrap_or_default();
        let installed = Path::new(installed.trim_end()).join("airlock");
        let version = Command::new(&installed).arg("--version").output();
        let works = version.is_ok_and(|version| version.status.success());
        (ran, works)
    };
    let address = format!("file://{}", archive.display());
    let (ran, works) = run(&address, &digest);
    assert!(ran.status.success() && works, "{ran:?}");
    let (ran, works) = run(&address, &"0".repeat(64));
    assert!(!ran.status.success() && !works, "{ran:?}");
    let (ran, _) = run("", "");
    assert!(!ran.status.success());
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.contains("set the repository's variables"), "{said}");
}
