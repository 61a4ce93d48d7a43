//! Clients that do what they must not, by mistake or on purpose.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::client::{Server, asks, text};
use crate::airlock::{Store, folder, guest, names, steps};

/// How many requests are worked on at one time, and how many may wait for that.
const AT_WORK: usize = 64;
const WAITING: usize = 1024;

/// For a machine that does other things beside.
const SOON: Duration = Duration::from_secs(40);

/// The longest line, in bytes.
const LONGEST: usize = 16 << 20;

fn script(script: Value) -> Value {
    serde_json::from_str(&steps(script)).unwrap()
}

fn request(id: usize, method: &str) -> String {
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}});
    format!("{request}\n")
}

/// The error that comes next, which is of no request: its code and its message.
#[track_caller]
fn error_of_nobody(server: &Server) -> (i64, String) {
    let said = server.next();
    assert_eq!(said.get("id"), Some(&Value::Null), "{said}");
    error(&said)
}

#[track_caller]
fn error(said: &Value) -> (i64, String) {
    let error = &said["error"];
    let code = error["code"].as_i64();
    let code = code.unwrap_or_else(|| panic!("no error: {said}"));
    (code, error["message"].as_str().unwrap().to_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn one_that_asks_and_never_reads_is_not_read_from_in_turn() {
    use airlock_tests::{peak_memory, reset_peak_memory};

    const ASKED: usize = 5000;
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    server.request("tools/list", json!({}));
    let process = server.child.id();
    reset_peak_memory(process);
    let before = peak_memory(process);
    let ears = server.ears.clone();
    let shut = ears.lock().unwrap();
    let lines = (0..ASKED).map(|at| request(1000 + at, "tools/list"));
    let taken = server.write_all(lines.collect());
    // Until it has taken all, or takes no more.
    let (mut last, mut since) = (0, Instant::now());
    while last < ASKED && since.elapsed() < Duration::from_secs(2) {
        thread::yield_now();
        let now = taken.load(Ordering::Relaxed);
        if now > last {
            (last, since) = (now, Instant::now());
        }
    }
    let grown = peak_memory(process) - before;
    assert!(grown < 40 << 20, "{} MiB for {last} requests", grown >> 20);
    assert!(last < ASKED, "it takes whatever it is sent");
    // Whoever reads again gets an answer to each, be it that there were too many.
    drop(shut);
    let mut answered = [false; ASKED];
    for _ in 0..ASKED {
        let said = server.next();
        let at = said["id"].as_u64().unwrap() as usize - 1000;
        assert!(!answered[at], "{said}");
        answered[at] = true;
        if said.get("result").is_none() {
            assert!(error(&said).1.contains("too many requests"), "{said}");
        }
    }
    server.written();
    assert_eq!(server.end(), 0);
}

#[test]
fn answers_and_cancellations_are_heard_however_many_requests_wait() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", asks());
    server.preview();
    let arguments = json!({"action": "apply", "reason": "as asked"});
    let resolve = json!({"name": "resolve", "arguments": arguments});
    let calls: Vec<u64> = (0..AT_WORK)
        .map(|_| server.begin("tools/call", resolve.clone()))
        .collect();
    let questions: Vec<Value> = (0..AT_WORK)
        .map(|_| {
            let asked = server.next();
            assert_eq!(asked["method"], "elicitation/create", "{asked}");
            asked["id"].clone()
        })
        .collect();
    // Nothing of these is begun, since everything that is at work waits for the client.
    let waiting: Vec<u64> = (0..WAITING)
        .map(|_| server.begin("tools/list", json!({})))
        .collect();
    let refused = server.request("tools/list", json!({}));
    let (code, message) = error(&refused);
    assert_eq!(code, -32010, "{refused}");
    assert!(
        message.contains("64 are worked on") && message.contains("1024 wait"),
        "{message}"
    );
    // One that waits is not begun once it is cancelled, nor answered.
    let cancelled = |id: u64| {
        json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
        })
    };
    server.send(&cancelled(waiting[0]));
    server.send(&json!({"jsonrpc": "2.0", "id": questions[0], "result": {"action": "decline"}}));
    let mut resolved = Vec::new();
    for _ in &waiting {
        let said = server.next();
        let id = said["id"].as_u64().unwrap();
        if calls.contains(&id) {
            assert!(
                text(&said["result"]).contains("declined to decide"),
                "{said}"
            );
            // By the one whom somebody has declined, whichever it was.
            resolved.push(id);
        } else {
            assert!(waiting[1..].contains(&id), "{said}");
            assert!(said["result"]["tools"].is_array(), "{said}");
        }
    }
    assert_eq!(resolved.len(), 1);
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn a_question_is_withdrawn_with_the_call_that_asks_it() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", asks());
    server.preview();
    let arguments = json!({"action": "apply", "reason": "as asked"});
    let call = json!({"name": "resolve", "arguments": arguments});
    let id = server.begin("tools/call", call);
    let asked = server.next();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
    }));
    let withdrawn = server.next();
    assert_eq!(
        withdrawn["method"], "notifications/cancelled",
        "{withdrawn}"
    );
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    // Whoever answers all the same has decided nothing.
    let answer = json!({"action": "accept", "content": {"decision": "apply"}});
    server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
    let listed = server.request("tools/list", json!({}));
    assert!(listed["result"].is_object(), "{listed}");
    assert_eq!(names(&folder), ["a.jpeg"]);
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

    let too_long = format!("{}\n", "x".repeat(LONGEST + 1));
    server.write(&too_long);
    let (code, message) = error_of_nobody(&server);
    assert_eq!(code, -32600);
    let told = format!("is {} bytes; the limit is {LONGEST}", LONGEST + 1);
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
    server.preview();
    let arguments = json!({"action": "apply", "reason": "as asked"});
    let call = json!({"name": "resolve", "arguments": arguments});
    let id = server.begin("tools/call", call);
    let asked = server.next();
    server.write(&request(id as usize, "tools/list"));
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
    server.write(&request(id as usize, "tools/list"));
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

