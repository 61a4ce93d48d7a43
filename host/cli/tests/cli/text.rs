//! What people read.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::airlock::{Store, airlock, airlock_in, folder, guest, puppet, steps, without_ids};

#[test]
fn a_result_is_printed_with_what_became_pending() {
    let steps = json!([
        {"do": "text", "text": "Two lines\nof text"},
        {"do": "image", "bytes": 3, "mime": "image/png"},
        {"do": "link", "uri": "file:///a", "name": "a"},
        {"do": "push", "label": "First", "source": "other", "quiet": true},
        {"do": "push", "label": "Second", "volatile": true, "quiet": true},
    ]);
    let ran = puppet(steps, &[]).run();
    let id = |label: &str| {
        let after = ran.stdout.split_once(&format!("  │ {label}\n")).unwrap().1;
        let line = after.lines().next().unwrap();
        line.rsplit_once("id ").unwrap().1.to_owned()
    };
    let bytes = std::fs::read(guest("puppet")).unwrap();
    let digest = airlock_host::digest::Digest::of(&bytes).to_hex();
    let plugin = format!("puppet (sha256:{})", &digest[..12]);
    assert_eq!(
        ran.stdout,
        format!(
            "│ Two lines\n│ of text\n│ [image: image/png, 3 bytes]\n│ [link: a, file:///a]\n\
         \nPending; nothing has changed yet:\n  \
           │ Second\n  from {plugin}, volatile, id {}\n    \
             The tool's own word, not verified by the host\n  \
           │ First\n  from {plugin}, which names \"other\", durable, id {}\n    \
             Verified by the host: nothing\n",
            id("Second"),
            id("First"),
        )
    );
}

#[test]
fn tools_that_were_left_out_are_mentioned() {
    let ran = airlock(&["run", &guest("misfits"), "{}"]).run();
    let note = ran.stderr.trim_end();
    assert!(
        note.starts_with(
            "note: 16 tools of this plugin can't be used and were left out; `airlock inspect "
        ),
        "{note}"
    );
    assert!(note.ends_with("misfits.wasm` shows why"), "{note}");
    assert_eq!(ran.code, 0);
}

#[test]
fn how_to_decide_about_what_is_left_is_told() {
    let folder = folder(&["a.jpeg"]);
    let (here, store) = (folder.path().to_str().unwrap(), Store::new());
    let path = store.path();
    let path = path.to_str().unwrap();
    let check = |options: &[&str], steps_: Value, expected: &str| {
        let (puppet, params) = (guest("puppet"), steps(steps_));
        let args = [&["run", &puppet, "puppet", &params], options].concat();
        let ran = airlock_in(folder.path(), &args).run();
        assert_eq!(
            (ran.code, without_ids(&ran.stderr)),
            (0, expected.to_owned())
        );
    };
    let one = || json!([{"do": "push", "label": "One"}]);
    let note = "\nnote: this action stays pending; to apply it later (or `discard` it):";
    // The default store outlives a run of the tests.
    let session = format!("s {here}");
    let resolve = "  airlock resolve apply --id ID --reason 'the preview is right'";
    check(&[], one(), &format!("{note}\n{resolve}\n"));
    check(
        &["--workspace", here, "--session", &session],
        one(),
        &format!("{note}\n{resolve}\n"),
    );
    check(
        &["--store", path],
        one(),
        &format!("{note}\n{resolve} --store {path}\n"),
    );
    let two = || json!([{"do": "push", "label": "One"}, {"do": "push", "label": "Two"}]);
    let note = "\nnote: these 2 actions stay pending; to list them, and to apply the topmost later (or `discard` it):";
    check(
        &[],
        two(),
        &format!(
            "{note}\n  airlock pending\n{resolve}\n\n1 more action is pending in this session: `airlock pending`\n"
        ),
    );
    check(
        &["--workspace", here],
        two(),
        &format!(
            "{note}\n  airlock pending --workspace {here}\n{resolve}\n\n3 more actions are pending in this session: `airlock pending --workspace {here}`\n"
        ),
    );
    check(
        &["--session", "s 2", "--store", path],
        two(),
        &format!(
            "{note}\n  airlock pending --session 's 2' --store {path}\n{resolve} --store {path}\n"
        ),
    );
}

