//! Params as options, from the tool's schema: given, asked for, described and completed.

use expect_test::expect_file;
use serde_json::json;

use crate::airlock::{Store, airlock_in, folder, guest, names, short};
use crate::terminal::Terminal;

#[test]
fn params_may_be_given_one_by_one() {
    let folder = folder(&["a.jpeg", "b.jpeg"]);
    let check = |args: &[&str], expected: &str| {
        let ran = airlock_in(folder.path(), &[args, &["--json"]].concat()).run();
        let object = ran.json();
        let said = object["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{ran:#?}"));
        assert!(said.contains(expected), "{args:?}: {said}");
    };
    let rename = ["run", "batch-rename"];
    let find = ["--find", "jpeg$", "--replace", "jpg", "--discard", "a try"];
    check(
        &[&rename[..], &["--files", "a.jpeg", "b.jpeg"], &find].concat(),
        "b.jpeg -> b.jpg",
    );
    check(
        &[&rename[..], &["--files=b.jpeg", "--files", "a.jpeg"], &find].concat(),
        "a.jpeg -> a.jpg",
    );
    // Beside an object, which they go before; and where the tool is named.
    let object = json!({"files": ["a.jpeg"], "find": "a", "replace": "c"}).to_string();
    check(
        &[&rename[..], &["batch_rename_preview", &object], &find].concat(),
        "a.jpeg -> a.jpg",
    );
    check(
        &[
            "run",
            &guest("puppet"),
            "typed",
            "--name",
            "-n",
            "--count",
            "1",
        ],
        r#"{"count":1,"name":"-n"}"#,
    );
}

