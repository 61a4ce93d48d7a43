//! An apply that waits for somebody, as a task of the client that asked for it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::client::{Calls, Server, asks, error, text, words};
use super::deciding::last_decision;
use super::http::web::{ANN, BEN, Web};
use crate::airlock::{Store, folder, guest, names, steps};

/// How long a client waits before it asks again how a task is.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What a client says of itself that has tasks, and shows forms or doesn't.
fn tasks(asks: bool) -> Value {
    if asks {
        json!({"extensions": {EXTENSION: {}}, "elicitation": {}})
    } else {
        json!({"extensions": {EXTENSION: {}}})
    }
}

fn get(client: &mut impl Calls, id: &str) -> Value {
    client.request("tasks/get", json!({"taskId": id}))["result"].clone()
}

/// The task that a call of `resolve` has become.
#[track_caller]
fn begun(client: &mut impl Calls) -> String {
    let arguments = json!({"action": "apply", "reason": "the model's"});
    let task = client.call("resolve", arguments);
    assert_eq!(task["resultType"], "task", "{task}");
    assert_eq!(task["status"], "input_required", "{task}");
    task["taskId"].as_str().unwrap().to_owned()
}

/// The task, once it has ended.
fn ended(client: &mut impl Calls, id: &str) -> Value {
    loop {
        let task = get(client, id);
        let status = task["status"].as_str().unwrap();
        if !["working", "input_required"].contains(&status) {
            return task;
        }
        // A client that asks without a pause is soon refused.
        thread::sleep(BETWEEN_LOOKS);
    }
}

fn pending(store: &Store, folder: &Path) -> Vec<Value> {
    let open = store.json(folder, &["pending", "--all"]);
    open["pending"].as_array().unwrap().clone()
}

#[test]
fn where_the_client_can_ask_nobody_the_task_waits_for_a_person_at_a_terminal() {
    for (decision, left) in [("apply", "a.jpg"), ("discard", "a.jpeg")] {
        let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
        let mut client = Server::stateless(&store, folder.path(), &[], tasks(false));
        client.preview();
        let task = begun(&mut client);
        let waiting = get(&mut client, &task);
        assert_eq!(waiting["status"], "input_required", "{waiting}");
        assert_eq!(waiting["inputRequests"], json!({}), "{waiting}");
        assert_eq!(waiting["resultType"], "complete", "{waiting}");
        let id = pending(&store, folder.path())[0]["id"].clone();
        let id = id.as_str().unwrap();
        let told = waiting["statusMessage"].as_str().unwrap();
        let command = format!("airlock resolve apply --id {id}");
        assert!(told.contains(&command), "{told}");

        // An answer that nobody asked for is none, and other calls go on.
        let answers = json!({"decision": {"action": "accept", "content": {"decision": "apply"}}});
        let params = json!({"taskId": task, "inputResponses": answers});
        let taken = client.request("tasks/update", params);
        assert_eq!(taken["result"], json!({"resultType": "complete"}));
        client.preview();
        assert_eq!(names(&folder), ["a.jpeg"]);
        assert_eq!(get(&mut client, &task)["status"], "input_required");

        let decide = ["resolve", decision, "--id", id, "--reason", "seen"];
        let ran = store.airlock(folder.path(), &decide).run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        let over = ended(&mut client, &task);
        assert_eq!(over["status"], "completed", "{over}");
        assert_eq!(over["result"]["isError"], false, "{over}");
        let told = text(&over["result"]);
        let past = if decision == "apply" {
            "was applied by"
        } else {
            "was discarded by"
        };
        assert!(
            told.contains(past) && told.ends_with("Reason: seen"),
            "{told}"
        );
        assert_eq!(names(&folder), [left]);
    }
}

