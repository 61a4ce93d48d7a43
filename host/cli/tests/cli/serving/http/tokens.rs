//! Tokens, and what is answered to who has none.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use super::web::{ANN, Web, head, read_answer};
use crate::airlock::{Store, command, folder};

#[test]
fn nothing_is_read_of_who_has_no_token() {
    let (store, folder) = (Store::new(), folder(&[]));
    let web = Web::start(&store, folder.path(), &[]);
    for token in [
        "",
        "wrong",
        &ANN[1..],
        &format!("{ANN}0"),
        &ANN.to_uppercase(),
    ] {
        for method in ["POST", "GET", "DELETE"] {
            // The body never comes, and is not waited for.
            let mut stream = web.connect();
            let head = head(method, token, 1000, &[("Mcp-Session-Id", "1")]);
            stream.write_all(head.as_bytes()).unwrap();
            let answer = read_answer(stream);
            assert_eq!(answer.status, 401, "{token} {method}");
            assert_eq!(answer.header("www-authenticate").as_deref(), Some("Bearer"));
        }
    }
    let twice = format!(
        "POST /mcp HTTP/1.0\r\nHost: localhost\r\nHost: evil\r\nAuthorization: Bearer {ANN}\r\n\r\n"
    );
    let mut stream = web.connect();
    stream.write_all(twice.as_bytes()).unwrap();
    assert_eq!(read_answer(stream).status, 400);
    let basic =
        format!("POST /mcp HTTP/1.0\r\nHost: localhost\r\nAuthorization: Basic {ANN}\r\n\r\n");
    let in_the_address = format!("POST /mcp?token={ANN} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    for request in [basic, in_the_address] {
        let mut stream = web.connect();
        stream.write_all(request.as_bytes()).unwrap();
        assert_eq!(read_answer(stream).status, 401, "{request}");
    }
}

#[test]
fn a_token_is_made_at_the_first_start_for_its_owner_alone_and_kept() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let file = store
        .path()
        .with_file_name("state")
        .join("airlock/http-tokens");
    let mut made = None;
    for _ in 0..2 {
        let web = Web::start_as_told(&store, folder.path(), &[]);
        let told = web.said.recv_timeout(super::web::DEADLINE).unwrap();
        assert_eq!(told, format!("token: {}", file.display()));
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let text = fs::read_to_string(&file).unwrap();
        let token = text.trim_end().strip_prefix("owner:").unwrap();
        assert_eq!(token.len(), 64);
        assert_eq!(*made.get_or_insert(text.clone()), text);
        web.client(token).previewed_id();
        assert_eq!(web.end(), Some(0));
    }
}

#[test]
fn a_file_of_tokens_that_others_may_read_or_with_a_mistake_is_refused_without_showing_a_token() {
    let (store, folder) = (Store::new(), folder(&[]));
    let file = store.path().with_file_name("tokens");
    let check = |text: &str, mode: u32, told: &str| {
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let named = file.to_str().unwrap();
        let args = ["serve", "--http", "127.0.0.1:0", "--token-file", named];
        let ran = store.airlock(folder.path(), &args).run();
        assert_eq!(ran.code, 2, "{ran:#?}");
        let said = ran.stderr.replace("\n  ", " ").replace('\n', " ");
        assert!(said.contains(told), "{said}");
        assert!(!said.contains(ANN), "{said}");
    };
    check(
        &format!("ann:{ANN}"),
        0o640,
        "others may read or change it (mode 640)",
    );
    check(&format!("ann:{ANN}"), 0o640, "chmod 600");
    check(
        &format!("# ours\n{ANN}"),
        0o600,
        "line 2: it is not of the form `NAME:TOKEN`",
    );
    check(
        &format!("ann:{ANN}:admin"),
        0o600,
        "line 1: behind the token",
    );
    check("", 0o600, "it has no token");
}

#[test]
fn web_pages_are_kept_away_by_host_and_origin() {
    let (store, folder) = (Store::new(), folder(&[]));
    let args = [
        "--allow-host",
        "airlock.example",
        "--allow-origin",
        "https://app.example:443",
    ];
    let web = Web::start(&store, folder.path(), &args);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let port = web.address.port();
    for (header, value, expected) in [
        ("Host", "localhost".to_owned(), 200),
        ("Host", format!("localhost:{port}"), 200),
        ("Host", format!("[::1]:{port}"), 200),
        ("Host", "airlock.example".to_owned(), 200),
        ("Host", "evil.example".to_owned(), 403),
        ("Host", "127.0.0.1.evil.example".to_owned(), 403),
        ("Host", "airlock.example.evil".to_owned(), 403),
        ("Origin", "https://app.example".to_owned(), 200),
        ("Origin", "http://app.example".to_owned(), 403),
        ("Origin", "https://app.example:444".to_owned(), 403),
        ("Origin", "https://evil.example".to_owned(), 403),
        // Its own, where nothing else is served.
        ("Origin", format!("http://127.0.0.1:{port}"), 200),
        ("Origin", format!("http://localhost:{port}"), 403),
        ("Origin", "null".to_owned(), 403),
    ] {
        let answer = web.client(ANN).post(&[(header, &value)], &ping);
        assert_eq!(answer.status, expected, "{header}: {value}");
    }
}

/// The tools of each principal read all of the workspace.
#[test]
fn no_server_starts_whose_secrets_are_in_the_workspace() {
    let (store, folder) = (Store::new(), folder(&[]));
    let check = |args: &[&str], store: &Path, told: &str| {
        let ran = command(folder.path())
            .args(["serve", "--http", "127.0.0.1:0"])
            .args(args)
            .env("AIRLOCK_STORE", store)
            .env("XDG_STATE_HOME", folder.path().join("../state"))
            .output()
            .unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(said.contains(told), "{said}");
    };
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, format!("ann:{ANN}\n")).unwrap();
    fs::set_permissions(&tokens, Permissions::from_mode(0o600)).unwrap();
    let named = ["--token-file", "tokens"];
    check(&named, &store.path(), "is in the workspace");
    let outside = store.path().with_file_name("tokens");
    fs::rename(&tokens, &outside).unwrap();
    let named = ["--token-file", outside.to_str().unwrap()];
    let inside = folder.path().join("pending.db");
    check(&named, &inside, "the store");
}
