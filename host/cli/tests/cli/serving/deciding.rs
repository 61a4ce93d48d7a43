//! Who decides about what a model wants applied, and how that is known.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::client::{Calls, Server, asks, text};
use crate::airlock::{Store, folder, guest, names, steps};

#[test]
fn where_the_client_can_ask_nobody_a_person_decides_at_a_terminal() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    for (args, capabilities) in [(&[][..], json!({})), (&["--decide", "terminal"], asks())] {
        let (mut server, _) =
            Server::initialized(&store, folder.path(), args, "2025-11-25", capabilities);
        let previewed = server.preview();
        let id = previewed["_meta"]["airlock/pending"][0]["id"]
            .as_str()
            .unwrap();
        let refused = server.resolve("apply");
        assert_eq!(refused["isError"], true);
        let command = format!("airlock resolve apply --id {id}");
        assert!(text(&refused).contains(&command), "{refused}");
        assert_eq!(names(&folder), ["a.jpeg"]);
        // A model's discard has no effect, so it needs nobody.
        let discarded = server.resolve("discard");
        assert_eq!(discarded["isError"], false, "{discarded}");
    }
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let previewed = server.preview();
    let id = previewed["_meta"]["airlock/pending"][0]["id"]
        .as_str()
        .unwrap();
    let decided = ["resolve", "apply", "--id", id, "--reason", "seen"];
    let ran = store.airlock(folder.path(), &decided).run();
    assert_eq!(
        (ran.code, names(&folder)),
        (0, vec!["a.jpg".to_owned()]),
        "{ran:#?}"
    );
    let nothing = server.resolve("apply");
    assert!(
        text(&nothing).starts_with("No pending action to resolve."),
        "{nothing}"
    );
}

/// The record of the last decision: who, how that is known, and why.
pub fn last_decision(store: &Store, folder: &Path) -> (Value, Value, Value) {
    let log = store.json(folder, &["log", "--all"]);
    let resolved = &log["log"][0]["resolved"];
    let by = &resolved["decidedBy"];
    (
        by["name"].clone(),
        by["evidence"].clone(),
        resolved["reason"].clone(),
    )
}

#[test]
fn a_person_whom_the_client_asks_decides_and_the_record_says_it_is_the_clients_word() {
    let check = |answer: Value, expected: &str, left: &str, pending: usize| {
        let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
        let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-06-18", asks());
        server.preview();
        let (id, asked) = server.begin_asking();
        let message = asked["params"]["message"].as_str().unwrap();
        for told in [
            "The model says: the model's",
            "renamed a.jpeg -> a.jpg",
            "\nPlugin: \"batch-rename\" (sha256:",
        ] {
            assert!(message.contains(told), "{message}");
        }
        let form = &asked["params"]["requestedSchema"]["properties"];
        assert!(
            form["decision"].is_object() && form["reason"].is_object(),
            "{form}"
        );
        // Asking takes no claim, and changes nothing.
        assert_eq!(names(&folder), ["a.jpeg"]);
        server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
        let said = server.answer(id);
        assert!(text(&said["result"]).contains(expected), "{said}");
        assert_eq!(names(&folder), [left], "{said}");
        let open = store.json(folder.path(), &["pending", "--all"]);
        assert_eq!(open["pending"].as_array().unwrap().len(), pending);
        if pending == 0 {
            let by = last_decision(&store, folder.path());
            assert_eq!(
                by,
                (json!("user of test"), json!("client"), json!("their own"))
            );
        }
    };
    let accept = |decision: &str| json!({"action": "accept", "content": {"decision": decision, "reason": "their own"}});
    check(
        accept("apply"),
        "Applied batch rename. Reason: their own",
        "a.jpg",
        0,
    );
    check(
        accept("discard"),
        "the user discarded it instead",
        "a.jpeg",
        0,
    );
    check(accept("later"), "leaves it pending for now", "a.jpeg", 1);
    check(
        json!({"action": "decline"}),
        "declined to decide",
        "a.jpeg",
        1,
    );
    check(
        json!({"action": "cancel"}),
        "dismissed the question",
        "a.jpeg",
        1,
    );
    // An agent that accepts whatever it is shown has decided nothing.
    check(
        json!({"action": "accept"}),
        "has no decision in it",
        "a.jpeg",
        1,
    );
    check(
        json!({"action": "accept", "content": {}}),
        "has no decision in it",
        "a.jpeg",
        1,
    );
}

