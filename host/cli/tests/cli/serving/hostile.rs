//! Clients that send what they must not, by mistake or on purpose.

use serde_json::{Value, json};

use super::client::{Calls, Server, asks, error, line, text};
use crate::airlock::{Store, folder, names};

/// The longest line, in bytes.
const MAX_LINE_BYTES: usize = 16 << 20;

/// The error that comes next, which is of no request: its code and its message.
#[track_caller]
fn error_of_nobody(server: &Server) -> (i64, String) {
    let said = server.next();
    assert_eq!(said.get("id"), Some(&Value::Null), "{said}");
    error(&said)
}

/// Previews, and wants that applied: the id of the call, and what is asked because of it.
#[track_caller]
fn asked(server: &mut Server) -> (u64, Value) {
    server.preview();
    let arguments = json!({"action": "apply", "reason": "as asked"});
    let call = json!({"name": "resolve", "arguments": arguments});
    let id = server.begin("tools/call", call);
    let asked = server.next();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    (id, asked)
}

#[test]
fn each_line_that_is_no_message_is_answered() {
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    for (line, code, told) in [
        ("nonsense", -32700, "not JSON"),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1", -32700, "not JSON"),
        ("{\"jsonrpc\": \"2.0\"}", -32600, "`method`"),
        ("[]", -32600, "batches"),
        ("7", -32600, "an object"),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 1.5, \"method\": \"ping\"}",
            -32600,
            "`id`",
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\"}",
            -32600,
            "`id`",
        ),
    ] {
        server.write(&format!("{line}\n"));
        let (was, message) = error_of_nobody(&server);
        assert_eq!(was, code, "{line}: {message}");
        assert!(message.contains(told), "{line}: {message}");
    }
    server.write("{\"jsonrpc\": \"1.0\", \"id\": \"a\", \"method\": \"ping\"}\n");
    let said = server.next();
    assert_eq!(said["id"], "a", "{said}");
    assert_eq!(error(&said).0, -32600);
    // Notifications are never answered, and an empty line is nothing.
    server
        .write("\n\r\n{\"jsonrpc\": \"2.0\", \"method\": \"window/logMessage\", \"params\": 7}\n");

    let too_long = format!("{}\n", "x".repeat(MAX_LINE_BYTES + 1));
    server.write(&too_long);
    let (code, message) = error_of_nobody(&server);
    assert_eq!(code, -32600);
    let told = format!(
        "is {} bytes; the limit is {MAX_LINE_BYTES}",
        MAX_LINE_BYTES + 1
    );
    assert!(message.contains(&told), "{message}");
    assert!(server.request("ping", json!({}))["result"].is_object());
}

#[test]
fn errors_of_nobody_have_no_id_in_the_last_version() {
    let (store, folder) = (Store::new(), folder(&[]));
    let mut server = Server::stateless(&store, folder.path(), &[], json!({}));
    server.request("tools/list", json!({}));
    server.write("nonsense\n");
    let said = server.next();
    assert_eq!(error(&said).0, -32700);
    assert!(said.get("id").is_none(), "{said}");
}

#[test]
fn params_that_do_not_fit_their_method_are_told_by_name() {
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    for (params, told) in [
        (json!({}), "`params.name` is missing"),
        (json!({"name": 7}), "`params.name` is a number"),
        (
            json!({"name": "resolve", "arguments": [1]}),
            "`params.arguments` is an array; expected an object",
        ),
        (
            json!({"name": "resolve", "arguments": "{}"}),
            "`params.arguments` is a string; expected an object",
        ),
        (
            json!({"name": "resolve", "_meta": []}),
            "`params._meta` is an array; expected an object",
        ),
        (json!([]), "`params` is an array; expected an object"),
    ] {
        let (code, message) = error(&server.request("tools/call", params));
        assert_eq!(code, -32602, "{message}");
        assert!(message.contains(told), "{message}");
    }
    let id = 500;
    server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call"}));
    let (code, message) = error(&server.answer(id));
    assert_eq!(
        (code, message.contains("`params` is missing")),
        (-32602, true)
    );
    let unknown = server.request("tools/nonsense", json!({}));
    assert_eq!(error(&unknown).0, -32601);

    // Nor does a handshake end the connection, that can't be read.
    let mut server = Server::start(&store, folder.path(), &[]);
    let (code, message) = error(&server.request("initialize", json!({"capabilities": {}})));
    assert_eq!(code, -32602);
    assert!(
        message.contains("`params.protocolVersion` is missing"),
        "{message}"
    );
}

