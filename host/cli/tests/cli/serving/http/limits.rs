//! What a client may take of the server.

use std::fs;
use std::io::{Read, Write};
use std::thread;

use serde_json::json;

use super::super::client::{Calls, text};
use super::web::{ANN, BEN, DEADLINE, READER, Web, head, read_answer};
use crate::airlock::{Store, folder, guest};

/// An operator's file with this under `[http]`.
fn config(store: &Store, text: &str) -> String {
    let file = store.path().with_file_name("airlock-host.toml");
    fs::write(&file, format!("[http]\n{text}\n")).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn what_is_too_large_or_no_message_is_refused_and_said_to_be() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let config = config(&store, "max-body = \"64KiB\"");
    let web = Web::start(&store, folder.path(), &["--config", &config]);
    let check = |head: String, body: &str, status: u16, told: &str| {
        let mut stream = web.connect();
        stream.write_all(head.as_bytes()).unwrap();
        let _ = stream.write_all(body.as_bytes());
        let answer = read_answer(stream);
        assert_eq!(answer.status, status, "{told}: {answer:?}");
        assert!(answer.body.contains(told), "{answer:?}");
    };
    // Before any of it has come.
    let length = 65 << 10;
    check(
        head("POST", ANN, length, &[]),
        "",
        413,
        "the body is 66560 bytes; the limit is 65536",
    );
    // And where it is not said before.
    let chunked = head("POST", ANN, 0, &[("Transfer-Encoding", "chunked")])
        .replace("HTTP/1.0", "HTTP/1.1")
        .replace("Content-Length: 0\r\n", "Connection: close\r\n");
    let body = format!("{length:x}\r\n{}\r\n0\r\n\r\n", " ".repeat(length));
    check(chunked, &body, 413, "the body is longer than 65536 bytes");
    let nested = "[".repeat(60_000);
    let cut = r#"{"jsonrpc": "2.0", "id": 1, "meth"#;
    for (body, code) in [
        (cut, "-32700"),
        ("", "-32700"),
        (&nested, "-32700"),
        ("\u{0}", "-32700"),
        ("[]", "-32600"),
        (r#"["2.0", "ping"]"#, "-32600"),
        (
            r#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]"#,
            "-32600",
        ),
        ("{}", "-32600"),
        ("7", "-32600"),
        (r#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#, "-32600"),
        (
            r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#,
            "-32600",
        ),
    ] {
        check(head("POST", ANN, body.len(), &[]), body, 400, code);
    }
    let long = "x".repeat(256 << 10);
    check(head("POST", ANN, 0, &[("X-Long", &long)]), "", 431, "");
    let many: Vec<_> = (0..200).map(|_| ("X-Many", "1")).collect();
    check(head("POST", ANN, 0, &many), "", 431, "");
    check(head("PUT", ANN, 0, &[]), "", 405, "POST, GET or DELETE");
    check(
        head("POST", ANN, 0, &[]).replace("/mcp", "/"),
        "",
        404,
        "MCP is spoken at /mcp",
    );
    let fine = web.client(ANN).preview();
    assert_eq!(fine["isError"], false);
}

#[test]
fn who_sends_too_much_is_told_when_to_come_back_and_others_are_not_held_up() {
    let (store, folder) = (Store::new(), folder(&[]));
    let config = config(&store, "requests-per-second = 5");
    let web = Web::start(&store, folder.path(), &["--config", &config]);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let refused = (0..1000).find_map(|_| {
        let answer = web.client(ANN).post(&[], &list);
        (answer.status == 429).then_some(answer)
    });
    let refused = refused.expect("a limit");
    assert_eq!(refused.header("retry-after").as_deref(), Some("1"));
    assert_ne!(web.client(BEN).post(&[], &list).status, 429);
}

#[test]
fn there_are_no_more_connections_and_conversations_than_may_be() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let config = config(&store, "max-connections = 2\nmax-conversations = 1");
    let web = Web::start(&store, folder.path(), &["--config", &config]);
    // Two with a token: a third waits until one of them goes.
    let known = || {
        let mut stream = web.connect();
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        let head = head("POST", ANN, ping.len(), &[]).replace("HTTP/1.0", "HTTP/1.1");
        stream.write_all((head + &ping).as_bytes()).unwrap();
        // The rest of the answer stays unread.
        stream.read_exact(&mut [0]).unwrap();
        stream
    };
    let (first, _second) = (known(), known());
    let (sender, answered) = std::sync::mpsc::channel();
    let mut ann = web.client(ANN);
    thread::spawn(move || {
        ann.preview();
        let _ = sender.send(());
    });
    assert!(
        answered
            .recv_timeout(std::time::Duration::from_millis(500))
            .is_err()
    );
    drop(first);
    answered.recv_timeout(DEADLINE).unwrap();
    // A principal's own conversation takes no room.
    let mut session = web.session(ANN, json!({}));
    assert_eq!(session.preview()["isError"], false);
    let mut ann = web.client(ANN);
    let given = ann.request("server/discover", json!({}));
    let given = given["result"]["_meta"]["airlock/session"].as_str();
    ann.conversation = given.map(str::to_owned);
    let refused = ann.preview();
    assert!(
        text(&refused).starts_with("You have 1 conversations, which"),
        "{refused}"
    );
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    assert_eq!(web.client(ANN).post(&[], &initialize).status, 429);
    // What one has is nothing that another lacks.
    assert_eq!(web.client(BEN).preview()["isError"], false);
    assert_eq!(web.session(BEN, json!({})).preview()["isError"], false);
}

#[test]
fn who_shows_no_token_makes_room_for_who_has_one() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let config = config(&store, "max-connections = 2");
    let web = Web::start(&store, folder.path(), &["--config", &config]);
    let mut strangers: Vec<_> = (0..20).map(|_| web.connect()).collect();
    let began = std::time::Instant::now();
    assert_eq!(web.client(ANN).preview()["isError"], false);
    // Those who only wait are let go after 30 seconds.
    assert!(began.elapsed() < std::time::Duration::from_secs(25));
    let mut rest = Vec::new();
    strangers[0].read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
}