/// A call of the puppet that reports more than a pipe holds, and then does this.
fn reporting(then: &Value) -> Value {
    let reports = (0..3000).map(
        |at| json!({"do": "progress", "message": "m".repeat(4000), "progress": f64::from(at)}),
    );
    let steps: Vec<Value> = reports.chain([then.clone()]).collect();
    json!({
        "name": "puppet",
        "arguments": script(json!(steps)),
        "_meta": {"progressToken": then["do"]},
    })
}

#[test]
fn a_call_goes_on_and_ends_in_time_where_nobody_reads_its_progress() {
    let (store, folder) = (Store::new(), folder(&[]));
    let puppet = guest("puppet");
    let args = [&*puppet, "--timeout", "5"];
    let (mut server, _) =
        Server::initialized(&store, folder.path(), &args, "2025-11-25", json!({}));
    let ears = server.ears.clone();
    let shut = ears.lock().unwrap();
    let pending = |label: &str| {
        let open = store.json(folder.path(), &["pending", "--all"]);
        let mut open = open["pending"].as_array().unwrap().iter();
        open.any(|it| it["label"] == label)
    };
    let push = |label: &str| json!({"do": "push", "label": label, "quiet": true});
    // What it pushes is pending once the whole call has ended.
    let pushed = server.begin("tools/call", reporting(&push("The first")));
    let begun = Instant::now();
    while !pending("The first") {
        assert!(begun.elapsed() < SOON, "it stands still");
    }
    let spun = server.begin("tools/call", reporting(&json!({"do": "spin"})));
    // The plugin's only instance is free for this once the other has run into its time limit.
    let last = script(json!([push("The last")]));
    let last = server.begin("tools/call", json!({"name": "puppet", "arguments": last}));
    let begun = Instant::now();
    while !pending("The last") {
        assert!(begun.elapsed() < SOON, "it stands still");
    }
    drop(shut);
    let mut left = vec![pushed, spun, last];
    let mut told = [-1.0, -1.0];
    while !left.is_empty() {
        let said = server.next();
        if said["method"] == "notifications/progress" {
            let params = &said["params"];
            let (at, call) = match params["progressToken"].as_str() {
                Some("push") => (0, pushed),
                _ => (1, spun),
            };
            let progress = params["progress"].as_f64().unwrap();
            assert!(left.contains(&call) && progress > told[at], "{said}");
            told[at] = progress;
            continue;
        }
        let id = said["id"].as_u64().unwrap();
        left.retain(|it| *it != id);
        if id == spun {
            assert!(text(&said["result"]).contains("5 s"), "{said}");
        }
    }
    assert!(told.iter().all(|told| *told > 0.0), "{told:?}");
}

#[test]
fn whatever_was_asked_before_the_end_of_input_is_answered() {
    const ASKED: usize = 500;
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let lines: Vec<String> = (0..ASKED).map(|at| request(at, "tools/list")).collect();
    server.write(&lines.concat());
    server.close();
    let mut answered: Vec<_> = (0..ASKED).map(|_| server.next()["id"].as_u64()).collect();
    answered.sort_unstable();
    let expected: Vec<_> = (0..ASKED as u64).map(Some).collect();
    assert_eq!(answered, expected);
    assert_eq!(server.end(), 0);
}

#[test]
fn it_is_interrupted_also_where_its_client_reads_nothing() {
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let ears = server.ears.clone();
    let shut = ears.lock().unwrap();
    let lines = (0..5000).map(|at| request(1000 + at, "tools/list"));
    let taken = server.write_all(lines.collect());
    // More answers than a pipe holds.
    while taken.load(Ordering::Relaxed) < 500 {
        thread::yield_now();
    }
    kill_process(Pid::from_child(&server.child), Signal::INT).unwrap();
    let begun = Instant::now();
    let code = loop {
        if let Some(status) = server.child.try_wait().unwrap() {
            break status.code();
        }
        assert!(begun.elapsed() < SOON, "it goes on");
        thread::yield_now();
    };
    assert_eq!(code, Some(130));
    drop(shut);
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
