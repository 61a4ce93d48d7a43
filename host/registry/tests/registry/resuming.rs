//! Downloads that are cut.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use airlock_registry::{Digest, Error};
use bytes::Bytes;

use crate::support::cutting::Cutting;
use crate::support::registry::Registry;
use crate::support::server::{Reply, Server, file};
use crate::support::{
    cache, client, component, fetch, manifest, partial_files, publish, reference,
};

#[tokio::test]
async fn a_download_survives_a_cut_after_each_64_kib() {
    let registry = Registry::start().await;
    let whole = component(2_000_000);
    let client = client();
    let direct = reference(&registry.host, "x:1");
    publish(&client, &direct, whole.clone()).await;

    let cutting = Cutting::start(&registry.host, 64 << 10).await;
    let (cache, _folder) = cache();
    let artifact = client
        .resolve(&reference(&cutting.host, "x:1"))
        .await
        .unwrap();
    let mut seen = Vec::new();
    let mut progress = |bytes, total| {
        assert_eq!(total, Some(whole.len() as u64));
        seen.push(bytes);
    };
    let fetched = client
        .fetch(&artifact, &cache, &mut progress)
        .await
        .unwrap();
    assert_eq!(fs::read(fetched.path).unwrap(), whole);
    // Nothing is asked for twice, except for the bytes under way when a connection was cut.
    assert!((30..=40).contains(&cutting.cuts()), "{}", cutting.cuts());
    assert!(seen.is_sorted());
}

#[tokio::test]
async fn a_download_survives_cuts_at_any_point() {
    let registry = Registry::start().await;
    let whole = component(20_000);
    let client = client();
    let direct = reference(&registry.host, "x:1");
    publish(&client, &direct, whole.clone()).await;
    // An answer's headers have about 500 bytes, and a manifest's answer 1,100.
    for bytes in [1500, 2048, 4099, 8192, 19_999, 20_200, 20_700] {
        let cutting = Cutting::start(&registry.host, bytes).await;
        let (cache, _folder) = cache();
        let artifact = client
            .resolve(&reference(&cutting.host, "x:1"))
            .await
            .unwrap();
        let fetched = fetch(&client, &artifact, &cache).await.unwrap();
        assert_eq!(fs::read(fetched.path).unwrap(), whole, "{bytes}");
    }
}

#[tokio::test]
async fn a_cancelled_download_is_continued_by_the_next() {
    let whole = component(200_000);
    let sent = whole.clone();
    let server = Server::registry(manifest(&whole), move |request| match request.start() {
        // The rest never comes.
        0 => {
            let half = sent.slice(..100_000);
            Reply::new(200)
                .header("content-length", sent.len())
                .body(half)
        }
        _ => file(request, &sent),
    });
    let server = server.await;
    let client = client();
    let (cache, folder) = cache();
    let artifact = client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap();
    let (has_half, half) = tokio::sync::oneshot::channel();
    let mut has_half = Some(has_half);
    let mut progress = |bytes, _| {
        if bytes == 100_000
            && let Some(has_half) = has_half.take()
        {
            has_half.send(()).unwrap();
        }
    };
    tokio::select! {
        fetched = client.fetch(&artifact, &cache, &mut progress) => drop(fetched),
        _ = half => {}
    }
    let name = artifact.component.to_hex();
    assert_eq!(partial_files(&folder), [(name, 100_000)]);

    let mut first = None;
    let mut progress = |bytes, _| _ = first.get_or_insert(bytes);
    let fetched = client
        .fetch(&artifact, &cache, &mut progress)
        .await
        .unwrap();
    assert_eq!(fs::read(fetched.path).unwrap(), whole);
    assert_eq!(first, Some(100_000));
    assert_eq!(server.requests().last().unwrap().start(), 100_000);
    assert_eq!(partial_files(&folder), []);
}

#[tokio::test]
async fn damaged_bytes_of_an_earlier_process_are_fetched_again() {
    let whole = component(10_000);
    let sent = whole.clone();
    let server = Server::registry(manifest(&whole), move |request| file(request, &sent)).await;
    let client = client();
    let artifact = client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap();
    for damaged in [&b"damaged"[..], &vec![0; whole.len()], &[0; 20_000]] {
        let (cache, folder) = cache();
        fs::create_dir_all(folder.path().join("partial")).unwrap();
        let partial = folder
            .path()
            .join("partial")
            .join(artifact.component.to_hex());
        fs::write(partial, damaged).unwrap();
        let fetched = fetch(&client, &artifact, &cache).await.unwrap();
        assert_eq!(fs::read(fetched.path).unwrap(), whole);
        assert_eq!(partial_files(&folder), []);
    }
}

#[tokio::test]
async fn a_server_that_can_not_continue_is_asked_for_all() {
    let whole = component(10_000);
    let requests = AtomicUsize::new(0);
    let sent = whole.clone();
    let server = Server::registry(manifest(&whole), move |_| {
        let reply = Reply::new(200).header("content-length", sent.len());
        match requests.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => reply.body(sent.slice(..5000)),
            _ => reply.body(sent.clone()),
        }
    });
    let server = server.await;
    let client = client();
    let (cache, _folder) = cache();
    let artifact = client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap();
    let fetched = fetch(&client, &artifact, &cache).await.unwrap();
    assert_eq!(fs::read(fetched.path).unwrap(), whole);
}

#[tokio::test]
async fn another_part_than_was_asked_for_is_not_used() {
    let whole = component(10_000);
    let sent = whole.clone();
    let server = Server::registry(manifest(&whole), move |request| match request.start() {
        0 => {
            let reply = Reply::new(200).header("content-length", sent.len());
            reply.body(sent.slice(..5000))
        }
        start => {
            let range = format!("bytes {}-{}/{}", start - 1, sent.len() - 1, sent.len());
            let reply = Reply::new(206).header("content-range", range);
            reply.body(sent.slice(start - 1..))
        }
    });
    let server = server.await;
    let client = client();
    let (cache, _folder) = cache();
    let artifact = client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap();
    let error = fetch(&client, &artifact, &cache).await.unwrap_err();
    assert!(
        matches!(error, Error::Server { .. } | Error::Unreachable { .. }),
        "{error}"
    );
    assert!(!cache.path(Digest::of(&whole)).exists());
}

#[tokio::test]
async fn two_downloads_of_one_component_do_not_disturb_each_other() {
    let whole: Bytes = component(1_000_000);
    let registry = Registry::start().await;
    let client = client();
    let name = reference(&registry.host, "x:1");
    publish(&client, &name, whole.clone()).await;
    let (cache, folder) = cache();
    let artifact = client.resolve(&name).await.unwrap();
    let (mut one, mut two) = (|_, _| {}, |_, _| {});
    let both = tokio::join!(
        client.fetch(&artifact, &cache, &mut one),
        client.fetch(&artifact, &cache, &mut two),
    );
    assert_eq!(both.0.unwrap(), both.1.unwrap());
    assert_eq!(fs::read(cache.path(artifact.component)).unwrap(), whole);
    assert_eq!(partial_files(&folder), []);
}
