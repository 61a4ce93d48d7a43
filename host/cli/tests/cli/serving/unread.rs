//! Clients that ask more than they read.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::client::{Calls, Server, asks, error, line, text};
use crate::airlock::{Store, folder, guest, names, steps};

/// How many requests are worked on at one time, and how many may wait for that.
const AT_WORK: usize = 64;
const WAITING: usize = 1024;

/// For a machine that does other things beside.
const SOON: Duration = Duration::from_secs(40);

#[test]
#[cfg(target_os = "linux")]
fn one_that_asks_and_never_reads_is_not_read_from_in_turn() {
    use airlock_tests::{peak_memory, reset_peak_memory};

    const ASKED: u64 = 5000;
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    server.request("tools/list", json!({}));
    let process = server.child.id();
    reset_peak_memory(process);
    let before = peak_memory(process);
    let ears = server.ears.clone();
    let shut = ears.lock().unwrap();
    let lines = (0..ASKED).map(|at| line(1000 + at, "tools/list"));
    let taken = server.write_all(lines.collect());
    // Until it has taken all, or takes no more.
    let (mut last, mut since) = (0, Instant::now());
    while last < ASKED && since.elapsed() < Duration::from_secs(2) {
        thread::yield_now();
        let now = taken.load(Ordering::Relaxed) as u64;
        if now > last {
            (last, since) = (now, Instant::now());
        }
    }
    let grown = peak_memory(process) - before;
    assert!(grown < 40 << 20, "{} MiB for {last} requests", grown >> 20);
    assert!(last < ASKED, "it takes whatever it is sent");
    // Whoever reads again gets an answer to each, be it that there were too many.
    drop(shut);
    let mut answered = [false; ASKED as usize];
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

fn script(script: Value) -> Value {
    serde_json::from_str(&steps(script)).unwrap()
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
    const ASKED: u64 = 500;
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let lines: Vec<String> = (0..ASKED).map(|at| line(at, "tools/list")).collect();
    server.write(&lines.concat());
    server.close();
    let mut answered: Vec<_> = (0..ASKED).map(|_| server.next()["id"].as_u64()).collect();
    answered.sort_unstable();
    let expected: Vec<_> = (0..ASKED).map(Some).collect();
    assert_eq!(answered, expected);
    assert_eq!(server.end(), 0);
}

#[test]
fn it_is_interrupted_also_where_its_client_reads_nothing() {
    let (store, folder) = (Store::new(), folder(&[]));
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let ears = server.ears.clone();
    let shut = ears.lock().unwrap();
    let lines = (0..5000).map(|at| line(1000 + at, "tools/list"));
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