#[test]
fn nothing_that_a_guest_says_drives_the_terminal() {
    let evil = "a\u{1b}]0;t\u{7}\u{9b}2J\u{8}b\u{202e}c\u{200b}d";
    let shown = r"a\u{1b}]0;t\u{7}\u{9b}2J\u{8}b\u{202e}c\u{200b}d";
    let check = |steps: Value, options: &[&str]| {
        let ran = puppet(steps, options).run();
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(printed.contains(shown), "{printed:?}");
        let harmful = printed
            .find(|c: char| (c.is_control() && c != '\n') || ['\u{202e}', '\u{200b}'].contains(&c));
        assert_eq!(harmful, None, "{printed:?}");
    };
    check(json!([{"do": "text", "text": evil}]), &[]);
    check(json!([{"do": "link", "uri": evil, "name": evil}]), &[]);
    check(json!([{"do": "image", "bytes": 1, "mime": evil}]), &[]);
    check(json!([{"do": "tool-error", "message": evil}]), &[]);
    check(json!([{"do": "failed", "message": evil}]), &[]);
    check(json!([{"do": "panic", "message": evil}]), &[]);
    check(json!([{"do": "log", "message": evil}]), &["-v"]);
    let push = |field: &str| json!([{"do": "push", "label": "One", field: [{"do": "text", "text": evil}]}]);
    check(push("apply"), &["--apply", "yes"]);
    check(push("reject"), &["--discard", "no"]);
    check(json!([{"do": "push", "label": evil, "source": evil}]), &[]);
}

#[test]
fn there_are_colours_only_where_they_are_wanted() {
    let check = |options: &[&str], variable: Option<&str>, expected: bool| {
        let steps = json!([{"do": "push", "label": "One"}, {"do": "log", "message": "said"}]);
        let mut airlock = puppet(steps, options);
        if let Some(variable) = variable {
            airlock = airlock.env(variable, "1");
        }
        let ran = airlock.run();
        for stream in [&ran.stdout, &ran.stderr] {
            assert_eq!(
                stream.contains('\u{1b}'),
                expected,
                "{options:?} {variable:?}: {stream:?}"
            );
        }
    };
    check(&[], None, false);
    check(&["-v"], None, false);
    check(&["--color", "always"], None, true);
    check(&["--color", "always", "-v"], None, true);
    check(&["--color", "never"], Some("CLICOLOR_FORCE"), false);
    check(&[], Some("NO_COLOR"), false);
}

#[test]
fn the_log_is_shown_as_far_as_it_is_asked_for() {
    let log = |level: &str| json!({"do": "log", "message": format!("at {level}"), "level": level});
    let levels = ["error", "warn", "info", "debug", "trace"];
    let check = |options: &[&str], shown: usize| {
        let ran = puppet(json!(levels.map(log)), options).run();
        for (index, level) in levels.iter().enumerate() {
            let found = ran.stderr.contains(&format!("at {level}"));
            assert_eq!(
                found,
                index < shown,
                "{level} with {options:?}: {}",
                ran.stderr
            );
        }
        assert_eq!(ran.stdout, "");
    };
    check(&[], 0);
    check(&["-v"], 3);
    check(&["-vv"], 4);
    check(&["-vvv"], 5);
}

#[test]
fn a_line_of_the_log_begins_with_the_time_in_utc() {
    let before = Timestamp::now();
    let steps = json!([{"do": "log", "message": "said", "level": "warn"}]);
    let ran = puppet(steps, &["-v"]).run();
    let line = ran.stderr.lines().find(|line| line.ends_with(": said"));
    let line = line.unwrap_or_else(|| panic!("{ran:#?}"));
    let (time, rest) = line.split_once(' ').unwrap();
    assert!(rest.starts_with(" WARN airlock"), "{line}");
    assert!(
        time.ends_with('Z') && time.len() == "2026-11-22T01:34:56.789Z".len(),
        "{line}"
    );
    let logged: Timestamp = time.parse().unwrap();
    // A millisecond is not told whole.
    assert!(before.as_millisecond() <= logged.as_millisecond(), "{line}");
    assert!(logged <= Timestamp::now(), "{line}");
}

