//! Manifests behind tags and digests.

use std::fs;

use airlock_registry::{ArtifactError, Digest, Error};
use serde_json::json;

use crate::support::registry::Registry;
use crate::support::server::{Reply, Server};
use crate::support::{cache, client, component, fetch, manifest, publish, reference};

#[tokio::test]
async fn a_pinned_reference_stays_where_it_is_when_its_tag_moves() {
    let registry = Registry::start().await;
    let client = client();
    let (cache, _folder) = cache();
    let tag = reference(&registry.host, "ann/dedupe:1");
    let old = publish(&client, &tag, component(1)).await;
    let new = publish(&client, &tag, component(2)).await;
    assert_ne!(old.digest, new.digest);

    let artifact = client.resolve(&tag).await.unwrap();
    assert_eq!(artifact.digest, new.digest);
    let artifact = client.resolve(&old.reference).await.unwrap();
    assert_eq!(artifact.digest, old.digest);
    let fetched = fetch(&client, &artifact, &cache).await.unwrap();
    assert_eq!(fs::read(fetched.path).unwrap(), component(1));
}

#[tokio::test]
async fn without_a_tag_it_is_latest() {
    let registry = Registry::start().await;
    let client = client();
    let bare = reference(&registry.host, "x");
    let published = publish(&client, &bare, component(1)).await;
    let latest = client
        .resolve(&reference(&registry.host, "x:latest"))
        .await
        .unwrap();
    assert_eq!(latest.digest, published.digest);
    let artifact = client.resolve(&bare).await.unwrap();
    assert_eq!(artifact.digest, published.digest);
}

#[tokio::test]
async fn an_unknown_repository_tag_or_digest_is_not_found() {
    let registry = Registry::start().await;
    let client = client();
    let known = reference(&registry.host, "x:1");
    publish(&client, &known, component(1)).await;
    let unknown = Digest::of(b"unknown");
    for rest in ["y:1", "x:2", &format!("x@{unknown}")] {
        let name = reference(&registry.host, rest);
        let error = client.resolve(&name).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
        assert_eq!(
            error.to_string(),
            format!(
                "{name} was not found: {} has no such repository or tag",
                registry.host
            )
        );
        assert_eq!(
            error.hint().unwrap(),
            format!(
                "check the spelling; for a private repository: docker login {}",
                registry.host
            )
        );
    }
}

/// Resolves `x:1`, which is no component.
async fn refused(registry: &str) -> String {
    let name = reference(registry, "x:1");
    let error = client().resolve(&name).await.unwrap_err();
    assert!(matches!(error, Error::Artifact { .. }), "{error}");
    let message = error.to_string();
    let rest = message.strip_prefix(&format!("{name} is not a component: "));
    rest.unwrap_or(&message).to_owned()
}

#[tokio::test]
async fn artifacts_that_are_not_components_are_refused_by_name() {
    let registry = Registry::start().await;
    let bytes = component(1);
    registry.upload("x", &bytes).await;
    registry.upload("x", b"{}").await;

    let good = manifest(&bytes);
    let digest = registry.tag("x", "good", &good).await;
    let descriptor = json!({
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "digest": digest,
        "size": good.to_string().len(),
        "platform": {"architecture": "wasm", "os": "wasip2"},
    });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [descriptor],
    });
    registry.tag("x", "1", &index).await;
    assert_eq!(
        refused(&registry.host).await,
        "it is an image index of 1 manifests, and a component has one for all platforms"
    );

    let mut layers = good.clone();
    layers["layers"] = json!([good["layers"][0], good["layers"][0]]);
    registry.tag("x", "1", &layers).await;
    assert_eq!(
        refused(&registry.host).await,
        "it has 2 layers instead of one"
    );

    let mut image = good.clone();
    image["config"]["mediaType"] = json!("application/vnd.oci.image.config.v1+json");
    registry.tag("x", "1", &image).await;
    assert_eq!(
        refused(&registry.host).await,
        r#"its config has the media type "application/vnd.oci.image.config.v1+json" instead of "application/vnd.wasm.config.v0+json""#
    );

    let mut layer = good.clone();
    layer["layers"][0]["mediaType"] = json!("application/vnd.wasm.content.layer.v1+wasm");
    registry.tag("x", "1", &layer).await;
    assert_eq!(
        refused(&registry.host).await,
        r#"its layer has the media type "application/vnd.wasm.content.layer.v1+wasm" instead of "application/wasm""#
    );
}

#[tokio::test]
async fn a_manifest_of_another_digest_is_refused() {
    let manifest = manifest(b"x");
    let actual = Digest::of(manifest.to_string().as_bytes());
    let server = Server::registry(manifest, |_| Reply::new(404)).await;
    let expected = Digest::of(b"another");
    let name = reference(&server.host, &format!("x:1@{expected}"));
    let error = client().resolve(&name).await.unwrap_err();
    assert!(matches!(error, Error::WrongManifest { .. }), "{error}");
    let host = &server.host;
    assert_eq!(
        error.to_string(),
        format!(
            "{host} sent another manifest than the reference names: expected {expected}, got {actual}"
        )
    );
    let pinned = reference(&server.host, &format!("x@{actual}"));
    assert_eq!(client().resolve(&pinned).await.unwrap().digest, actual);
}

#[tokio::test]
async fn a_manifest_that_is_not_what_the_registry_says_is_refused() {
    let text = manifest(b"x").to_string();
    let said = Digest::of(b"another");
    let server = Server::start(move |_| {
        let reply = Reply::new(200).header("Docker-Content-Digest", said);
        reply.body(text.clone())
    });
    let server = server.await;
    let error = client().resolve(&reference(&server.host, "x:1")).await;
    let error = error.unwrap_err();
    assert!(matches!(error, Error::WrongManifest { expected, .. } if expected == said));
}

#[tokio::test]
async fn a_manifest_that_is_too_large_is_not_read() {
    for has_length in [true, false] {
        let server = Server::start(move |_| {
            let reply = Reply::new(200).body(vec![b' '; 1 << 20]).times(1 << 14);
            reply.with_length(has_length)
        });
        let server = server.await;
        let error = client().resolve(&reference(&server.host, "x:1")).await;
        let Err(Error::Artifact { source, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(source, ArtifactError::ManifestTooLarge);
    }
}
