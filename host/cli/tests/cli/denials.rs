//! Refused and declined requests in the log.

use serde_json::{Value, json};

use crate::airlock::{RENAME, Store, airlock_in, folder, names};
use crate::rules::Machine;
use crate::serving::client::{Calls, Server, asks};
use crate::terminal::Terminal;

/// Previews are fine, and nothing ends as such a file.
const REFUSES: &str = "[[rule]]\nname = 'no pictures'\npaths = ['*.jpg']\nthen = 'refuse'";

fn logged(machine: &Machine, filter: &[&str]) -> Vec<Value> {
    let log = machine.airlock(&["log", "--json"]).args(filter).run();
    log.json()["log"].as_array().unwrap().clone()
}

#[test]
fn what_a_rule_refused_a_model_is_in_the_log_and_what_is_not_kept_is_counted() {
    let machine = Machine::new().user(REFUSES);
    let mut server = machine.server(&[]);
    let previewed = server.preview();
    let id = previewed["_meta"]["airlock/pending"][0]["id"].as_str();
    let id = id.unwrap().to_owned();
    for _ in 0..3 {
        assert_eq!(server.resolve("apply")["isError"], true);
    }
    assert_eq!(names(&machine.workspace), ["a.jpeg"]);
    let last = &logged(&machine, &[])[0];
    assert_eq!(last["id"], id.as_str());
    assert_eq!(last["resolved"], Value::Null);
    let denial = &last["denial"];
    let expected = json!({
        "number": 3,
        "state": "refused",
        "at": denial["at"],
        "asked": "apply",
        "askedBy": {"actor": "model", "name": null, "evidence": "none"},
        "reason": "as asked",
        "declinedBy": null,
        "why": denial["why"],
    });
    assert_eq!(*denial, expected);
    let why = denial["why"].as_str().unwrap();
    assert!(
        why.contains("refuse") && why.contains("no pictures"),
        "{why}"
    );
    for (filter, expected) in [
        (&[][..], 3),
        (&["--state", "refused"], 3),
        (&["--state", "declined"], 0),
        (&["--state", "applied"], 0),
        (&["--by", "model"], 3),
        (&["--by", "person"], 0),
        (&["--tool", "batch_rename_preview"], 3),
        (&["--tool", "other"], 0),
        (&["--path", "*.jpg"], 3),
        (&["--path", "docs/"], 0),
        (&["--since", "1d"], 3),
        (&["--until", "1d"], 0),
        (&["--limit", "2"], 2),
        (&["--session", "another"], 0),
    ] {
        assert_eq!(logged(&machine, filter).len(), expected, "{filter:?}");
    }
    let log = machine.airlock(&["log", "--limit", "2"]).run().stdout;
    for told in [
        "Refused: Batch rename: 1 files",
        "apply asked for by the model (evidence: none)",
        "renamed a.jpeg -> a.jpg",
        "these are the latest 2 entries",
    ] {
        assert!(log.contains(told), "{told}: {log}");
    }
    // A model that asks in a loop.
    for _ in 0..12 {
        server.resolve("apply");
    }
    assert_eq!(logged(&machine, &["--limit", "99"]).len(), 10);
    let shown = machine.airlock(&["show", &id, "--json"]).run().json();
    assert_eq!(shown["earlierDenials"], 5);
    let denials = shown["denials"].as_array().unwrap();
    let numbers: Vec<u64> = denials
        .iter()
        .filter_map(|it| it["number"].as_u64())
        .collect();
    assert_eq!(numbers, Vec::from_iter(6..=15));
    let shown = machine.airlock(&["show", &id]).run().stdout;
    assert!(shown.contains("5 earlier ones were not kept"), "{shown}");
    assert!(shown.contains("no pictures"), "{shown}");
    // It is pending, and its denials stay with the record of its end.
    assert_eq!(server.resolve("discard")["isError"], false);
    let log = logged(&machine, &["--limit", "99"]);
    assert_eq!(log.len(), 11);
    assert_eq!(log[0]["resolved"]["decision"], "discard");
}