#[test]
fn no_principal_takes_all_connections() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let config = config(&store, "max-connections = 8");
    let web = Web::start(&store, folder.path(), &["--config", &config]);
    let slow = || {
        let mut stream = web.connect();
        let head = head("POST", READER, 1000, &[]);
        stream.write_all((head + "{").as_bytes()).unwrap();
        stream
    };
    let began = std::time::Instant::now();
    let mut all: Vec<_> = (0..12).map(|_| slow()).collect();
    assert_eq!(web.client(ANN).preview()["isError"], false);
    // Slow bodies end after 30 seconds.
    assert!(began.elapsed() < std::time::Duration::from_secs(25));
    // Each of these was refused, or made room before its request was read.
    let mut told = String::new();
    for mut stream in all.split_off(6) {
        let _ = stream.read_to_string(&mut told);
    }
    let expected = "you have 6 connections, the most that one principal may have";
    assert!(told.contains(" 429 ") && told.contains(expected), "{told}");
}

#[test]
fn one_who_sends_no_whole_bodies_holds_up_nobody_else() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, folder.path(), &[]);
    let stalled: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = web.connect();
            stream
                .write_all(head("POST", READER, 4 << 20, &[]).as_bytes())
                .unwrap();
            stream.write_all(b"{").unwrap();
            stream
        })
        .collect();
    let began = std::time::Instant::now();
    assert_eq!(web.client(ANN).preview()["isError"], false);
    // They are let go after 30 seconds, which it did not wait for.
    assert!(began.elapsed() < std::time::Duration::from_secs(25));
    drop(stalled);
}

/// Each is let go within a minute, by the server, while others go on.
#[test]
fn who_only_waits_is_let_go() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let web = Web::start(&store, folder.path(), &[]);
    let mut says_nothing = web.connect();
    let mut no_whole_head = web.connect();
    no_whole_head
        .write_all(b"POST /mcp HTTP/1.1\r\nHost: loc")
        .unwrap();
    let mut no_whole_body = web.connect();
    no_whole_body
        .write_all(head("POST", ANN, 1000, &[]).as_bytes())
        .unwrap();
    no_whole_body.write_all(b"{").unwrap();
    // Asks again and again, and takes nothing of what is answered.
    let mut takes_nothing = web.connect();
    takes_nothing.set_write_timeout(Some(DEADLINE)).unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let request = head("POST", ANN, list.len(), &[]).replace("HTTP/1.0", "HTTP/1.1") + &list;
    let flooding = thread::spawn(move || {
        // Until the server closes it: a write that only waits would end in another way.
        loop {
            if let Err(error) = takes_nothing.write_all(request.as_bytes()) {
                return error.kind();
            }
        }
    });
    let mut ann = web.client(ANN);
    assert_eq!(ann.preview()["isError"], false);
    let mut rest = Vec::new();
    says_nothing.read_to_end(&mut rest).unwrap();
    no_whole_head.read_to_end(&mut rest).unwrap();
    let answer = read_answer(no_whole_body);
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (408, "the body took more than 30 seconds\n")
    );
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
    let ended = flooding.join().unwrap();
    assert!(matches!(ended, BrokenPipe | ConnectionReset), "{ended}");
    assert!(!text(&ann.preview()).is_empty());
}

/// A principal whose tools keep what they take, since they hold previews in memory, gets its share
/// of the guests' memory and no more, in however many conversations.
#[test]
fn no_principal_takes_the_memory_of_all_guests() {
    use airlock_tests::peak_memory;

    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let config = config(&store, "guest-memory = \"512MiB\"");
    let puppet = guest("puppet");
    let args = ["--config", &config, &puppet, "batch-rename"];
    let web = Web::start(&store, folder.path(), &args);
    assert_eq!(web.client(BEN).preview()["isError"], false);
    let before = peak_memory(web.child.id());
    let steps = json!({"steps": [
        {"do": "push", "label": "Kept", "volatile": true},
        {"do": "allocate", "mib": 60},
    ]});
    let mut refused = Vec::new();
    for _ in 0..12 {
        let mut ann = web.client(ANN);
        let given = ann.request("server/discover", json!({}));
        let given = given["result"]["_meta"]["airlock/session"].as_str();
        ann.conversation = given.map(str::to_owned);
        let said = ann.call("puppet", steps.clone());
        if said["isError"] == true {
            refused.push(text(&said).to_owned());
        }
        assert_eq!(web.client(BEN).preview()["isError"], false);
    }
    let grown = (peak_memory(web.child.id()) - before) >> 20;
    assert!(grown < 300, "{grown} MiB");
    assert_eq!(refused.len(), 8, "{refused:?}");
    for said in refused {
        assert!(said.contains("memory that other calls have"), "{said}");
    }
}