#[test]
fn a_conversation_begins_once() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    server.preview();
    let asking = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": asks(),
        "clientInfo": {"name": "another", "version": "1"},
    });
    let (code, message) = error(&server.request("initialize", asking.clone()));
    assert_eq!(code, -32600);
    assert!(message.contains("once"), "{message}");
    // It still can't ask anybody.
    let refused = server.resolve("apply");
    assert!(text(&refused).contains("in a terminal"), "{refused}");

    let mut server = Server::stateless(&store, folder.path(), &[], json!({}));
    server.request("tools/list", json!({}));
    let (code, message) = error(&server.request("initialize", asking));
    assert_eq!(code, -32600);
    assert!(message.contains("without `initialize`"), "{message}");
}

#[test]
fn one_that_asks_first_whether_it_needs_a_handshake_can_still_have_it() {
    let (store, folder) = (Store::new(), folder(&[]));
    let mut server = Server::start(&store, folder.path(), &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discovered = server.request("server/discover", json!({"_meta": meta}));
    assert!(discovered["result"].is_object(), "{discovered}");
    // As of one that has waited for that long enough.
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1},
    }));
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let said = server.request("initialize", params);
    assert_eq!(said["result"]["protocolVersion"], "2025-11-25", "{said}");
}

#[test]
fn an_id_that_is_in_use_names_the_first_request_alone() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", asks());
    let (id, asked) = asked(&mut server);
    server.write(&line(id, "tools/list"));
    // With the id it would be taken for the answer to the first.
    let (code, message) = error_of_nobody(&server);
    assert_eq!(code, -32600);
    assert!(message.contains(&format!("id {id} ")), "{message}");
    let answer = json!({"action": "accept", "content": {"decision": "apply"}});
    server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
    let said = server.answer(id);
    assert_eq!(said["result"]["isError"], false, "{said}");
    assert_eq!(names(&folder), ["a.jpg"]);
    // What was answered leaves its id to others.
    server.write(&line(id, "tools/list"));
    assert!(server.answer(id)["result"]["tools"].is_array());
}

#[test]
fn a_reason_has_a_limit_from_whomever_it_comes() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", asks());
    server.preview();
    let long = "x".repeat(5_000_000);
    for action in ["apply", "discard"] {
        let refused = server.call("resolve", json!({"action": action, "reason": long}));
        assert_eq!(refused["isError"], true);
        let told = text(&refused);
        assert!(
            told.contains("is 5000000 bytes; the limit is 4096"),
            "{told}"
        );
    }
    let extra = json!({"action": "apply", "reason": "r", "extra": {"x": long}});
    let told = text(&server.call("resolve", extra));
    assert!(told.contains("bytes; the limit is 1048576"), "{told}");
    for decision in ["apply", "discard"] {
        let arguments = json!({"action": "apply", "reason": "short"});
        let call = json!({"name": "resolve", "arguments": arguments});
        let id = server.begin("tools/call", call);
        let asked = server.next();
        let content = json!({"decision": decision, "reason": long});
        let answer = json!({"action": "accept", "content": content});
        server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
        let told = text(&server.answer(id)["result"]);
        assert!(
            told.contains("is 5000000 bytes; the limit is 4096"),
            "{told}"
        );
    }
    assert_eq!(names(&folder), ["a.jpeg"]);
    let open = store.json(folder.path(), &["pending", "--all"]);
    assert_eq!(open["pending"].as_array().unwrap().len(), 1);
}

#[test]
fn a_command_that_a_model_hears_finds_the_store_from_anywhere() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let named = folder.path().join("x.db");
    let named = named.canonicalize().unwrap_or(named);
    for args in [&["--store", "x.db"][..], &[]] {
        let (mut server, _) =
            Server::initialized(&store, folder.path(), args, "2025-11-25", json!({}));
        server.preview();
        let refused = text(&server.resolve("apply"));
        let of_store = match args {
            [] => store.path(),
            _ => named.clone(),
        };
        let told = format!("--store {}", of_store.display());
        assert!(refused.contains(&told), "{refused}");
    }
}
