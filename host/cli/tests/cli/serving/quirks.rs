//! What clients and models send and take that is not as the schemas have it.

use serde_json::{Value, json};

use super::client::{Calls, Server, error, text};
use crate::airlock::{Store, folder, guest, names};

#[test]
fn schemas_have_nothing_that_clients_refuse() {
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let listed = server.request("tools/list", json!({}));
    let listed = &listed["result"]["tools"];
    let all = listed.to_string();
    for refused in ["\"$schema\"", "\"uint", "\"int64\""] {
        assert!(!all.contains(refused), "{refused} in {all}");
    }
    for tool in listed.as_array().unwrap() {
        assert_has_properties(&tool["inputSchema"]);
        for refused in ["oneOf", "anyOf", "allOf"] {
            assert!(tool["inputSchema"].get(refused).is_none(), "{tool}");
        }
    }
}

fn assert_has_properties(schema: &Value) {
    if schema["type"] == "object" {
        assert!(schema["properties"].is_object(), "{schema}");
    }
    match schema {
        Value::Object(members) => members.values().for_each(assert_has_properties),
        Value::Array(items) => items.iter().for_each(assert_has_properties),
        _ => {}
    }
}

#[test]
fn arguments_are_taken_as_clients_send_them() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let args = ["--decide", "model"];
    let (mut server, _) =
        Server::initialized(&store, folder.path(), &args, "2025-11-25", json!({}));
    // An array as text, as Claude Code sends it.
    let texts = json!({"files": "[\"*.jpeg\"]", "find": "jpeg$", "replace": "jpg"});
    let previewed = server.call("batch_rename_preview", texts);
    assert_eq!(previewed["isError"], false, "{previewed}");
    // `null` for an optional param, and an empty id.
    for id in [Value::Null, json!("")] {
        let discard = json!({"action": "discard", "reason": "r", "id": id, "extra": null});
        let resolved = server.call("resolve", discard);
        assert_eq!(resolved["isError"], false, "{resolved}");
        server.preview();
    }
    // A float for an integer.
    let floats = json!({"ops": [{"pat": "a", "out": "b"}], "limit": 2.0});
    let refused = text(&server.call("ast_edit", floats));
    assert!(!refused.contains("2.0"), "{refused}");
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn what_is_pending_is_listed_with_who_previewed_it() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let nothing = server.call("list_pending", json!({}));
    assert_eq!(text(&nothing), "Nothing is pending.");
    let previewed = server.preview();
    let id = &previewed["_meta"]["airlock/pending"][0]["id"];
    let listed = server.call("list_pending", json!({}));
    let told = text(&listed);
    assert!(told.starts_with("1 action is pending:\n"), "{told}");
    assert!(told.contains(id.as_str().unwrap()), "{told}");
    assert!(told.contains("previewed by test"), "{told}");
    let pending = &listed["structuredContent"]["pending"];
    assert_eq!(pending[0]["id"], *id);
    assert_eq!(pending[0]["client"], "test");
    assert_eq!(pending[0]["sourceToolName"], "batch_rename_preview");
    server.resolve("discard");
    let nothing = server.call("list_pending", json!({}));
    assert_eq!(nothing["structuredContent"]["count"], 0, "{nothing}");
}

#[test]
fn other_tools_are_skipped_while_a_preview_is_pending_if_the_operator_wants_that() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let args = ["--skip-while-pending"];
    let (mut server, _) =
        Server::initialized(&store, folder.path(), &args, "2025-11-25", json!({}));
    assert_eq!(server.preview()["isError"], false);
    let skipped = server.preview();
    assert_eq!(skipped["isError"], true, "{skipped}");
    let told = text(&skipped);
    assert!(
        told.starts_with("Skipped") && told.contains("`resolve`"),
        "{told}"
    );
    let listed = server.call("list_pending", json!({}));
    assert_eq!(listed["structuredContent"]["count"], 1, "{listed}");
    assert_eq!(server.resolve("discard")["isError"], false);
    assert_eq!(server.preview()["isError"], false);

    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    for _ in 0..2 {
        assert_eq!(server.preview()["isError"], false);
    }
}

#[test]
fn half_a_surrogate_pair_is_answered_with_the_id_of_its_request() {
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let call = r#"{"jsonrpc":"2.0","id":400,"method":"tools/call","params":{"name":"batch_rename_preview","arguments":{"files":["\ud83d"],"find":"a","replace":"b"}}}"#;
    server.write(&format!("{call}\n"));
    let (code, told) = error(&server.answer(400));
    assert_eq!(code, -32602);
    assert!(told.contains("surrogate"), "{told}");
}

#[test]
fn batches_are_answered_in_the_one_version_that_has_them() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let batch = |items: Value| format!("{items}\n");
    let ping = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-03-26", json!({}));
    let preview = json!({"jsonrpc": "2.0", "id": 500, "method": "tools/call", "params": {
        "name": "batch_rename_preview",
        "arguments": {"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"},
    }});
    server.write(&batch(json!([ping(501), preview, note, 7])));
    let answers = server.next();
    let answers = answers.as_array().expect("a batch");
    assert_eq!(answers.len(), 3, "{answers:?}");
    let of = |id: Value| answers.iter().find(|it| it["id"] == id).unwrap();
    assert_eq!(of(json!(500))["result"]["isError"], false);
    assert!(of(json!(501))["result"].is_object());
    assert_eq!(of(Value::Null)["error"]["code"], -32600);
    // Nothing answers notifications, and what comes next is answered alone.
    server.write(&batch(json!([note])));
    assert!(server.request("ping", json!({}))["result"].is_object());
    // One of a batch that is cancelled is not waited for.
    let puppet = guest("puppet");
    let (mut server, _) =
        Server::initialized(&store, folder.path(), &[&puppet], "2025-03-26", json!({}));
    let spin = json!({"jsonrpc": "2.0", "id": 600, "method": "tools/call", "params": {
        "name": "puppet", "arguments": {"steps": [{"do": "spin"}]},
    }});
    server.write(&batch(json!([ping(601), spin])));
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 600},
    }));
    let answers = server.next();
    assert_eq!(answers.as_array().map(Vec::len), Some(1), "{answers}");
    assert_eq!(answers[0]["id"], 601);

    server.write(&batch(json!([])));
    assert_eq!(error(&server.next()).0, -32600);
    let many: Vec<_> = (1000..1065).map(ping).collect();
    server.write(&batch(json!(many)));
    assert_eq!(error(&server.next()).0, -32600);
    let many: Vec<_> = (1000..1064).map(ping).collect();
    server.write(&batch(json!(many)));
    assert_eq!(server.next().as_array().map(Vec::len), Some(64));

    for version in ["2024-11-05", "2025-06-18"] {
        let (mut server, _) = Server::initialized(&store, folder.path(), &[], version, json!({}));
        server.write(&batch(json!([ping(700)])));
        assert_eq!(error(&server.next()).0, -32600);
    }
}
