//! `airlock serve --http`: who is let in, and whose stack is whose.

mod limits;
mod metrics;
mod quirks;
mod tokens;
pub mod web;

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use super::client::{Calls, asks, text};
use crate::airlock::{Store, folder, guest, names};
use web::{ANN, BEN, Client, READER, Web, head, read_answer};

/// One of each era.
fn both_eras(web: &Web) -> [Client; 2] {
    [web.session(ANN, json!({})), web.client(ANN)]
}

#[test]
fn both_eras_preview_and_a_named_action_is_resolved_from_either() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, folder.path(), &["--decide", "model"]);
    for mut client in both_eras(&web) {
        assert!(client.tools().contains(&"resolve".to_owned()));
        let id = client.previewed_id();
        assert_eq!(names(&folder), ["a.jpeg"]);
        let discarded = client.resolve("discard", Some(&id));
        assert_eq!(discarded["isError"], false, "{discarded}");
    }
    let [mut session, mut request] = both_eras(&web);
    let id = session.previewed_id();
    let applied = request.resolve("apply", Some(&id));
    assert_eq!(applied["isError"], false, "{applied}");
    assert_eq!(names(&folder), ["a.jpg"]);
    assert_eq!(web.end(), Some(0));
}

#[test]
fn no_principal_sees_or_resolves_what_is_anothers() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, folder.path(), &["--decide", "model"]);
    let discovered = web.client(ANN).request("server/discover", json!({}));
    let given = discovered["result"]["_meta"]["airlock/session"].clone();
    let mut anns = both_eras(&web);
    anns[1].conversation = Some(given.as_str().unwrap().to_owned());
    let ids = [anns[0].previewed_id(), anns[1].previewed_id()];
    for mut ben in [web.session(BEN, json!({})), web.client(BEN)] {
        for id in ids.iter().map(|it| Some(it.as_str())).chain([None]) {
            for decision in ["apply", "discard"] {
                let said = ben.resolve(decision, id);
                let told = text(&said);
                assert!(!told.contains("Batch rename"), "{said}");
                let is_nothing = told.contains("o pending action");
                // Of its own conversations it has two.
                assert!(is_nothing || told.contains("you have 2"), "{said}");
            }
        }
    }
    // Nor by what was given to another.
    let mut ben = web.client(BEN);
    ben.session = anns[0].session.clone();
    assert_eq!(read_answer(ben.begin("tools/list", json!({}))).status, 404);
    let mut ben = web.client(BEN);
    ben.conversation = anns[1].conversation.clone();
    let params = json!({"files": ["*"], "find": "a", "replace": "b"});
    let call = json!({"name": "batch_rename_preview", "arguments": params});
    let refused = ben.request("tools/call", call.clone());
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    // Nor by one that nobody gave.
    for forged in ["", "ann", "rs1.AAAA.BBBB"] {
        ben.conversation = Some(forged.to_owned());
        let refused = ben.request("tools/call", call.clone());
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let pending = store.json(folder.path(), &["pending"]);
    assert_eq!(pending["pending"].as_array().unwrap().len(), 2);
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn resolve_is_there_only_for_who_may_decide() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, folder.path(), &["--decide", "model"]);
    let all = web.client(ANN).tools();
    for mut reader in [web.session(READER, json!({})), web.client(READER)] {
        let mut listed = reader.tools();
        listed.push("resolve".to_owned());
        assert_eq!(listed, all);
        reader.previewed_id();
        let arguments = json!({"action": "apply", "reason": "mine"});
        let call = json!({"name": "resolve", "arguments": arguments});
        let refused = reader.request("tools/call", call);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn resolve_needs_an_id_where_several_could_be_meant() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, folder.path(), &["--decide", "model"]);
    let mut ann = web.client(ANN);
    let first = ann.previewed_id();
    let second = ann.previewed_id();
    let refused = ann.resolve("discard", None);
    assert_eq!(refused["isError"], true);
    for id in [&first, &second] {
        assert!(text(&refused).contains(id), "{refused}");
    }
    ann.resolve("discard", Some(&first));
    // One is left, and one conversation: it is meant.
    let mut other = web.client(ANN);
    assert_eq!(other.resolve("discard", None)["isError"], false);
    let third = ann.previewed_id();
    let mut session = web.session(ANN, json!({}));
    session.previewed_id();
    let refused = ann.resolve("apply", None);
    assert!(text(&refused).contains("2 conversations"), "{refused}");
    // A session that its client ends is none any more.
    let more = [("Mcp-Session-Id", session.session.as_deref().unwrap())];
    let mut stream = web.connect();
    std::io::Write::write_all(&mut stream, head("DELETE", ANN, 0, &more).as_bytes()).unwrap();
    assert_eq!(read_answer(stream).status, 204);
    assert_eq!(read_answer(session.begin("ping", json!({}))).status, 404);
    let mut applied = ann.resolve("apply", None);
    while applied["isError"] == true {
        // It ends once what was under way in it has ended.
        applied = ann.resolve("apply", None);
    }
    assert!(text(&applied).contains("Applied"), "{applied}");
    let log = store.json(folder.path(), &["log", "--all"]);
    assert_eq!(log["log"][0]["id"], third.as_str());
}

