//! Files on web servers.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use airlock_registry::{Digest, Error, WebReference};
use bytes::Bytes;

use crate::support::server::{Reply, Request, Server, file};
use crate::support::{cache, client, client_with, component, partial_files};

fn url(server: &Server) -> WebReference {
    format!("http://{}/x.wasm", server.host).parse().unwrap()
}

#[tokio::test]
async fn a_files_digest_is_returned() {
    let whole = component(100_000);
    for has_length in [true, false] {
        let sent = whole.clone();
        let server = Server::start(move |_| {
            let reply = Reply::new(200).body(sent.clone());
            reply.with_length(has_length)
        });
        let server = server.await;
        let (cache, folder) = cache();
        let mut last = (0, None);
        let mut progress = |bytes, total| last = (bytes, total);
        let fetched = client()
            .fetch_url(&url(&server), None, &cache, &mut progress)
            .await;
        let fetched = fetched.unwrap();
        assert_eq!(fetched.digest, Digest::of(&whole));
        assert_eq!(fs::read(&fetched.path).unwrap(), whole);
        let bytes = whole.len() as u64;
        assert_eq!(last, (bytes, has_length.then_some(bytes)));
        assert_eq!(partial_files(&folder), []);
    }
}

#[tokio::test]
async fn another_digest_than_the_expected_one_is_refused() {
    let server = Server::start(|_| Reply::new(200).body("x")).await;
    let (cache, folder) = cache();
    let (expected, actual) = (Digest::of(b"y"), Digest::of(b"x"));
    let url = url(&server);
    let client = client();
    let fetch = client
        .fetch_url(&url, Some(expected), &cache, &mut |_, _| {})
        .await;
    assert_eq!(
        fetch.unwrap_err().to_string(),
        format!("{url} was swapped or damaged: expected {expected}, got {actual}")
    );
    assert_eq!(partial_files(&folder), []);
    let fetched = client
        .fetch_url(&url, Some(actual), &cache, &mut |_, _| {})
        .await;
    assert_eq!(fetched.unwrap().digest, actual);
}

#[tokio::test]
async fn a_bomb_is_read_no_further_than_the_limit() {
    for has_length in [true, false] {
        let server = Server::start(move |_| {
            let bomb = Reply::new(200).body(vec![0; 1 << 20]).times(1 << 14);
            bomb.with_length(has_length)
        });
        let server = server.await;
        let (cache, folder) = cache();
        let mut most = 0;
        let mut progress = |bytes, _| most = bytes;
        let client = client_with(|options| options.max_component_bytes = 3 << 20);
        let error = client
            .fetch_url(&url(&server), None, &cache, &mut progress)
            .await;
        assert_eq!(
            error.unwrap_err().to_string(),
            format!("{} is larger than the limit of 3145728 bytes", url(&server))
        );
        assert!(most <= 3 << 20, "{most}");
        assert_eq!(partial_files(&folder), []);
    }
}

