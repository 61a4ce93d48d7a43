//! Files that somebody planted in the workspace.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::Machine;

/// Refused with this, and soon.
#[track_caller]
fn refused(machine: &Machine, with: &str) {
    let begun = Instant::now();
    for line in [
        &["run", "batch-rename", "{}"][..],
        &["config", "check"],
        &["serve"],
    ] {
        let ran = machine.airlock(line).run();
        assert_eq!(ran.code, 2, "{line:?}: {ran:#?}");
        let told = ran.stderr.replace("\n  ", " ");
        assert!(told.contains(with), "{line:?}: {told}");
        assert!(told.len() < 20_000, "{}", told.len());
    }
    // Nothing here takes a second; a pipe would take for ever.
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_pipe_a_folder_and_links_are_refused_at_once() {
    let machine = Machine::new();
    let made = Command::new("mkfifo").arg(machine.own_file()).status();
    assert!(made.unwrap().success());
    refused(&machine, "it is not a regular file");

    let machine = Machine::new();
    fs::create_dir(machine.own_file()).unwrap();
    refused(&machine, "it is not a regular file");

    let secret = machine.system_file().with_file_name("secret");
    fs::write(&secret, "token = hunter2").unwrap();
    for target in ["/dev/zero", "/nowhere", secret.to_str().unwrap()] {
        let machine = Machine::new();
        std::os::unix::fs::symlink(target, machine.own_file()).unwrap();
        refused(&machine, "it is a link");
        let ran = machine.preview(&[]);
        assert!(!format!("{ran:?}").contains("hunter2"));
    }
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let machine = Machine::new();
    let file = fs::File::create(machine.own_file()).unwrap();
    file.set_len(100 << 20).unwrap();
    refused(&machine, "the limit is 1048576");
}

#[test]
fn what_is_no_text_and_no_toml_is_refused_with_its_line() {
    let machine = Machine::new();
    fs::write(machine.own_file(), b"a = 1\nb = '\xff\xfe'").unwrap();
    refused(&machine, "line 2 is not UTF-8");
    for (text, told) in [
        ("[".repeat(100_000), "airlock-host.toml:1:"),
        (format!("a = {}", "[".repeat(500_000)), "recurs"),
        (format!("{}b = 1", "a.".repeat(400_000)), "recurs"),
        (
            "[[rule]]\n".repeat(100_000),
            "airlock-host.toml:1:1: missing field",
        ),
        (
            (0..60_000).map(|it| format!("a{it} = 1\n")).collect(),
            ":1:1: unknown field `a0`",
        ),
    ] {
        refused(&Machine::new().own(&text), told);
    }
}

#[test]
fn what_it_holds_can_not_steer_a_terminal() {
    let machine = Machine::new().own("\u{1b}]0;title\u{7} = 1\n\"\\u001b[2J\" = 1");
    let ran = machine.airlock(&["config", "check"]).run();
    assert_eq!(ran.code, 2);
    let told = ran.stdout + &ran.stderr;
    assert!(
        !told.contains('\u{1b}') && !told.contains('\u{7}'),
        "{told:?}"
    );
}

#[test]
fn its_rules_are_read_and_a_pattern_that_is_none_is_told() {
    let own = "[[rule]]\nname = 'a'\nthen = 'allow'\npaths = ['a[']\n";
    refused(&Machine::new().own(own), "airlock-host.toml:4:10:");
    let twice = "[[rule]]\nname = 'a'\nthen = 'ask'\n".repeat(2);
    refused(&Machine::new().own(&twice), "two rules are called \"a\"");
    let fine = "[[rule]]\nname = 'a'\nthen = 'refuse'\n[control]\nalso = ['deploy/']\n[budget]\nfiles = 5\n";
    let settings = Machine::new().own(fine).settings(&[]);
    let rules = &settings["rules of the workspace"]["value"];
    assert_eq!(*rules, serde_json::json!(["a: refuse"]));
    assert_eq!(settings["budget"]["value"], "5 files");
}