#[test]
fn a_client_is_asked_over_http_and_the_record_names_its_principal() {
    let answer = json!({"action": "accept", "content": {"decision": "apply"}});
    let decided_by = |store: &Store, folder: &std::path::Path| {
        let log = store.json(folder, &["log", "--all"]);
        log["log"][0]["resolved"]["decidedBy"].clone()
    };
    let expected = json!({"name": "user of test (ann)", "evidence": "client"});
    // While the call waits.
    let (store, files) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, files.path(), &[]);
    let mut ann = web.session(ANN, asks());
    ann.preview();
    let arguments = json!({"action": "apply", "reason": "the model's"});
    let call = json!({"name": "resolve", "arguments": arguments});
    let stream = BufReader::new(ann.begin("tools/call", call.clone()));
    let mut messages = stream.lines().filter_map(|line| {
        let line = line.unwrap();
        let data = line.strip_prefix("data: ")?;
        serde_json::from_str::<Value>(data).ok()
    });
    let asked = messages.next().unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    // Another principal's answer is none.
    let said = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
    let mut ben = web.session(BEN, asks());
    ben.post(&[], &said);
    ben.session = ann.session.clone();
    assert_eq!(ben.post(&[], &said).status, 404);
    assert_eq!(names(&files), ["a.jpeg"]);
    assert_eq!(ann.post(&[], &said).status, 202);
    let applied = messages.next().unwrap();
    assert_eq!(applied["result"]["isError"], false, "{applied}");
    assert_eq!(names(&files), ["a.jpg"]);
    let by = decided_by(&store, files.path());
    assert_eq!(
        (&by["name"], &by["evidence"]),
        (&expected["name"], &expected["evidence"])
    );
    // By a second call, with the state that came with the question.
    let (store, files) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, files.path(), &[]);
    let mut ann = web.client(ANN);
    ann.capabilities = asks();
    let id = ann.previewed_id();
    let mut call = call;
    call["arguments"]["id"] = id.into();
    let asked = ann.request("tools/call", call.clone())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    call["requestState"] = asked["requestState"].clone();
    call["inputResponses"] = json!({"decision": answer});
    let mut ben = web.client(BEN);
    ben.capabilities = asks();
    let refused = ben.request("tools/call", call.clone());
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(names(&files), ["a.jpeg"]);
    let applied = ann.request("tools/call", call);
    assert_eq!(applied["result"]["isError"], false, "{applied}");
    let by = decided_by(&store, files.path());
    assert_eq!(
        (&by["name"], &by["evidence"]),
        (&expected["name"], &expected["evidence"])
    );
}

#[test]
fn what_a_tool_keeps_in_memory_ends_with_its_conversation_and_the_rest_stays() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let puppet = guest("puppet");
    let web = Web::start(&store, folder.path(), &[&puppet, "batch-rename"]);
    let mut ann = web.session(ANN, json!({}));
    let script = crate::airlock::steps(
        json!([{"do": "push", "label": "Volatile", "volatile": true, "quiet": true}]),
    );
    let script: Value = serde_json::from_str(&script).unwrap();
    let pushed = ann.call("puppet", script);
    assert_eq!(pushed["isError"], false, "{pushed}");
    ann.preview();
    assert_eq!(web.end(), Some(0));
    let open = store.json(folder.path(), &["pending"]);
    let open = open["pending"].as_array().unwrap();
    let labels: Vec<_> = open.iter().map(|it| it["label"].clone()).collect();
    assert_eq!(labels, ["Batch rename: 1 files"]);
    let log = store.json(folder.path(), &["log", "--all"]);
    let reason = log["log"][0]["resolved"]["reason"].as_str().unwrap();
    assert!(reason.contains("its conversation ended"), "{log}");
}

#[test]
fn the_log_has_the_trace_that_a_call_is_a_part_of() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, folder.path(), &["-vv"]);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
    let params = json!({"files": ["*"], "find": "a", "replace": "b"});
    let call = json!({"name": "batch_rename_preview", "arguments": params, "_meta": {"traceparent": trace}});
    web.client(ANN).request("tools/call", call);
    let is_of_it = |line: &String| line.contains(trace) && line.contains("test (ann)");
    let mut said = std::iter::from_fn(|| web.said.recv_timeout(web::DEADLINE).ok());
    assert!(said.any(|line| is_of_it(&line)));
}
