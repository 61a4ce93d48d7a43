//! Previews that a tool keeps in its memory.

use serde_json::json;

use crate::airlock::{Store, folder, guest, steps};
use crate::terminal::Terminal;

const MESSAGE: &str = "the tool keeps its preview only in memory, which is lost when this command ends: the action was discarded";
const HINT: &str = "run it again and decide at once: with `--apply REASON` or `--discard REASON`, or in a terminal";

#[test]
fn a_volatile_action_that_nobody_decides_about_is_discarded_with_the_result_told() {
    let (store, folder) = (Store::new(), folder(&[]));
    let (puppet, params) = (
        guest("puppet"),
        steps(json!([
            {"do": "text", "text": "the preview"},
            {"do": "push", "label": "Durable", "quiet": true},
            {"do": "push", "label": "Volatile", "volatile": true, "quiet": true},
        ])),
    );
    let run = ["run", &puppet, "puppet", &params];
    let ran = store.airlock(folder.path(), &run).run();
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.starts_with("│ the preview\n"), "{ran:#?}");
    let said = format!("error: {MESSAGE}\nhint: {HINT}\n\nnote: this action stays pending;");
    assert!(ran.stderr.starts_with(&said), "{ran:#?}");

    let ran = store.airlock(folder.path(), &run).arg("--json").run();
    let object = ran.json();
    assert_eq!(ran.code, 1);
    assert_eq!(
        object["content"],
        json!([{"type": "text", "text": "the preview"}])
    );
    assert_eq!(object["isError"], true);
    assert_eq!(
        object["error"],
        json!({"kind": "volatile", "message": MESSAGE, "hint": HINT})
    );
    let labels: Vec<_> = object["pending"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["label"])
        .collect();
    assert_eq!(labels, ["Durable", "Durable"]);

    let log = store.json(folder.path(), &["log"]);
    let resolved = &log["log"][0]["resolved"];
    assert_eq!(
        (&log["log"][0]["label"], &resolved["decidedBy"]),
        (
            &json!("Volatile"),
            &json!({"actor": "program", "name": "airlock", "evidence": "none"})
        )
    );
    assert_eq!(
        resolved["reason"],
        "undecided when `airlock run` ended, and the tool keeps its preview only in memory"
    );
}

#[test]
fn a_volatile_action_is_decided_about_at_once() {
    let (store, folder) = (Store::new(), folder(&[]));
    let done = json!([{"do": "text", "text": "done"}]);
    let push = json!([{"do": "push", "label": "One", "volatile": true, "apply": done}]);
    let (puppet, params) = (guest("puppet"), steps(push));
    let run = ["run", &puppet, "puppet", &params];
    let ran = store
        .airlock(folder.path(), &[&run[..], &["--apply", "yes"]].concat())
        .run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let ran = store
        .airlock(folder.path(), &[&run[..], &["--discard", "no"]].concat())
        .run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    // A failed apply leaves nothing behind that could be tried again.
    let fails = json!([{"do": "tool-error", "message": "not today"}]);
    let params = steps(json!([{"do": "push", "label": "One", "volatile": true, "apply": fails}]));
    let args = ["run", &puppet, "puppet", &params, "--apply", "yes"];
    let ran = store.airlock(folder.path(), &args).run();
    assert_eq!(
        (ran.code, ran.stderr),
        (
            1,
            format!(
                "Failed: One\n  reason to apply: yes\n  error: not today\nerror: {MESSAGE}\nhint: {HINT}\n"
            )
        )
    );
    assert_eq!(
        store.json(folder.path(), &["pending"]),
        json!({"pending": []})
    );
}

#[test]
fn a_volatile_action_whose_process_was_killed_is_lost_and_can_be_discarded() {
    let (store, folder) = (Store::new(), folder(&[]));
    let push = json!([{"do": "push", "label": "One", "volatile": true}]);
    let (puppet, params) = (guest("puppet"), steps(push));
    let at = store.path();
    // It asks, and nobody answers.
    let run = [
        "run",
        &puppet,
        "puppet",
        &params,
        "--store",
        at.to_str().unwrap(),
    ];
    let mut asking = Terminal::run(folder.path(), &run);
    asking.sees("[l]eave, [?]: ");

    let resolve = |action: &str| {
        store
            .airlock(
                folder.path(),
                &["resolve", action, "--reason", "x", "--json"],
            )
            .run()
    };
    let ran = resolve("apply");
    let (kind, message, _) = ran.error();
    assert_eq!((ran.code, kind.as_str()), (1, "volatile"));
    assert!(
        message.contains("only in the memory of the process that made it"),
        "{message}"
    );
    asking.is_killed();

    let pending = store.json(folder.path(), &["pending"]);
    let entry = &pending["pending"][0];
    assert_eq!(
        (&entry["state"], &entry["attempts"]),
        (&json!("lost"), &json!(0))
    );
    let text = store.airlock(folder.path(), &["pending"]).run().stdout;
    assert!(
        text.contains("\n  lost: ") && text.contains("it can only be discarded"),
        "{text}"
    );
    let (kind, message, hint) = resolve("apply").error();
    assert_eq!(kind, "volatile");
    assert!(
        message.contains("only in memory, and it is lost"),
        "{message}"
    );
    assert!(hint.contains("`airlock resolve discard --id "), "{hint}");
    assert_eq!(resolve("discard").code, 0);
}
