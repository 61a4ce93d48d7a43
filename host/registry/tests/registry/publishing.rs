//! Published components are fetched as they were.

use std::fs;

use airlock_registry::{Annotations, Digest, annotation};
use serde_json::{Value, json};

use crate::support::registry::{Registry, http};
use crate::support::{cache, client, client_with, component, reference};

fn annotations(version: &str) -> Annotations {
    [
        (annotation::TITLE, "dedupe"),
        (annotation::VERSION, version),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into()
}

#[tokio::test]
async fn publishing_and_fetching_are_inverse() {
    let registry = Registry::start().await;
    let client = client();
    let (cache, _folder) = cache();
    for bytes in [0, 1, 100_000, 3_000_000] {
        let component = component(bytes);
        let reference = reference(&registry.host, "ann/dedupe:1");
        let annotations = annotations("1");
        let published = client
            .publish(&reference, component.clone(), &annotations)
            .await;
        let published = published.unwrap();
        assert_eq!(published.component, Digest::of(&component));

        let artifact = client.resolve(&reference).await.unwrap();
        assert_eq!(artifact.digest, published.digest);
        assert_eq!(artifact.reference, published.reference);
        assert_eq!(artifact.component, published.component);
        assert_eq!(artifact.bytes, component.len() as u64);
        assert_eq!(artifact.annotations, annotations);

        let mut last = (0, None);
        let mut progress = |bytes, total| last = (bytes, total);
        let fetched = client
            .fetch(&artifact, &cache, &mut progress)
            .await
            .unwrap();
        assert_eq!(fs::read(&fetched.path).unwrap(), component);
        assert_eq!(fetched.digest, artifact.component);
        assert_eq!(last, (artifact.bytes, Some(artifact.bytes)));
    }
}

#[tokio::test]
async fn the_same_bytes_have_the_same_digest_everywhere() {
    let client = client();
    let mut digests = Vec::new();
    for (path, version) in [("a:1", "1"), ("b/c:2", "1"), ("a:1", "1"), ("a:1", "2")] {
        let registry = Registry::start().await;
        let reference = reference(&registry.host, path);
        let annotations = annotations(version);
        let published = client
            .publish(&reference, component(100), &annotations)
            .await;
        digests.push(published.unwrap().digest);
    }
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[0], digests[2]);
    assert_ne!(digests[0], digests[3]);
}

#[tokio::test]
async fn the_manifest_and_the_config_are_those_of_the_specification() {
    let registry = Registry::start().await;
    let component = component(10);
    let reference = reference(&registry.host, "x");
    let annotations = annotations("1");
    let client = client();
    let published = client
        .publish(&reference, component.clone(), &annotations)
        .await;
    let published = published.unwrap();
    let get = async |path: String| {
        let url = format!("http://{}/v2/x/{path}", registry.host);
        let request = http()
            .get(url)
            .header("accept", "application/vnd.oci.image.manifest.v1+json");
        let bytes = request.send().await.unwrap().bytes().await.unwrap();
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        (value, bytes)
    };
    let (manifest, bytes) = get(format!("manifests/{}", published.digest)).await;
    assert_eq!(Digest::of(&bytes), published.digest);
    let config_digest = manifest["config"]["digest"].as_str().unwrap().to_owned();
    let (config, bytes) = get(format!("blobs/{config_digest}")).await;
    assert_eq!(
        manifest,
        json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": {
                "mediaType": "application/vnd.wasm.config.v0+json",
                "digest": Digest::of(&bytes),
                "size": bytes.len(),
            },
            "layers": [{
                "mediaType": "application/wasm",
                "digest": Digest::of(&component),
                "size": component.len(),
            }],
            "annotations": {
                "org.opencontainers.image.title": "dedupe",
                "org.opencontainers.image.version": "1",
            },
        })
    );
    assert_eq!(
        config,
        json!({
            "architecture": "wasm",
            "os": "wasip2",
            "layerDigests": [Digest::of(&component)],
            "component": {
                "exports": ["airlock:test/exported"],
                "imports": ["airlock:test/imported@1.0.0"],
            },
        })
    );
}

#[tokio::test]
async fn what_can_not_be_published_is_refused_before_anything_is_sent() {
    let client = client_with(|options| options.max_component_bytes = 1000);
    // Nothing listens there.
    let nowhere = reference("127.0.0.1:1", "x:1");
    let pinned = nowhere.clone().pinned(Digest::of(b""));
    let module = wat::parse_str("(module)").unwrap();
    let cases = [
        (&nowhere, module.into(), "127.0.0.1:1/x:1 is not a component: the file is a core module; only components can be published".to_owned()),
        (&nowhere, component(2000), "127.0.0.1:1/x:1 is larger than the limit of 1000 bytes".to_owned()),
        (&pinned, component(1), format!("can't publish to {pinned}: a digest can't be chosen")),
    ];
    for (reference, bytes, message) in cases {
        let error = client.publish(reference, bytes, &Annotations::new()).await;
        assert_eq!(error.unwrap_err().to_string(), message);
    }
}