#[test]
fn a_rule_refuses_a_command_line_and_the_record_says_who_asked() {
    let machine = Machine::new().user(REFUSES);
    let run = ["run", "batch-rename", RENAME, "--apply", "do it"];
    for options in [&[][..], &["--rehearse", "never"]] {
        assert_eq!(machine.airlock(&run).args(options).run().code, 1);
        let log = logged(&machine, &[]);
        let denial = &log[0]["denial"];
        assert_eq!(denial["state"], "refused", "{denial}");
        assert_eq!(denial["askedBy"]["actor"], "unknown", "{denial}");
        assert_eq!(denial["reason"], "do it");
    }
    assert_eq!(logged(&machine, &[]).len(), 2);
}

#[test]
fn what_a_person_declines_in_a_client_is_in_the_log_before_what_they_decide_later() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-06-18", asks());
    server.preview();
    let accept = |decision: &str| json!({"action": "accept", "content": {"decision": decision, "reason": "after lunch"}});
    let mut answer = |answer: Value| {
        let (id, asked) = server.begin_asking();
        server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
        server.answer(id);
    };
    answer(json!({"action": "decline"}));
    // These are no answers.
    answer(json!({"action": "cancel"}));
    answer(json!({"action": "accept"}));
    answer(accept("later"));
    answer(accept("apply"));
    assert_eq!(names(&folder), ["a.jpg"]);
    let log = store.json(folder.path(), &["log"])["log"].clone();
    let log = log.as_array().unwrap();
    assert_eq!(log.len(), 3, "{log:?}");
    assert_eq!(log[0]["resolved"]["decision"], "apply");
    let whys = [
        "the user leaves it pending for now: after lunch",
        "the user declined to decide",
    ];
    let person = json!({"actor": "person", "name": "user of test", "evidence": "client"});
    for (entry, why) in log[1..].iter().zip(whys) {
        let denial = &entry["denial"];
        assert_eq!(denial["state"], "declined");
        assert_eq!(denial["why"], why);
        assert_eq!(denial["declinedBy"], person);
        assert_eq!(denial["askedBy"]["actor"], "model");
        assert_eq!(denial["reason"], "the model's");
    }
    // Whatever is asked for is the beginning of all.
    for limit in 1..=4 {
        let number = limit.to_string();
        let some = store.json(folder.path(), &["log", "--limit", &number]);
        let some = some["log"].as_array().unwrap();
        assert_eq!(some[..], log[..limit.min(3)]);
    }
    let declined = store.json(folder.path(), &["log", "--state", "declined"]);
    assert_eq!(declined["log"].as_array().unwrap()[..], log[1..]);
}

#[test]
fn a_no_at_the_terminal_is_in_the_log_and_leaving_is_not() {
    let folder = folder(&["a.jpeg"]);
    let mut terminal = Terminal::run(folder.path(), &["run", "batch-rename", RENAME]);
    terminal.asks("l").ends(0);
    for answer in ["q", "n"] {
        let mut terminal = Terminal::run(folder.path(), &["resolve", "apply"]);
        terminal.sees("Apply it?").types(answer).ends(0);
    }
    let mut terminal = Terminal::run(folder.path(), &["resolve", "discard"]);
    terminal.sees("Discard it?").types("n").ends(0);
    // A rule asks again, since the command line is not enough.
    let env = json!({"files": ["*"], "find": "^.*$", "replace": ".env"}).to_string();
    let run = ["run", "batch-rename", &env, "--apply", "do it"];
    let mut terminal = Terminal::run(folder.path(), &run);
    terminal.sees("Apply it?").types("n").ends(1);
    let log = airlock_in(folder.path(), &["log", "--json"]).run().json();
    let log = log["log"].as_array().unwrap();
    let told: Vec<_> = log
        .iter()
        .map(|entry| {
            let denial = &entry["denial"];
            let (asked, why) = (&denial["asked"], &denial["why"]);
            assert_eq!(denial["declinedBy"]["evidence"], "terminal", "{denial}");
            (asked.as_str().unwrap(), why.as_str().unwrap())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("apply", "it was not confirmed"),
            ("discard", "answered with no"),
            ("apply", "answered with no"),
        ]
    );
    assert_eq!(names(&folder), ["a.jpeg"]);
}
