//! A file in the workspace makes the rest stricter, and nothing else.

use std::fs;

use super::{Machine, is_there};
use crate::airlock::airlock_in;

#[test]
fn a_stricter_value_of_the_workspace_counts_and_a_wider_one_does_not() {
    let operator = "decide = 'person'\nexpires = '7d'\nrehearse = 'auto'\n[limits]\ntimeout = 60\nmax-memory = '256MiB'";
    let keys = [
        "decide",
        "expires",
        "rehearse",
        "limits.timeout",
        "limits.max-memory",
    ];
    let values = |machine: &Machine| {
        let settings = machine.settings(&[]);
        keys.map(|key| settings[key]["value"].to_string())
    };
    let as_said = values(&Machine::new().user(operator));
    let wider = "decide = 'model'\nexpires = '8d'\nrehearse = 'never'\n[limits]\ntimeout = 61\nmax-memory = '257MiB'";
    assert_eq!(values(&Machine::new().user(operator).own(wider)), as_said);
    let stricter = "decide = 'terminal'\nexpires = '6d'\nrehearse = 'always'\n[limits]\ntimeout = 59\nmax-memory = '255MiB'";
    let machine = Machine::new().user(operator).own(stricter);
    let narrowed = values(&machine);
    let expected = ["\"terminal\"", "\"6d\"", "\"always\"", "59.0", "\"255MiB\""];
    assert_eq!(narrowed, expected);
    let own = machine.own_file().canonicalize().unwrap();
    let from = machine.settings(&[])["decide"]["from"].clone();
    let from = fs::canonicalize(from.as_str().unwrap()).unwrap();
    assert_eq!(from, own);
}

#[test]
fn a_default_is_narrowed_too_and_never_widened() {
    let machine = Machine::new().own("decide = 'model'\nexpires = '1d'\nrehearse = 'never'");
    let settings = machine.settings(&[]);
    assert_eq!(settings["decide"]["value"], "person");
    assert_eq!(settings["expires"]["value"], "1d");
    assert_eq!(settings["rehearse"]["value"], "auto");
}

#[test]
fn what_is_the_operators_is_an_error_in_the_workspace_and_nothing_runs() {
    for (key, value) in [
        ("plugins", "['evil.wasm']"),
        ("workspace", "'/'"),
        ("store", "'evil.db'"),
        ("grant", "[{real-time = true}]"),
    ] {
        let machine = Machine::new().own(&format!("expires = '1d'\n{key} = {value}\n"));
        let ran = machine.preview(&[]);
        let (kind, message, _) = ran.error();
        assert_eq!((ran.code, kind.as_str()), (2, "configuration"), "{key}");
        let place = format!("airlock-host.toml:2:1: `{key}` ");
        assert!(message.contains(&place), "{message}");
        assert!(message.contains("only the operator's own"), "{message}");
        let served = machine.airlock(&["serve"]).run();
        assert_eq!(served.code, 2, "{key}: {served:#?}");
        assert!(
            !is_there(&machine.workspace.path().join("evil.db")),
            "{key}"
        );
    }
}

#[test]
fn a_store_is_never_the_workspaces_even_where_it_is_asked_for() {
    let machine = Machine::new().own("store = 'evil.db'");
    let listed = machine.airlock(&["pending", "--all", "--json"]).run();
    assert_eq!(listed.code, 0, "{listed:#?}");
    assert!(!is_there(&machine.workspace.path().join("evil.db")));
}

#[test]
fn the_operators_file_can_not_lie_in_the_workspace() {
    let machine = Machine::new();
    let inside = machine.workspace.path().join("mine.toml");
    fs::write(&inside, "decide = 'model'").unwrap();
    let refused = |args: &[&str]| {
        let ran = machine.preview(args);
        let (kind, message, _) = ran.error();
        assert_eq!((ran.code, kind.as_str()), (2, "configuration"), "{args:?}");
        assert!(message.contains("it lies in the workspace"), "{message}");
    };
    refused(&["--config", "mine.toml"]);
    refused(&["--config", "./mine.toml"]);
    refused(&["--config", inside.to_str().unwrap()]);
    // A link elsewhere that leads in there, and one in there that leads elsewhere.
    let link = machine.system_file().with_file_name("link.toml");
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    refused(&["--config", link.to_str().unwrap()]);
    let outside = machine.system_file().with_file_name("outside.toml");
    fs::write(&outside, "").unwrap();
    assert_eq!(
        machine
            .preview(&["--config", outside.to_str().unwrap()])
            .code,
        0
    );
    std::os::unix::fs::symlink(&outside, machine.workspace.path().join("out.toml")).unwrap();
    refused(&["--config", "out.toml"]);

    // The user's own, where the workspace is around it.
    let ran = airlock_in(
        machine.workspace.path(),
        &["run", "batch-rename", "{}", "--json"],
    )
    .env("XDG_CONFIG_HOME", machine.workspace.path())
    .env("AIRLOCK_SYSTEM_CONFIG", machine.system_file());
    fs::create_dir(machine.workspace.path().join("airlock")).unwrap();
    fs::write(
        machine.workspace.path().join("airlock/airlock-host.toml"),
        "",
    )
    .unwrap();
    assert!(ran.run().error().1.contains("it lies in the workspace"));
}

#[test]
fn a_bundled_plugin_is_meant_by_its_name_whatever_the_workspace_calls_so() {
    let machine = Machine::new();
    fs::write(
        machine.workspace.path().join("batch-rename"),
        "no component",
    )
    .unwrap();
    assert_eq!(machine.preview(&[]).code, 0);
}