/// A call that ends with a question: the question, and the state that goes with its answer.
#[track_caller]
fn question(server: &mut Server, arguments: &Value) -> (String, String) {
    let asked = server.call("resolve", arguments.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let state = asked["requestState"].as_str().unwrap().to_owned();
    let message = asked["inputRequests"]["decision"]["params"]["message"].as_str();
    (message.unwrap().to_owned(), state)
}

fn answered(arguments: &Value, state: &str) -> Value {
    let answer = json!({"action": "accept", "content": {"decision": "apply"}});
    json!({
        "name": "resolve",
        "arguments": arguments,
        "requestState": state,
        "inputResponses": {"decision": answer},
    })
}

#[test]
fn an_answer_counts_once_for_the_question_that_was_asked_and_for_nothing_else() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let mut server = Server::stateless(&store, folder.path(), &[], asks());
    server.preview();
    let arguments = json!({"action": "apply", "reason": "as asked"});
    let (message, state) = question(&mut server, &arguments);
    assert!(message.contains("renamed a.jpeg -> a.jpg"), "{message}");

    // Made up, changed, for another call, or from another server: each is asked about anew.
    let mut other = Server::stateless(&store, folder.path(), &[], asks());
    other.preview();
    let (_, of_other) = question(&mut other, &arguments);
    let another_call = json!({"action": "apply", "reason": "something else"});
    for (arguments, state) in [
        (&arguments, "made up".to_owned()),
        (&arguments, format!("{state}x")),
        (&arguments, of_other),
        (&another_call, state.clone()),
    ] {
        let again = server.request("tools/call", answered(arguments, &state));
        assert_eq!(again["result"]["resultType"], "input_required", "{again}");
        assert_eq!(names(&folder), ["a.jpeg"]);
    }

    // What was pushed since is not what was asked about.
    fs::write(folder.path().join("b.jpeg"), "b").unwrap();
    server.preview();
    let again = server.request("tools/call", answered(&arguments, &state));
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    assert_eq!(names(&folder), ["a.jpeg", "b.jpeg"]);

    let open = store.json(folder.path(), &["pending", "--all"]);
    let mine = open["pending"].as_array().unwrap().iter();
    let mut mine = mine.filter(|it| it["label"] == "Batch rename: 2 files");
    let (_, state) = question(&mut server, &arguments);
    let mut both = answered(&arguments, &state);
    both["inputResponses"]["decision"]["content"]["action"] = mine.next().unwrap()["id"].clone();
    let applied = server.request("tools/call", both.clone());
    assert_eq!(applied["result"]["isError"], false, "{applied}");
    assert_eq!(names(&folder), ["a.jpg", "b.jpg"]);
    let used = server.request("tools/call", both);
    assert_ne!(used["result"]["isError"], false, "{used}");
}

/// The guest chooses the order of its changes.
#[test]
fn a_question_shows_what_is_deleted_among_whatever_is_created() {
    let (store, folder) = (Store::new(), folder(&["zz-keep.txt"]));
    let puppet = guest("puppet");
    let args = [&*puppet];
    let (mut server, _) = Server::initialized(&store, folder.path(), &args, "2025-11-25", asks());
    let apply = json!([
        {"do": "make-many", "path": ".", "count": 1500},
        {"do": "fs", "op": "unlink", "path": "zz-keep.txt"},
    ]);
    let push = json!([{"do": "push", "label": "Tidy", "apply": apply, "quiet": true}]);
    let previewed = server.call("puppet", serde_json::from_str(&steps(push)).unwrap());
    let digest = previewed["_meta"]["airlock/pending"][0]["digest"].clone();
    let (_, asked) = server.begin_asking();
    let message = asked["params"]["message"].as_str().unwrap();
    let rows: Vec<_> = message.lines().collect();
    assert_eq!(
        rows[3],
        r#"Action: "Tidy" of "custom_tool", id "#.to_owned() + id_of(&previewed)
    );
    let digest = &digest.as_str().unwrap()[.."sha256:".len() + 12];
    assert_eq!(rows[4], format!("Plugin: \"puppet\" ({digest})"));
    assert_eq!(rows[5], "Verified by the host: 1500 created, 1 deleted");
    assert_eq!(rows[6], "  │ deleted zz-keep.txt");
    let left_out = "… left out here: 1441 created, 5 rows of contents. All of it: ";
    assert!(rows[66].starts_with(left_out), "{}", rows[66]);
    assert_eq!(rows.len(), 67, "{message}");
}

