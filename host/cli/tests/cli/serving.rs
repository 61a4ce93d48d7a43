//! `airlock serve`, as a client speaks with it. Clients that others wrote are in `tests/mcp`.

pub mod client;
mod deciding;
mod files;
mod framing;
mod hostile;
mod http;
mod late;
mod quirks;
mod reloading;
mod tasks;
mod unread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::airlock::{RENAME, Store, folder, guest, names, short, steps};
use client::{Calls, Server, text, words};

#[test]
fn each_version_of_the_protocol_is_spoken_and_the_last_needs_no_handshake() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
        let (mut server, said) =
            Server::initialized(&store, folder.path(), &[], version, json!({}));
        assert_eq!(said["protocolVersion"], version);
        assert_eq!(said["serverInfo"]["name"], "airlock");
        let listed = server.request("tools/list", json!({}))["result"]["tools"].clone();
        assert_eq!(listed.as_array().unwrap().len(), 19, "{listed}");
        let previewed = server.preview();
        assert!(previewed.get("resultType").is_none(), "{previewed}");
        assert_eq!(server.end(), 0);
    }
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let mut server = Server::stateless(&store, folder.path(), &[], json!({}));
    let discovered = server.request("server/discover", json!({}))["result"].clone();
    let versions = discovered["supportedVersions"].to_string();
    assert!(versions.contains("2026-07-28"), "{discovered}");
    let listed = server.request("tools/list", json!({}))["result"].clone();
    assert!(
        listed["ttlMs"].is_number() && listed["cacheScope"].is_string(),
        "{listed}"
    );
    assert_eq!(server.preview()["resultType"], "complete");
    assert_eq!(server.end(), 0);
}

#[test]
fn every_tool_but_resolve_is_read_only_and_previews_whatever_its_apply_does() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let listed = server.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in listed.as_array().unwrap() {
        let changes = tool["name"] == "resolve";
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], !changes, "{tool}");
        assert_eq!(hints["destructiveHint"], changes, "{tool}");
        assert!(tool["title"].is_string() && tool["inputSchema"]["type"] == "object");
    }
    let previewed = server.preview();
    let first = previewed["content"][0]["text"].as_str().unwrap();
    assert!(
        first.starts_with("Preview only, nothing has changed yet: 1 action is pending."),
        "{first}"
    );
    assert!(
        first.contains("Verified by the host: 1 renamed."),
        "{first}"
    );
    let pending = &previewed["_meta"]["airlock/pending"][0];
    assert!(first.contains(pending["id"].as_str().unwrap()));
    assert_eq!(pending["effects"]["changes"][0]["path"], "a.jpg");
    // Some clients give the model only that, and there it would read like finished work.
    assert_eq!(previewed.get("structuredContent"), None, "{previewed}");
    assert_eq!(names(&folder), ["a.jpeg"]);
    let again = server.request("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(again, listed);
}

#[test]
fn a_tool_reports_its_progress_and_a_cancelled_call_stops_its_guest() {
    let (store, folder) = (Store::new(), folder(&[]));
    let puppet = guest("puppet");
    let (mut server, _) =
        Server::initialized(&store, folder.path(), &[&puppet], "2025-11-25", json!({}));
    let script = |script: Value| serde_json::from_str::<Value>(&steps(script)).unwrap();
    let progress =
        |at: f64| json!({"do": "progress", "message": "on it", "progress": at, "total": 2.0});
    let steps_ = script(json!([progress(1.0), progress(1.0), {"do": "text", "text": "done"}]));
    let params = json!({"name": "puppet", "arguments": steps_, "_meta": {"progressToken": "p"}});
    let id = server.begin("tools/call", params);
    let mut last = 0.0;
    for _ in 0..2 {
        let told = server.next();
        assert_eq!(told["method"], "notifications/progress", "{told}");
        assert_eq!(
            (&told["params"]["progressToken"], &told["params"]["message"]),
            (&json!("p"), &json!("on it"))
        );
        let at = told["params"]["progress"].as_f64().unwrap();
        assert!(at > last, "{told}");
        last = at;
    }
    assert_eq!(words(&server.answer(id)["result"]), "done");

    let spin = script(json!([{"do": "spin"}]));
    let id = server.begin("tools/call", json!({"name": "puppet", "arguments": spin}));
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
    }));
    // The plugin's only instance is free again, long before the call's own time is up.
    let quick = script(json!([{"do": "text", "text": "free"}]));
    assert_eq!(words(&server.call("puppet", quick)), "free");
}

