//! What clients over HTTP send that others don't.

use std::io::Write;

use serde_json::{Value, json};

use super::web::{ANN, Answer, Client, Web, head, read_answer};
use crate::airlock::{Store, folder};
use crate::serving::client::{Calls, text};

fn initialize(client: &Client, more: &[(&str, &str)], version: &str) -> Answer {
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "quirky", "version": "1"},
    }});
    client.post(more, &message)
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

#[test]
fn initialize_begins_a_session_whatever_session_was_before() {
    let (store, folder) = (Store::new(), folder(&[]));
    let web = Web::start(&store, folder.path(), &[]);
    let client = web.client(ANN);
    let stale = [("Mcp-Session-Id", "old")];
    let begun = initialize(&client, &stale, "2025-06-18");
    assert_eq!(begun.status, 200, "{begun:?}");
    let session = begun.header("mcp-session-id").expect("a session");
    assert_ne!(session, "old");
    // One that is there is none of the new one's.
    let live = [("Mcp-Session-Id", &*session)];
    let again = initialize(&client, &live, "2025-06-18");
    assert_eq!(again.status, 200, "{again:?}");
    assert_ne!(again.header("mcp-session-id"), Some(session));
    assert_eq!(client.post(&stale, &ping(1)).status, 404);
}

#[test]
fn wildcards_are_accepted_for_what_the_transport_sends() {
    let (store, folder) = (Store::new(), folder(&[]));
    let web = Web::start(&store, folder.path(), &[]);
    let client = web.client(ANN);
    for (accept, status) in [
        ("*/*", 200),
        ("application/*, text/*", 200),
        ("application/json", 406),
        ("text/html", 406),
    ] {
        let begun = initialize(&client, &[("Accept", accept)], "2025-06-18");
        assert_eq!(begun.status, status, "{accept}: {begun:?}");
    }
}

#[test]
fn half_a_surrogate_pair_is_answered_with_the_id_of_its_request() {
    let (store, folder) = (Store::new(), folder(&[]));
    let web = Web::start(&store, folder.path(), &[]);
    let body =
        r#"{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"\ud83d"}}"#;
    let mut stream = web.connect();
    let request = head("POST", ANN, body.len(), &[]) + body;
    stream.write_all(request.as_bytes()).unwrap();
    let refused = read_answer(stream);
    assert_eq!(refused.status, 400, "{refused:?}");
    let refused = &refused.messages()[0];
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(4), &json!(-32602))
    );
}

#[test]
fn batches_are_answered_in_sessions_of_the_one_version_that_has_them() {
    let (store, folder) = (Store::new(), folder(&[]));
    let web = Web::start(&store, folder.path(), &[]);
    let mut client = web.client(ANN);
    client.session = initialize(&client, &[], "2025-03-26").header("mcp-session-id");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let accepted = client.post(&[], &json!([initialized]));
    assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
    let answered = client.post(&[], &json!([ping(1), initialized, ping(2)]));
    assert_eq!(answered.status, 200, "{answered:?}");
    let ids: Vec<_> = answered
        .messages()
        .iter()
        .map(|it| it["id"].clone())
        .collect();
    assert_eq!(ids, [1, 2]);

    let later = [("MCP-Protocol-Version", "2025-06-18")];
    assert_eq!(client.post(&later, &json!([ping(3)])).status, 400);
    for refused in [
        json!([]),
        json!([7]),
        json!([{"jsonrpc": "2.0", "id": 1, "method": "initialize"}]),
    ] {
        assert_eq!(client.post(&[], &refused).status, 400, "{refused}");
    }
    client.session = None;
    assert_eq!(client.post(&[], &json!([ping(4)])).status, 400);
}

#[test]
fn a_list_of_what_waits_says_whose_each_action_is() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, folder.path(), &["--decide", "model"]);
    // Two with one token: one in a separate session, one in the principal's conversation.
    let mut session = web.client(ANN);
    session.session = initialize(&session, &[], "2025-06-18").header("mcp-session-id");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    session.post(&[], &initialized);
    let mut other = web.client(ANN);
    let (quirkys, tests) = (session.previewed_id(), other.previewed_id());

    let listed = session.call("list_pending", json!({}));
    let pending = listed["structuredContent"]["pending"].as_array().unwrap();
    let of = |id: &str| pending.iter().find(|it| it["id"] == id).unwrap();
    assert_eq!(of(&quirkys)["client"], "quirky (ann)");
    assert_eq!(of(&quirkys)["inThisConversation"], true);
    assert_eq!(of(&tests)["client"], "test (ann)");
    assert_eq!(of(&tests)["inThisConversation"], false);
    let told = text(&session.resolve("apply", None));
    assert!(told.contains("previewed by quirky (ann)"), "{told}");
    assert!(
        told.contains("previewed by test (ann), in another conversation"),
        "{told}"
    );
}

#[test]
fn whether_the_server_is_up_is_answered_without_a_token_and_nothing_else_is() {
    let (store, folder) = (Store::new(), folder(&[]));
    let web = Web::start(&store, folder.path(), &[]);
    for (request, status) in [
        ("GET /healthz", 200),
        ("POST /healthz", 404),
        ("GET /mcp", 401),
        ("GET /", 404),
    ] {
        let mut stream = web.connect();
        let head = format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        assert_eq!(read_answer(stream).status, status, "{request}");
    }
}