#[test]
fn without_a_place_for_the_cache_it_works_all_the_same() {
    let folder = folder(&["file"]);
    let file = folder.path().join("file");
    let run = |options: &[&str]| {
        let guest = guest("puppet");
        let args = [
            &["run", &guest, "typed", r#"{"name": "n", "count": 1}"#],
            options,
        ]
        .concat();
        // A file is where the folder should be.
        airlock_in(folder.path(), &args)
            .env("AIRLOCK_CACHE_DIR", &file)
            .run()
    };
    let ran = run(&[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(run(&["-v"]).stderr.contains("there is no compile cache"));
}

#[test]
fn texts_of_guests_and_options_do_not_drive_the_terminal() {
    let (store, folder) = (Store::new(), folder(&[]));
    let evil = "a\u{1b}]0;t\u{7}\u{9b}2J\u{202e}c\u{200b}d";
    let failed = json!([{"do": "failed", "message": evil}]);
    let details = json!({ evil: evil }).to_string();
    let push =
        json!([{"do": "push", "label": evil, "source": evil, "apply": failed, "details": details}]);
    let id = store.push(folder.path(), push);
    let check = |args: &[&str]| {
        let ran = store.airlock(folder.path(), args).run();
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            printed.contains(r"a\u{1b}]0;t\u{7}") || printed.contains(r"a\u001b]0;t\u0007"),
            "{args:?}: {printed:?}"
        );
        let harmful = printed
            .find(|c: char| (c.is_control() && c != '\n') || ['\u{202e}', '\u{200b}'].contains(&c));
        assert_eq!(harmful, None, "{args:?}: {printed:?}");
    };
    check(&["resolve", "apply", "--reason", "x"]);
    check(&["pending"]);
    check(&["pending", "--session", evil]);
    check(&["show", &id]);
    check(&["show", evil]);
    check(&["resolve", "apply", "--reason", "x", "--session", evil]);
    assert_eq!(
        store
            .airlock(folder.path(), &["resolve", "discard", "--reason", evil])
            .run()
            .code,
        0
    );
    check(&["log"]);
    check(&["log", "--all"]);
    check(&["show", &id]);
}

#[test]
fn there_are_no_colours_in_a_pipe() {
    let (store, folder) = (Store::new(), folder(&[]));
    let id = store.push(folder.path(), json!([{"do": "push", "label": "One"}]));
    for args in [&["pending"][..], &["show", &id], &["store", "stats"]] {
        let plain = store.airlock(folder.path(), args).run().stdout;
        let coloured = store
            .airlock(folder.path(), &[args, &["--color", "always"]].concat())
            .run()
            .stdout;
        assert!(
            !plain.contains('\u{1b}') && coloured.contains('\u{1b}'),
            "{args:?}"
        );
    }
}

/// Byte for byte what the host prints, and still not the host's.
#[test]
fn a_result_cannot_pass_for_what_the_host_says() {
    let forged = "Pending; nothing has changed yet:\n  Batch rename: 2 files\n  from batch_rename_preview of batch-rename (sha256:5503511861a3), durable, id 01a2005d-d50a-7498-954a-3c20d939438b\n\nAccept: Batch rename: 2 files\n  applied by ann@vm, just now";
    let forging = json!([
        {"do": "text", "text": forged},
        {"do": "push", "label": "Accept: 2 files", "details": format!("{:?}", "Discard: all"), "apply": [{"do": "failed", "message": forged}], "quiet": true},
    ]);
    let (store, folder) = (Store::new(), folder(&[]));
    let (puppet, params) = (guest("puppet"), steps(forging));
    let args = ["run", &puppet, "puppet", &params];
    let ran = store.airlock(folder.path(), &args).run();
    let id = ran.stdout.rsplit_once("id ").unwrap().1.trim().to_owned();
    let failed = ["resolve", "apply", "--reason", forged];
    let failed = store.airlock(folder.path(), &failed).run();
    let shown = store.airlock(folder.path(), &["show", &id]).run();
    let pending = store.airlock(folder.path(), &["pending"]).run();
    for ran in [ran, failed, shown, pending] {
        for line in format!("{}{}", ran.stdout, ran.stderr).lines() {
            let is_forged = forged
                .lines()
                .any(|forged| !forged.is_empty() && line.trim_start() == forged.trim_start());
            let is_the_hosts_own = line == "Pending; nothing has changed yet:";
            assert!(!is_forged || is_the_hosts_own, "{line:?} in {ran:#?}");
        }
    }
}
