//! Registries that don't send the component.

use airlock_registry::{Cache, Digest, Error};
use bytes::Bytes;

use crate::support::server::{Reply, Request, Server, file};
use crate::support::{
    cache, client, client_with, component, fetch, manifest, manifest_of, partial_files, reference,
};

/// Fetches from a registry with this manifest that answers so for the component.
async fn refused(
    manifest: serde_json::Value,
    blob: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    limit: u64,
    cache: &Cache,
) -> Error {
    let server = Server::registry(manifest, blob).await;
    let client = client_with(|options| options.max_component_bytes = limit);
    let artifact = client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap();
    let fetched = client.fetch(&artifact, cache, &mut |_, _| {}).await;
    let error = fetched.unwrap_err();
    assert!(!cache.path(artifact.component).exists());
    // The message names the reference.
    let name = artifact.reference.to_string();
    assert!(error.to_string().starts_with(&name), "{error}");
    error
}

#[tokio::test]
async fn truncated_contents_are_refused() {
    let whole = component(200_000);
    let half = whole.slice(..100_000);
    for has_length in [true, false] {
        let (cache, _folder) = cache();
        let sent = half.clone();
        let blob = move |request: &Request| file(request, &sent).with_length(has_length);
        let error = refused(manifest(&whole), blob, 1 << 20, &cache).await;
        let message = error.to_string();
        let end = format!(" is truncated: expected {} bytes, got 100000", whole.len());
        assert!(message.ends_with(&end), "{message}");
        let Error::Truncated {
            expected, actual, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((expected, actual), (whole.len() as u64, 100_000));
    }
}

#[tokio::test]
async fn padded_contents_are_refused() {
    let whole = component(200_000);
    let padded: Bytes = [&whole[..], b"more"].concat().into();
    for has_length in [true, false] {
        let (cache, folder) = cache();
        let sent = padded.clone();
        let blob = move |request: &Request| file(request, &sent).with_length(has_length);
        let error = refused(manifest(&whole), blob, 1 << 20, &cache).await;
        assert!(matches!(error, Error::Padded { .. }), "{error}");
        assert_eq!(partial_files(&folder), []);
    }
}

#[tokio::test]
async fn swapped_contents_are_refused() {
    let whole = component(200_000);
    let mut swapped = whole.to_vec();
    *swapped.last_mut().unwrap() ^= 1;
    let actual = Digest::of(&swapped);
    let swapped = Bytes::from(swapped);
    let (cache, folder) = cache();
    let blob = move |request: &Request| file(request, &swapped);
    let error = refused(manifest(&whole), blob, 1 << 20, &cache).await;
    let expected = Digest::of(&whole);
    let message = error.to_string();
    let end = format!(" was swapped or damaged: expected {expected}, got {actual}");
    assert!(message.ends_with(&end), "{message}");
    assert_eq!(partial_files(&folder), []);
}

#[tokio::test]
async fn a_size_that_lies_is_refused() {
    let whole = component(1000);
    let bytes = whole.len() as u64;
    for size in [bytes - 1, bytes + 1, 0] {
        let (cache, _folder) = cache();
        let sent = whole.clone();
        let blob = move |request: &Request| file(request, &sent);
        let manifest = manifest_of(Digest::of(&whole), size);
        let error = refused(manifest, blob, 1 << 20, &cache).await;
        match size > bytes {
            true => assert!(matches!(error, Error::Truncated { .. }), "{error}"),
            false if size == 0 => assert!(matches!(error, Error::WrongContents { .. }), "{error}"),
            false => assert!(matches!(error, Error::Padded { .. }), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_component_over_the_limit_is_not_asked_for() {
    let (cache, folder) = cache();
    let manifest = manifest_of(Digest::of(b"x"), u64::MAX);
    let blob = |_: &Request| panic!("the component was asked for");
    let error = refused(manifest, blob, 1 << 20, &cache).await;
    assert!(
        matches!(
            error,
            Error::TooLarge {
                limit: 1_048_576,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(partial_files(&folder), []);
}

#[tokio::test]
async fn a_bomb_is_read_no_further_than_promised() {
    for has_length in [true, false] {
        let (cache, folder) = cache();
        let blob = move |_: &Request| {
            let bomb = Reply::new(200).body(vec![0; 1 << 20]).times(1 << 14);
            bomb.with_length(has_length)
        };
        let error = refused(manifest_of(Digest::of(b"x"), 1000), blob, 1 << 20, &cache).await;
        assert!(
            matches!(error, Error::Padded { expected: 1000, .. }),
            "{error}"
        );
        assert_eq!(partial_files(&folder), []);
    }
}

#[tokio::test]
async fn a_compressed_answer_is_refused() {
    let server = Server::registry(manifest(b"x"), |_| {
        Reply::new(200).header("content-encoding", "gzip").body("x")
    });
    let server = server.await;
    let client = client();
    let (cache, _folder) = cache();
    let artifact = client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap();
    let error = fetch(&client, &artifact, &cache).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            r#"{} gave an unexpected answer: it compresses with "gzip", which was not asked for"#,
            server.host
        )
    );
}

#[tokio::test]
async fn a_component_in_the_cache_is_not_asked_for_again_unless_it_is_damaged() {
    let whole = component(1000);
    let sent = whole.clone();
    let server = Server::registry(manifest(&whole), move |request| file(request, &sent)).await;
    let client = client();
    let (cache, _folder) = cache();
    let artifact = client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap();
    let again = async || fetch(&client, &artifact, &cache).await.unwrap();
    let first = again().await;
    assert_eq!(again().await, first);
    assert_eq!(server.requests().len(), 2);
    std::fs::write(&first.path, "damaged").unwrap();
    assert_eq!(again().await, first);
    assert_eq!(std::fs::read(&first.path).unwrap(), whole);
    assert_eq!(server.requests().len(), 3);
}
