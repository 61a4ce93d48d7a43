//! Decisions that come after the call that asked for them has ended.

use std::time::Instant;

use serde_json::{Value, json};

use super::client::{Calls, Server, asks, text};
use super::deciding::last_decision;
use super::http::web::DEADLINE;
use crate::airlock::{Store, folder, guest, names, steps};

fn cancel(server: &mut Server, id: u64) {
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
    }));
}

fn answer(server: &mut Server, asked: &Value, decision: &str) {
    let accepted = json!({"action": "accept", "content": {"decision": decision}});
    server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": accepted}));
}

/// What the model hears of the answer, with one of its next calls.
#[track_caller]
fn told(server: &mut Server) -> String {
    let begun = Instant::now();
    while begun.elapsed() < DEADLINE {
        let listed = text(&server.call("list_pending", json!({})));
        if listed.contains("has answered since") {
            return listed;
        }
    }
    panic!("the model hears nothing of it");
}

/// A client's limit for a call is often shorter than a person's thinking.
#[test]
fn an_answer_that_comes_after_its_call_has_ended_counts_and_is_told_with_the_next_call() {
    for (decision, said, left) in [
        ("apply", "Applied batch rename", "a.jpg"),
        ("discard", "discarded it instead", "a.jpeg"),
    ] {
        let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
        let patience = ["--answer-within", "0.2"];
        let (mut server, _) =
            Server::initialized(&store, folder.path(), &patience, "2025-06-18", asks());
        server.preview();
        let (id, asked) = server.begin_asking();
        let ended = server.answer(id)["result"].clone();
        assert!(text(&ended).contains("is still being asked"), "{ended}");
        // There is no second question.
        let again = server.resolve("apply");
        assert!(text(&again).contains("is still being asked"), "{again}");
        assert_eq!(names(&folder), ["a.jpeg"]);

        answer(&mut server, &asked, decision);
        let told = told(&mut server);
        assert!(told.contains(said), "{told}");
        assert_eq!(names(&folder), [left]);
        let (_, evidence, _) = last_decision(&store, folder.path());
        assert_eq!(evidence, "client");
        let nothing = text(&server.call("list_pending", json!({})));
        assert_eq!(nothing, "Nothing is pending.");
    }
}

/// A client that has reached its own limit cancels the call, and still shows the question.
#[test]
fn an_answer_counts_and_is_told_though_the_client_has_cancelled_the_call_that_asked() {
    for (decision, said, left) in [
        ("apply", "Applied batch rename", "a.jpg"),
        ("discard", "discarded it instead", "a.jpeg"),
        ("later", "leaves it pending", "a.jpeg"),
    ] {
        let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
        let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", asks());
        server.preview();
        let (id, asked) = server.begin_asking();
        cancel(&mut server, id);
        // The server has heard of it, and nothing is decided.
        let listed = text(&server.call("list_pending", json!({})));
        assert!(listed.contains("Batch rename"), "{listed}");
        assert_eq!(names(&folder), ["a.jpeg"]);

        answer(&mut server, &asked, decision);
        let told = told(&mut server);
        assert!(told.contains(said), "{told}");
        assert_eq!(names(&folder), [left]);
        if decision != "later" {
            assert_eq!(last_decision(&store, folder.path()).1, "client");
        }
        let next = text(&server.call("list_pending", json!({})));
        assert!(!next.contains("has answered since"), "{next}");
        // No question is open any more: the next one is asked.
        if decision == "later" {
            server.begin_asking();
        }
    }
}

/// A client drops the result of a call that it has cancelled.
#[test]
fn an_outcome_is_not_told_to_a_call_that_its_client_has_cancelled() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let puppet = guest("puppet");
    let args = [&*puppet, "batch-rename", "--answer-within", "0.2"];
    let (mut server, _) = Server::initialized(&store, folder.path(), &args, "2025-11-25", asks());
    server.preview();
    let (id, asked) = server.begin_asking();
    server.answer(id);

    let script = json!([
        {"do": "progress", "message": "begun"},
        {"do": "spin-until-cancelled"},
    ]);
    let script: Value = serde_json::from_str(&steps(script)).unwrap();
    let call = json!({"name": "puppet", "arguments": script, "_meta": {"progressToken": "p"}});
    let spinning = server.begin("tools/call", call);
    assert_eq!(server.next()["method"], "notifications/progress");
    answer(&mut server, &asked, "apply");
    // The outcome is there once a program that begins later finds the decision in the log.
    let applied = (0..1000).any(|_| {
        let log = store.json(folder.path(), &["log", "--all"]);
        log["log"][0]["resolved"].is_object()
    });
    assert!(applied, "the answer counts");
    store.json(folder.path(), &["log", "--all"]);
    cancel(&mut server, spinning);
    // One plugin's calls come one after the other, so this one ends after the cancelled one.
    let quick = json!([{"do": "text", "text": "free"}]);
    let quick: Value = serde_json::from_str(&steps(quick)).unwrap();
    let mut heard = text(&server.call("puppet", quick));
    if !heard.contains("has answered since") {
        heard = told(&mut server);
    }
    assert!(heard.contains("Applied batch rename"), "{heard}");
}