#[test]
fn a_task_asks_whomever_its_client_can_ask_and_ends_with_what_they_decide() {
    let check = |answer: Value, expected: &str, left: &str, is_error: bool| {
        let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
        let mut client = Server::stateless(&store, folder.path(), &[], tasks(true));
        client.preview();
        let task = begun(&mut client);
        let waiting = get(&mut client, &task);
        let question = &waiting["inputRequests"]["decision"];
        assert_eq!(question["method"], "elicitation/create", "{waiting}");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains("renamed a.jpeg -> a.jpg"), "{message}");
        let update = |answers: Value| json!({"taskId": task, "inputResponses": answers});
        // What can't be read is no answer, and the question stays open.
        let unread = client.request("tasks/update", update(json!({"decision": "apply"})));
        assert_eq!(error(&unread).0, -32602, "{unread}");
        let unknown = client.request("tasks/update", update(json!({"else": answer})));
        assert_eq!(unknown["result"], json!({"resultType": "complete"}));
        assert_eq!(get(&mut client, &task)["status"], "input_required");
        assert_eq!(names(&folder), ["a.jpeg"]);

        let taken = client.request("tasks/update", update(json!({"decision": answer})));
        assert_eq!(taken["result"], json!({"resultType": "complete"}));
        let over = ended(&mut client, &task);
        assert_eq!(over["status"], "completed", "{over}");
        assert_eq!(over["result"]["isError"], is_error, "{over}");
        assert!(text(&over["result"]).contains(expected), "{over}");
        assert_eq!(names(&folder), [left]);
        if !is_error {
            let (name, evidence, _) = last_decision(&store, folder.path());
            assert_eq!((name, evidence), (json!("user of test"), json!("client")));
        }
        // A second answer changes nothing.
        client.request("tasks/update", update(json!({"decision": answer})));
        assert_eq!(get(&mut client, &task), over);
    };
    let accept = |decision: &str| json!({"action": "accept", "content": {"decision": decision}});
    check(accept("apply"), "Applied batch rename", "a.jpg", false);
    let discarded = "the user discarded it instead";
    check(accept("discard"), discarded, "a.jpeg", false);
    check(accept("later"), "leaves it pending for now", "a.jpeg", true);
    check(
        json!({"action": "decline"}),
        "declined to decide",
        "a.jpeg",
        true,
    );
    check(
        json!({"action": "accept"}),
        "has no decision in it",
        "a.jpeg",
        true,
    );
}

#[test]
fn a_task_that_is_cancelled_decides_nothing_and_leaves_its_action_pending() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let mut client = Server::stateless(&store, folder.path(), &[], tasks(true));
    client.preview();
    let task = begun(&mut client);
    for _ in 0..2 {
        let taken = client.request("tasks/cancel", json!({"taskId": task}));
        assert_eq!(taken["result"], json!({"resultType": "complete"}));
        assert_eq!(ended(&mut client, &task)["status"], "cancelled");
    }
    assert_eq!(pending(&store, folder.path())[0]["state"], "pending");
    // It can be asked about again, by another task.
    assert_ne!(begun(&mut client), task);
    // A server that is to end doesn't wait for whoever may decide.
    kill_process(Pid::from_child(&client.child), Signal::TERM).unwrap();
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
    assert_eq!(pending(&store, folder.path())[0]["state"], "pending");
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn a_task_is_only_for_whoever_has_tasks_and_only_where_somebody_is_to_be_asked() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let mut without = Server::stateless(&store, folder.path(), &[], json!({}));
    without.preview();
    let refused = without.resolve("apply");
    assert_eq!(refused["isError"], true, "{refused}");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({"taskId": "0", "inputResponses": {}});
        assert_eq!(error(&without.request(method, params)).0, -32021);
    }
    // In the eras before, no call can become one.
    let (mut older, _) =
        Server::initialized(&store, folder.path(), &[], "2025-11-25", tasks(false));
    older.preview();
    assert_eq!(older.resolve("apply")["isError"], true);

    let args = ["--decide", "model"];
    let mut client = Server::stateless(&store, folder.path(), &args, tasks(true));
    client.preview();
    assert_eq!(client.resolve("discard")["resultType"], "complete");
    for (method, params, code, told) in [
        (
            "tasks/get",
            json!({"taskId": "0"}),
            -32602,
            "unknown task `0`",
        ),
        (
            "tasks/update",
            json!({"taskId": "0", "inputResponses": {}}),
            -32602,
            "unknown task",
        ),
        (
            "tasks/cancel",
            json!({"taskId": "0"}),
            -32602,
            "unknown task",
        ),
        ("tasks/get", json!({}), -32602, "`params.taskId` is missing"),
        (
            "tasks/update",
            json!({"taskId": "0"}),
            -32602,
            "`params.inputResponses` is missing",
        ),
        ("tasks/list", json!({}), -32601, "tasks/list"),
    ] {
        let (found, message) = error(&client.request(method, params));
        assert_eq!(found, code, "{method}: {message}");
        assert!(message.contains(told), "{message}");
    }
    client.preview();
    assert_eq!(client.resolve("apply")["resultType"], "complete");
    assert_eq!(names(&folder), ["a.jpg"]);
}