#[test]
fn what_can_not_be_routed_is_the_protocols_error_and_all_else_is_for_the_model() {
    let (store, folder) = (Store::new(), folder(&[]));
    let puppet = guest("puppet");
    let (mut server, _) =
        Server::initialized(&store, folder.path(), &[&puppet], "2025-11-25", json!({}));
    let unknown = server.request("tools/call", json!({"name": "nope", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for method in ["prompts/list", "resources/list", "nonsense"] {
        let refused = server.request(method, json!({}));
        assert_eq!(refused["error"]["code"], -32601, "{refused}");
    }
    let script = |script: Value| serde_json::from_str::<Value>(&steps(script)).unwrap();
    for (arguments, expected, kind) in [
        (
            json!({"steps": 3}),
            "don't fit its schema",
            "invalid-params",
        ),
        (script(json!([{"do": "trap"}])), "crashed", "trap"),
        (
            script(json!([{"do": "tool-error", "message": "no"}])),
            "no",
            "tool",
        ),
    ] {
        let failed = server.call("puppet", arguments);
        assert_eq!(failed["isError"], true, "{failed}");
        assert!(text(&failed).contains(expected), "{failed}");
        assert_eq!(failed["_meta"]["airlock/error"], kind);
    }
    let long = script(json!([{"do": "text", "text": "x".repeat(300_000)}]));
    let cut = text(&server.call("puppet", long));
    assert!(
        cut.len() <= 50_300 && cut.contains(" bytes are left out at the end"),
        "{}",
        cut.len()
    );
    // Lines that are no messages don't end it.
    server.write("\nnonsense\n{\"jsonrpc\": \"2.0\"}\n");
    let fine = script(json!([{"do": "text", "text": "fine"}]));
    let id = server.begin("tools/call", json!({"name": "puppet", "arguments": fine}));
    let answered = loop {
        let message = server.next();
        if message["id"] == id {
            break message;
        }
    };
    assert_eq!(words(&answered["result"]), "fine");
}

#[test]
fn it_ends_with_its_client_and_discards_what_only_its_memory_holds() {
    let (store, folder) = (Store::new(), folder(&[]));
    let puppet = guest("puppet");
    for signalled in [false, true] {
        let (mut server, _) =
            Server::initialized(&store, folder.path(), &[&puppet], "2025-11-25", json!({}));
        let script = json!([
            {"do": "push", "label": "Durable", "quiet": true},
            {"do": "push", "label": "Volatile", "volatile": true, "quiet": true},
        ]);
        let script: Value = serde_json::from_str(&steps(script)).unwrap();
        server.call("puppet", script);
        if signalled {
            let pid = Pid::from_child(&server.child);
            kill_process(pid, Signal::TERM).unwrap();
            assert_eq!(server.child.wait().unwrap().code(), Some(0));
        } else {
            assert_eq!(server.end(), 0);
        }
    }
    let open = store.json(folder.path(), &["pending", "--all"]);
    let labels = open["pending"].as_array().unwrap().iter();
    let labels = labels
        .map(|it| it["label"].as_str().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(labels, ["Durable", "Durable"]);
}

#[test]
fn it_is_not_ended_in_the_midst_of_a_commit() {
    let files: Vec<String> = (0..1500).map(|at| format!("{at}.jpeg")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let (store, folder) = (Store::new(), folder(&files));
    let args = ["--decide", "model"];
    let (mut server, _) =
        Server::initialized(&store, folder.path(), &args, "2025-11-25", json!({}));
    server.preview();
    let arguments = json!({"action": "apply", "reason": "as asked"});
    let resolve = json!({"name": "resolve", "arguments": arguments});
    server.begin("tools/call", resolve);
    let is_renamed = |name: &String| name.ends_with(".jpg");
    while !names(&folder).iter().any(is_renamed) {}
    kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    // Nobody has looked there since, who would have finished it.
    let left = names(&folder).iter().filter(|it| !is_renamed(it)).count();
    assert_eq!(left, 0);
}

#[test]
fn conversations_in_one_workspace_are_listed_together_and_resolved_by_their_ids() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let open = || Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({})).0;
    let id_of = |previewed: Value| {
        let id = &previewed["_meta"]["airlock/pending"][0]["id"];
        id.as_str().unwrap().to_owned()
    };
    let (mut first, mut second) = (open(), open());
    let ids = [id_of(first.preview()), id_of(second.preview())];

    let listed = store.json(folder.path(), &["pending"]);
    let listed = listed["pending"].as_array().unwrap();
    let found: Vec<_> = listed.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(found, ids);
    let sessions: Vec<_> = listed
        .iter()
        .map(|it| it["session"].as_str().unwrap())
        .collect();
    assert_ne!(sessions[0], sessions[1]);
    let ran = store.airlock(folder.path(), &["pending"]).run();
    for (id, session) in ids.iter().zip(&sessions) {
        assert!(ran.stdout.contains(short(id)), "{ran:#?}");
        let plain: String = ran.stdout.split_whitespace().collect();
        let named: String = format!("Inthesession{session}:")
            .split_whitespace()
            .collect();
        assert!(plain.contains(&named), "{ran:#?}");
    }
    // A session that is named is listed by itself.
    let one = store.json(folder.path(), &["pending", "--session", sessions[1]]);
    assert_eq!(one["pending"].as_array().unwrap().len(), 1);

    // Nobody's conversation is the topmost by chance.
    let top = ["resolve", "apply", "--reason", "which?"];
    let ran = store.airlock(folder.path(), &top).run();
    assert_eq!(names(&folder), ["a.jpeg"]);
    let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("2 actions are pending in other conversations in this workspace")
            && said.contains("pending` lists them, and `--id ID` names one"),
        "{ran:#?}"
    );
    let apply = ["resolve", "apply", "--id", &ids[0], "--reason", "seen"];
    let ran = store.airlock(folder.path(), &apply).run();
    assert_eq!(
        (ran.code, names(&folder)),
        (0, vec!["a.jpg".to_owned()]),
        "{ran:#?}"
    );
    let left = store.json(folder.path(), &["pending"]);
    assert_eq!(left["pending"][0]["id"], *ids[1]);
}

#[test]
fn a_result_has_a_bound_and_says_what_is_left_out() {
    let store = Store::new();
    let many: Vec<String> = (0..3000).map(|at| format!("a{at:04}.jpeg")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let folder = folder(&many);
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let params: Value = serde_json::from_str(RENAME).unwrap();
    let result = server.call("batch_rename_preview", params);
    let length = result.to_string().len();
    assert!(length < 100_000, "{length} bytes");
    let pending = &result["_meta"]["airlock/pending"][0];
    let listed = pending["effects"]["changes"].as_array().unwrap().len();
    let more = pending["effects"]["moreChanges"].as_u64().unwrap() as usize;
    assert_eq!(listed + more, 3000);
    let first = result["content"][0]["text"].as_str().unwrap();
    assert!(
        first.contains("Verified by the host: 3000 renamed."),
        "{first}"
    );
    assert!(first.contains("- and 2950 more"), "{first}");
}