fn id_of(previewed: &Value) -> &str {
    let id = &previewed["_meta"]["airlock/pending"][0]["id"];
    id.as_str().unwrap()
}

#[test]
fn a_model_decides_where_the_operator_wants_that() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let args = ["--decide", "model"];
    let (mut server, said) =
        Server::initialized(&store, folder.path(), &args, "2025-11-25", asks());
    assert!(
        said["instructions"]
            .as_str()
            .unwrap()
            .contains("You decide.")
    );
    server.preview();
    assert_eq!(server.resolve("apply")["isError"], false);
    assert_eq!(names(&folder), ["a.jpg"]);
    let (name, evidence, reason) = last_decision(&store, folder.path());
    assert_eq!(
        (name, evidence, reason),
        (Value::Null, json!("none"), json!("as asked"))
    );
}

#[test]
fn a_conversation_is_told_how_many_others_wait_and_resolves_none_of_them() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let elsewhere = store.push_rename(folder.path());
    let (mut one, said) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let told = said["instructions"].as_str().unwrap();
    assert!(
        told.contains("1 more action waits in this workspace"),
        "{told}"
    );
    assert!(!told.contains(&elsewhere), "{told}");
    for arguments in [
        json!({"action": "discard", "reason": "r"}),
        json!({"action": "discard", "reason": "r", "id": elsewhere}),
    ] {
        assert_eq!(one.call("resolve", arguments)["isError"], true);
    }
    let open = store.json(folder.path(), &["pending"]);
    assert_eq!(open["pending"][0]["id"], elsewhere.as_str());
}

#[test]
fn of_several_pending_actions_whoever_is_asked_chooses() {
    let check = |chosen: usize, decision: &str, told: &str, left: &[&str]| {
        let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.txt"]));
        let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", asks());
        server.preview();
        let params = json!({"files": ["*.txt"], "find": "txt$", "replace": "md"});
        server.call("batch_rename_preview", params);
        let open = store.json(folder.path(), &["pending", "--all"]);
        let ids = open["pending"].as_array().unwrap().iter();
        let ids: Vec<_> = ids.map(|it| it["id"].clone()).collect();
        let (id, asked) = server.begin_asking();
        let message = asked["params"]["message"].as_str().unwrap();
        for shown in ["renamed a.jpeg -> a.jpg", "renamed b.txt -> b.md"] {
            assert!(message.contains(shown), "{message}");
        }
        let offered = asked["params"]["requestedSchema"]["properties"]["action"].to_string();
        assert!(
            ids.iter().all(|id| offered.contains(&id.to_string())),
            "{offered}"
        );
        let content = json!({"action": ids[chosen], "decision": decision});
        let answer = json!({"action": "accept", "content": content});
        server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
        let said = server.answer(id);
        assert_eq!(said["result"]["isError"], false, "{said}");
        assert!(text(&said["result"]).contains(told), "{said}");
        assert_eq!(names(&folder), left);
        let open = store.json(folder.path(), &["pending", "--all"]);
        let open = open["pending"].as_array().unwrap();
        assert_eq!(open.len(), 1);
        assert_eq!(open[0]["id"], ids[1 - chosen]);
        let by = last_decision(&store, folder.path());
        assert_eq!((by.0, by.1), (json!("user of test"), json!("client")));
    };
    let another = "The user chose another of the pending actions.";
    check(0, "apply", "Applied batch rename", &["a.jpeg", "b.md"]);
    check(1, "apply", another, &["a.jpg", "b.txt"]);
    let discarded = "the user discarded it instead";
    check(0, "discard", discarded, &["a.jpeg", "b.txt"]);
    check(1, "discard", discarded, &["a.jpeg", "b.txt"]);
}