/// Answers with half of the file at first, and then as `rest` says.
async fn cut(
    whole: Bytes,
    tag: Option<&'static str>,
    rest: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> Server {
    let requests = AtomicUsize::new(0);
    Server::start(
        move |request| match requests.fetch_add(1, Ordering::SeqCst) {
            0 => {
                let half = whole.slice(..whole.len() / 2);
                let reply = Reply::new(200).header("content-length", whole.len());
                let reply = reply.body(half);
                match tag {
                    Some(tag) => reply.header("etag", tag),
                    None => reply,
                }
            }
            _ => rest(request),
        },
    )
    .await
}

#[tokio::test]
async fn a_file_with_a_version_is_continued() {
    let whole = component(10_000);
    let sent = whole.clone();
    let server = cut(whole.clone(), Some("\"1\""), move |request| {
        assert_eq!(request.header("if-range"), Some("\"1\""));
        assert_ne!(request.start(), 0);
        file(request, &sent).header("etag", "\"1\"")
    });
    let server = server.await;
    let (cache, folder) = cache();
    let fetched = client()
        .fetch_url(&url(&server), None, &cache, &mut |_, _| {})
        .await;
    assert_eq!(fs::read(fetched.unwrap().path).unwrap(), whole);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(partial_files(&folder), []);
}

#[tokio::test]
async fn a_file_that_changes_is_never_mixed() {
    let (old, new) = (component(10_000), component(10_001));
    // Also by a server that sends a part of the new file although it was asked for the old one.
    for ignores_version in [false, true] {
        let sent = new.clone();
        let server = cut(old.clone(), Some("\"1\""), move |request| {
            let reply = if ignores_version {
                file(request, &sent)
            } else {
                Reply::new(200).body(sent.clone())
            };
            reply.header("etag", "\"2\"")
        });
        let server = server.await;
        let (cache, _folder) = cache();
        let fetched = client()
            .fetch_url(&url(&server), None, &cache, &mut |_, _| {})
            .await;
        assert_eq!(fs::read(fetched.unwrap().path).unwrap(), new);
    }
}

#[tokio::test]
async fn a_file_without_a_version_begins_again() {
    let (old, new) = (component(10_000), component(10_001));
    for tag in [None, Some("W/\"1\"")] {
        let sent = new.clone();
        let server = cut(old.clone(), tag, move |request| {
            assert_eq!(request.start(), 0);
            file(request, &sent)
        });
        let server = server.await;
        let (cache, _folder) = cache();
        let fetched = client()
            .fetch_url(&url(&server), None, &cache, &mut |_, _| {})
            .await;
        assert_eq!(fs::read(fetched.unwrap().path).unwrap(), new);
    }
}

#[tokio::test]
async fn a_download_is_continued_through_a_redirect() {
    let whole = component(10_000);
    let sent = whole.clone();
    let server = Server::start(move |request| match request.path.as_str() {
        "/x.wasm" => Reply::new(302).header("location", "/y"),
        _ if request.start() == 0 => {
            let half = sent.slice(..5000);
            Reply::new(200)
                .header("content-length", sent.len())
                .body(half)
        }
        _ => file(request, &sent),
    });
    let server = server.await;
    let (cache, _folder) = cache();
    let digest = Some(Digest::of(&whole));
    let fetched = client()
        .fetch_url(&url(&server), digest, &cache, &mut |_, _| {})
        .await;
    assert_eq!(fs::read(fetched.unwrap().path).unwrap(), whole);
    assert_eq!(server.requests().last().unwrap().start(), 5000);
}

#[tokio::test]
async fn redirects_are_followed_but_not_out_of_encryption() {
    let server = Server::start(|request| match request.path.as_str() {
        "/x.wasm" => Reply::new(302).header("location", "/y"),
        "/y" => Reply::new(200).body("x"),
        "/away" => Reply::new(302).header("location", "http://example.com/x"),
        _ => Reply::new(302).header("location", request.path.clone()),
    });
    let server = server.await;
    let (cache, _folder) = cache();
    let client = client();
    let fetched = client
        .fetch_url(&url(&server), None, &cache, &mut |_, _| {})
        .await;
    assert_eq!(fetched.unwrap().digest, Digest::of(b"x"));
    for (path, problem) in [
        (
            "away",
            "it redirects to http://example.com/x, which is not encrypted",
        ),
        ("loop", "it redirects too often"),
    ] {
        let url: WebReference = format!("http://{}/{path}", server.host).parse().unwrap();
        let error = client.fetch_url(&url, None, &cache, &mut |_, _| {}).await;
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Server { .. }), "{error:?}");
        assert!(error.to_string().contains(problem), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_fails_is_asked_again() {
    let requests = AtomicUsize::new(0);
    let server = Server::start(move |_| match requests.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Reply::new(503),
        _ => Reply::new(200).body("x"),
    });
    let server = server.await;
    let (cache, _folder) = cache();
    let fetched = client()
        .fetch_url(&url(&server), None, &cache, &mut |_, _| {})
        .await;
    assert_eq!(fetched.unwrap().digest, Digest::of(b"x"));
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let server = Server::start(|request| match request.path.as_str() {
        "/401" => Reply::new(401),
        "/403" => Reply::new(403),
        "/404" => Reply::new(404),
        "/429" => Reply::new(429).header("retry-after", "17"),
        _ => Reply::new(400).body(r#"{"errors":[{"code":"X","message":"no\u001b[31m"}]}"#),
    });
    let server = server.await;
    let host = &server.host;
    let cases = [
        (
            "401",
            format!("{host} requires a login: there are no saved credentials"),
            Some(format!("log in: docker login {host}")),
        ),
        (
            "403",
            format!("{host} denies access to http://{host}/403"),
            Some(format!("log in: docker login {host}")),
        ),
        (
            "404",
            format!("http://{host}/404 was not found: {host} has no such file"),
            None,
        ),
        (
            "429",
            format!("{host} limits requests: too many in a short time"),
            Some(format!(
                "try again in 17 seconds, or log in for a higher limit: docker login {host}"
            )),
        ),
        (
            "400",
            format!("{host} gave an unexpected answer: 400 Bad Request: no[31m"),
            None,
        ),
    ];
    let (cache, _folder) = cache();
    for (path, message, hint) in cases {
        let url: WebReference = format!("http://{host}/{path}").parse().unwrap();
        let error = client().fetch_url(&url, None, &cache, &mut |_, _| {}).await;
        let error = error.unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.hint(), hint);
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let (cache, _folder) = cache();
    // Nothing listens there.
    let url: WebReference = "http://127.0.0.1:1/x".parse().unwrap();
    let error = client().fetch_url(&url, None, &cache, &mut |_, _| {}).await;
    let error = error.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(
        error.to_string().starts_with("can't reach 127.0.0.1:1: "),
        "{error}"
    );
    assert!(error.to_string().contains("refused"), "{error}");
}