#[test]
fn an_option_that_the_tool_does_not_have_is_told_with_one_that_it_has() {
    let folder = folder(&["a.jpeg"]);
    let check = |args: &[&str], expected: &[&str]| {
        let ran = airlock_in(folder.path(), args).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:#?}");
        for expected in expected {
            assert!(ran.stderr.contains(expected), "{expected}: {ran:#?}");
        }
    };
    check(
        &["run", "batch-rename", "--fils", "*"],
        &[
            "unexpected argument '--fils'",
            "similar argument exists: '--files'",
        ],
    );
    check(
        &["run", "batch-rename", "--files", "*", "--start", "one"],
        &[r#"the value "one" of `--start` is not a number"#],
    );
    check(
        &["run", "batch-rename", "--files", "a.jpeg"],
        &[
            "\"find\" is a required property",
            "`airlock run batch-rename --help`",
        ],
    );
    check(
        &["run", &guest("puppet"), "nothing", "--files", "a.jpeg"],
        &["there is no tool `nothing`"],
    );
    let ran = airlock_in(folder.path(), &["run", "nothing-such", "--files", "*"]).run();
    assert_eq!(ran.code, 3, "{ran:#?}");
}

#[test]
fn the_help_of_a_plugin_lists_its_params_behind_a_margin() {
    let folder = folder(&[]);
    let check = |args: &[&str], expected: &[&str]| {
        let ran = airlock_in(folder.path(), args).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:#?}");
        assert!(ran.stdout.contains("--workspace <DIR>"), "{ran:#?}");
        for expected in expected {
            assert!(ran.stdout.contains(expected), "{expected}: {ran:#?}");
        }
    };
    let params = [
        "Params of batch_rename_preview:",
        "│ --files        array of string  yes       The files to rename",
        "│ --start        integer          no",
    ];
    check(&["run", "batch-rename", "--help"], &params);
    check(&["run", "--help", "batch-rename"], &params);
    check(&["run", "ast_edit", "-h"], &["│ --ops.pat "]);
    check(
        &["run", &guest("puppet"), "typed", "--help"],
        &["│ --count"],
    );
    check(
        &["run", &guest("puppet"), "--help"],
        &["Tools, each with its own params", "│ typed"],
    );
}

#[test]
fn the_help_of_a_tool_has_its_params_first_and_then_the_options_of_all_tools() {
    let folder = folder(&[]);
    let ran = airlock_in(folder.path(), &["run", "batch-rename", "-h"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:#?}");
    expect_file!["run_help.txt"].assert_eq(&ran.stdout);
}

#[test]
fn who_sits_at_a_terminal_is_asked_for_what_is_missing() {
    let folder = folder(&["a.jpeg", "b.jpeg"]);
    let given = ["run", "batch-rename", "--find", "jpeg$"];
    let mut terminal = Terminal::run(folder.path(), &given);
    terminal
        .sees("files (array of string): The files")
        .sees("files, one on each line, then an empty line: ")
        .types("a.jpeg")
        .sees("… ")
        .types("b.jpeg")
        .sees("… ")
        .types("")
        .sees("replace (string)")
        .sees("replace: ")
        .types("jpg")
        .sees("b.jpeg -> b.jpg")
        .asks("a")
        .asks_why("")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpg", "b.jpg"]);
    let mut terminal = Terminal::run(folder.path(), &["run", &guest("puppet"), "typed"]);
    terminal
        .sees("count: ")
        .types("many")
        .sees("That is not a number.")
        .sees("count: ")
        .presses(expectrl::ControlCode::EndOfText)
        .ends(130);
}

/// What the shell's script is told for a line whose last word is being completed.
fn completed(folder: &std::path::Path, store: &Store, line: &[&str]) -> Vec<String> {
    let words = [&["--", "airlock"], line].concat();
    let ran = store
        .airlock(folder, &words)
        .env("AIRLOCK_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", line.len().to_string())
        .run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:#?}");
    ran.stdout
        .split('\x0b')
        .map(|line| line.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

#[test]
fn tab_offers_plugins_tools_params_and_ids() {
    let (folder, store) = (folder(&["a.jpeg"]), Store::new());
    let id = store.push_rename(folder.path());
    let check = |line: &[&str], expected: &[&str]| {
        let offered = completed(folder.path(), &store, line);
        assert_eq!(offered, expected, "{line:?}");
    };
    check(&["reso"], &["resolve"]);
    check(&["run", "batch"], &["batch-rename"]);
    check(&["run", "a"], &["ast_edit", "a.jpeg"]);
    check(&["run", "batch-rename", "batch"], &["batch_rename_preview"]);
    check(&["run", "batch-rename", "--fi"], &["--files", "--find"]);
    check(
        &["run", "batch-rename", "--find", "x", "--rep"],
        &["--replace"],
    );
    check(
        &["run", "ast_edit", "--ops."],
        &["--ops.context", "--ops.out", "--ops.pat", "--ops.selector"],
    );
    check(&["show", &short(&id)[..5]], &[short(&id)]);
    check(&["show", &id[..9]], &[&id]);
    check(&["resolve", "apply", "--id", &id[..9]], &[&id]);
    check(&["show", "nothing"], &[]);
    let resolve = ["resolve", "discard", "--id", &id, "--reason", "seen"];
    assert_eq!(store.airlock(folder.path(), &resolve).run().code, 0);
    check(&["resolve", "apply", "--id", &id[..9]], &[]);
    check(&["store", "forget", &id[..9]], &[&id]);
}

#[test]
fn the_script_of_a_shell_asks_the_program() {
    let folder = folder(&[]);
    let store = Store::new();
    let id = store.push_rename(crate::airlock::folder(&["a.jpeg"]).path());
    let script = r#"
        source <("$1" completions bash)
        COMP_WORDS=(airlock show ""); COMP_CWORD=2; COMP_TYPE=9
        _clap_complete_airlock airlock "" show
        echo "offered ${COMPREPLY[@]}""#;
    let ran = std::process::Command::new("/bin/bash")
        .args(["-c", script, "bash", env!("CARGO_BIN_EXE_airlock")])
        .current_dir(folder.path())
        .env("AIRLOCK_STORE", store.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.contains(&format!("offered {}", short(&id))), "{ran:?}");
}

/// File names may come from an attacker.
#[test]
fn tab_in_bash_gives_names_of_files_as_words_and_runs_no_part_of_one() {
    let names = [
        "a;touch PWNED;.wasm",
        "b$(touch PWNED).wasm",
        "c`touch PWNED`.wasm",
        "d e'f\"g.wasm",
        "h*?[i].wasm",
        "k&touch PWNED.wasm",
        "l!m#n~.wasm",
        "o\\p.wasm",
    ];
    let program = tempfile::TempDir::new().unwrap();
    // The script contains the path of the program.
    let linked = program.path().join("it's $(touch PWNED) airlock");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_airlock"), &linked).unwrap();
    let script = r#"
        source <("$1" completions bash)
        COMP_WORDS=(airlock run "$2"); COMP_CWORD=2; COMP_TYPE=9
        _clap_complete_airlock airlock "$2" run
        printf '%s' "${#COMPREPLY[@]}:"
        eval "set -- $3${COMPREPLY[0]}$3"
        printf '%s' "$#:$1""#;
    let folder = folder(&names);
    for name in names {
        for mark in ["", "'", "\""] {
            let typed = format!("{mark}./{}", &name[..1]);
            let ran = std::process::Command::new("/bin/bash")
                .args(["-c", script, "bash"])
                .arg(&linked)
                .args([&*typed, mark])
                .current_dir(folder.path())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&ran.stdout);
            assert_eq!(said, format!("1:1:./{name}"), "{typed}: {ran:?}");
        }
    }
    // A quoted word can be completed further. A name with a line break is not offered.
    std::fs::write(folder.path().join("q\nr.wasm"), "").unwrap();
    let store = Store::new();
    let check = |typed: &str, expected: &[&str]| {
        let offered = completed(folder.path(), &store, &["run", typed]);
        assert_eq!(offered, expected, "{typed}");
    };
    check(r"./d\ e", &[r#"./d\ e\'f\"g.wasm"#]);
    check("./q", &[]);
    assert!(!folder.path().join("PWNED").exists());
}