#[test]
fn a_task_is_its_principals_and_its_alone() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, folder.path(), &[]);
    let with_tasks = |token| {
        let mut client = web.client(token);
        client.capabilities = tasks(true);
        client
    };
    let mut ann = with_tasks(ANN);
    ann.previewed_id();
    let task = begun(&mut ann);
    let answers = json!({"decision": {"action": "accept", "content": {"decision": "apply"}}});
    let params = json!({"taskId": task, "inputResponses": answers});
    let mut ben = with_tasks(BEN);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let refused = ben.request(method, params.clone());
        assert_eq!(error(&refused).0, -32602, "{refused}");
    }
    assert_eq!(get(&mut ann, &task)["status"], "input_required");
    // Another client of the same principal may answer.
    let mut other = with_tasks(ANN);
    let taken = other.request("tasks/update", params);
    assert_eq!(
        taken["result"],
        json!({"resultType": "complete"}),
        "{taken}"
    );
    assert_eq!(ended(&mut other, &task)["status"], "completed");
    assert_eq!(names(&folder), ["a.jpg"]);
    // What stands between reads the header, and has to be told the same.
    let params = json!({"taskId": task, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": tasks(true),
    }});
    let get = json!({"jsonrpc": "2.0", "id": 99, "method": "tasks/get", "params": params});
    let named = |name| {
        let version = ("MCP-Protocol-Version", "2026-07-28");
        let headers = [version, ("Mcp-Method", "tasks/get"), ("Mcp-Name", name)];
        ann.post(&headers, &get).messages().pop().unwrap()
    };
    assert_eq!(error(&named("another")).0, -32020);
    assert_eq!(named(&task)["result"]["taskId"], *task);
    // What waits keeps nobody from ending the server.
    fs::write(folder.path().join("b.jpeg"), "b").unwrap();
    ann.previewed_id();
    begun(&mut ann);
    assert_eq!(web.end(), Some(0));
}

#[test]
fn a_question_in_the_client_is_withdrawn_once_somebody_decides_at_a_terminal() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (mut client, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", asks());
    client.preview();
    let (call, asked) = client.begin_asking();
    let id = pending(&store, folder.path())[0]["id"].clone();
    let decide = [
        "resolve",
        "apply",
        "--id",
        id.as_str().unwrap(),
        "--reason",
        "seen",
    ];
    let ran = store.airlock(folder.path(), &decide).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    let said = [client.next(), client.next()];
    let withdrawn = said
        .iter()
        .find(|it| it["method"] == "notifications/cancelled");
    assert_eq!(
        withdrawn.unwrap()["params"]["requestId"],
        asked["id"],
        "{said:?}"
    );
    let answered = said.iter().find(|it| it["id"] == call).unwrap();
    assert!(
        text(&answered["result"]).contains("was applied by"),
        "{answered}"
    );
    assert_eq!(names(&folder), ["a.jpg"]);
}

#[test]
fn nothing_is_pending_of_a_call_whose_client_has_cancelled_it_or_is_gone() {
    let (store, folder) = (Store::new(), folder(&[]));
    let puppet = guest("puppet");
    let script = |script: Value| serde_json::from_str::<Value>(&steps(script)).unwrap();
    // It hears of the cancellation, and ends as if nothing were.
    let stubborn = script(json!([
        {"do": "push", "label": "Unheard of", "quiet": true},
        {"do": "progress", "message": "pushed"},
        {"do": "spin-until-cancelled", "stubborn": true},
    ]));
    let quick = script(json!([{"do": "text", "text": "free"}]));
    let call = json!({
        "name": "puppet", "arguments": stubborn, "_meta": {"progressToken": "p"},
    });
    let (mut client, _) =
        Server::initialized(&store, folder.path(), &[&puppet], "2025-11-25", json!({}));
    let id = client.begin("tools/call", call.clone());
    assert_eq!(client.next()["method"], "notifications/progress");
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
    }));
    assert_eq!(words(&client.call("puppet", quick.clone())), "free");
    // The call ends before the server does.
    assert_eq!(client.end(), 0);
    assert_eq!(pending(&store, folder.path()), [] as [Value; 0]);

    let web = Web::start(&store, folder.path(), &[&puppet]);
    let mut client = web.client(ANN);
    let stream = client.begin("tools/call", call);
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("notifications/progress")));
    drop(lines);
    drop(stream);
    assert_eq!(words(&web.client(ANN).call("puppet", quick)), "free");
    assert_eq!(web.end(), Some(0));
    assert_eq!(pending(&store, folder.path()), [] as [Value; 0]);
    assert_eq!(last_decision(&store, folder.path()).0, "airlock serve");
}
