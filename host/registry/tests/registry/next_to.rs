//! Signatures next to files on web servers.

use airlock_registry::{Error, FoundSignature, SignatureFormat, WebReference};

use crate::support::client;
use crate::support::server::{Reply, Request, Server};

/// The signatures next to `/a.wasm` with this query.
async fn next_to(server: &Server, query: &str) -> Result<Vec<FoundSignature>, Error> {
    let url = format!("http://{}/a.wasm{query}", server.host);
    let url: WebReference = url.parse().unwrap();
    client().signatures_next_to(&url).await
}

/// A server that has one bundle, answers with `other` instead of a signature of minisign, and has
/// nothing else.
async fn with_bundle(other: Reply) -> Server {
    Server::start(move |request| match request.path.as_str() {
        "/a.wasm.sigstore.json" => Reply::new(200).body("{}"),
        "/a.wasm.minisig" => other.clone(),
        _ => Reply::new(404),
    })
    .await
}

#[tokio::test]
async fn signatures_of_both_formats_are_found() {
    let server = with_bundle(Reply::new(200).body("m")).await;
    let found = |format, bytes: &'static str, suffix| FoundSignature {
        format,
        bytes: bytes.into(),
        place: format!("http://{}/a.wasm{suffix}", server.host),
    };
    assert_eq!(
        next_to(&server, "").await.unwrap(),
        [
            found(SignatureFormat::SigstoreBundle, "{}", ".sigstore.json"),
            found(SignatureFormat::Minisign, "m", ".minisig"),
        ]
    );
    let paths: Vec<_> = server.requests().into_iter().map(|it| it.path).collect();
    assert_eq!(paths, ["/a.wasm.sigstore.json", "/a.wasm.minisig"]);
}

#[tokio::test]
async fn the_query_stays_behind_the_path() {
    let server = Server::start(|_| Reply::new(404)).await;
    assert_eq!(next_to(&server, "?x=a%2Fb.c").await.unwrap(), []);
    let paths: Vec<_> = server.requests().into_iter().map(|it| it.path).collect();
    assert_eq!(
        paths,
        [
            "/a.wasm.sigstore.json?x=a%2Fb.c",
            "/a.wasm.minisig?x=a%2Fb.c"
        ]
    );
}

#[tokio::test]
async fn a_signature_that_is_not_there_is_no_error() {
    let html = Reply::new(200).body("<html></html>");
    for reply in [
        Reply::new(404),
        Reply::new(410),
        html.header("content-type", "Text/HTML; charset=utf-8"),
    ] {
        let server = Server::start(move |_| reply.clone()).await;
        assert_eq!(next_to(&server, "").await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_server_that_fails_has_not_no_signatures() {
    for status in [401, 429, 500, 204] {
        let server = Server::start(move |_| Reply::new(status)).await;
        let error = next_to(&server, "").await.unwrap_err();
        let message = error.to_string();
        assert!(message.contains(&server.host), "{status}: {message}");
        // But it hides no other signature.
        let server = with_bundle(Reply::new(status)).await;
        assert_eq!(next_to(&server, "").await.unwrap().len(), 1, "{status}");
    }
    let url: WebReference = "http://127.0.0.1:1/a.wasm".parse().unwrap();
    let error = client().signatures_next_to(&url).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_signature_that_is_too_large_is_not_read() {
    for has_length in [true, false] {
        let bomb = Reply::new(200).body(vec![b' '; 1 << 20]).times(1 << 14);
        let bomb = bomb.with_length(has_length);
        let sent = bomb.clone();
        let server = Server::start(move |_| sent.clone()).await;
        assert_eq!(
            next_to(&server, "").await.unwrap_err().to_string(),
            format!(
                "http://{}/a.wasm.sigstore.json is larger than the limit of 1048576 bytes",
                server.host
            )
        );
        let server = with_bundle(bomb).await;
        assert_eq!(next_to(&server, "").await.unwrap().len(), 1);
    }
    let full = Reply::new(200).body(vec![b' '; 1 << 20]);
    let server = with_bundle(full).await;
    assert_eq!(next_to(&server, "").await.unwrap()[1].bytes.len(), 1 << 20);
}

#[tokio::test]
async fn redirects_are_followed() {
    let server = Server::start(|request: &Request| match request.path.as_str() {
        "/a.wasm.sigstore.json" => Reply::new(302).header("location", "/elsewhere"),
        "/elsewhere" => Reply::new(200).body("{}"),
        _ => Reply::new(302).header("location", "http://example.com/x"),
    });
    let server = server.await;
    let signatures = next_to(&server, "").await.unwrap();
    assert_eq!(signatures.len(), 1);
    assert_eq!(signatures[0].bytes, "{}");
    let place = format!("http://{}/a.wasm.sigstore.json", server.host);
    assert_eq!(signatures[0].place, place);
}
