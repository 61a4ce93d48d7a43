//! Signatures that are attached are found again.

use std::sync::atomic::{AtomicUsize, Ordering};

use airlock_registry::{
    Artifact, Client, Credentials, Digest, Error, FoundSignature, MAX_SIGNATURE_BYTES,
    SignatureFormat,
};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::support::listing::{BUNDLE, INDEX, Listing, MANIFEST, MINISIGN, entry, index};
use crate::support::registry::{Registry, http};
use crate::support::server::Reply;
use crate::support::{client, client_with, component, publish, reference};

const FILES: [(SignatureFormat, &str); 2] = [
    (SignatureFormat::SigstoreBundle, "{}"),
    (SignatureFormat::Minisign, "untrusted comment: x\n"),
];

/// Publishes a component as `x:1`.
async fn published(registry: &Registry, client: &Client) -> Artifact {
    let name = reference(&registry.host, "x:1");
    publish(client, &name, component(1)).await;
    client.resolve(&name).await.unwrap()
}

/// The name and the bytes of a manifest, or `None` if it doesn't exist.
async fn raw(registry: &Registry, name: &str) -> Option<Bytes> {
    let url = format!("http://{}/v2/x/manifests/{name}", registry.host);
    let accept = format!("{MANIFEST}, {INDEX}");
    let response = http().get(url).header("accept", accept).send().await;
    let response = response.unwrap();
    match response.status().as_u16() {
        200 => Some(response.bytes().await.unwrap()),
        status => {
            assert_eq!(status, 404);
            None
        }
    }
}

fn tag(artifact: &Artifact) -> String {
    format!("sha256-{}", artifact.digest.to_hex())
}

/// Attaches both files, and returns them as they should be found.
async fn attach_both(client: &Client, artifact: &Artifact) -> Vec<FoundSignature> {
    let mut attached = Vec::new();
    for (format, bytes) in FILES {
        let digest = client.attach(&artifact.reference, format, bytes.into());
        let digest = digest.await.unwrap();
        attached.push(FoundSignature {
            format,
            bytes: bytes.into(),
            place: digest.to_string(),
        });
    }
    attached.sort_by(|a, b| a.place.cmp(&b.place));
    attached
}

#[tokio::test]
async fn a_registry_without_a_list_gets_a_tag() {
    let registry = Registry::start().await;
    let client = client();
    let artifact = published(&registry, &client).await;
    assert_eq!(client.signatures(&artifact).await.unwrap(), []);
    let attached = attach_both(&client, &artifact).await;
    assert_eq!(client.signatures(&artifact).await.unwrap(), attached);

    // The same again changes nothing.
    let before = raw(&registry, &tag(&artifact)).await.unwrap();
    assert_eq!(attach_both(&client, &artifact).await, attached);
    assert_eq!(raw(&registry, &tag(&artifact)).await.unwrap(), before);

    // Another component has none.
    let other = reference(&registry.host, "x:2");
    publish(&client, &other, component(2)).await;
    let other = client.resolve(&other).await.unwrap();
    assert_eq!(client.signatures(&other).await.unwrap(), []);
}

#[tokio::test]
async fn a_registry_with_a_list_gets_no_tag() {
    let listing = Listing::start().await;
    let client = client();
    let artifact = listing.component().await;
    let attached = attach_both(&client, &artifact).await;
    assert_eq!(client.signatures(&artifact).await.unwrap(), attached);
    assert_eq!(listing.tagged(&tag(&artifact)), None);
    assert_eq!(listing.count("/manifests/sha256-"), 0);
}

#[tokio::test]
async fn the_manifest_of_a_signature_is_that_of_the_specification() {
    let registry = Registry::start().await;
    let client = client();
    let artifact = published(&registry, &client).await;
    let subject = raw(&registry, &artifact.digest.to_string()).await.unwrap();
    for ((format, bytes), media_type) in FILES.into_iter().zip([BUNDLE, MINISIGN]) {
        let digest = client.attach(&artifact.reference, format, bytes.into());
        let digest = digest.await.unwrap();
        let manifest = raw(&registry, &digest.to_string()).await.unwrap();
        assert_eq!(Digest::of(&manifest), digest);
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        assert_eq!(
            manifest,
            json!({
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "artifactType": media_type,
                "config": {
                    "mediaType": "application/vnd.oci.empty.v1+json",
                    "digest": Digest::of(b"{}"),
                    "size": 2,
                },
                "layers": [{
                    "mediaType": media_type,
                    "digest": Digest::of(bytes.as_bytes()),
                    "size": bytes.len(),
                }],
                "subject": {
                    "mediaType": MANIFEST,
                    "digest": artifact.digest,
                    "size": subject.len(),
                },
            })
        );
    }
}

#[tokio::test]
async fn other_entries_of_the_tag_stay_as_they_are() {
    let registry = Registry::start().await;
    let client = client();
    let artifact = published(&registry, &client).await;
    let component = raw(&registry, &artifact.digest.to_string()).await.unwrap();
    registry.upload("x", b"{}").await;
    registry.upload("x", b"old").await;
    // As a client before OCI 1.1 writes it.
    let old = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": MINISIGN, "digest": Digest::of(b"{}"), "size": 2},
        "layers": [{"mediaType": "text/plain", "digest": Digest::of(b"old"), "size": 3}],
        "subject": {"mediaType": MANIFEST, "digest": artifact.digest, "size": component.len()},
    });
    let old_digest = registry.tag("x", "old", &old).await;
    let mut other = json!({
        "mediaType": MANIFEST,
        "digest": artifact.digest,
        "size": component.len(),
        "artifactType": "application/spdx+json",
    });
    other["annotations"] = json!({"b": "1", "a": "2"});
    let old_index = index(&[other.clone(), entry(&old, None)]);
    registry.tag("x", &tag(&artifact), &old_index).await;

    let attached = attach_both(&client, &artifact).await;
    let found = client.signatures(&artifact).await.unwrap();
    assert_eq!(found.len(), 3);
    assert!(attached.iter().all(|it| found.contains(it)));
    let expected = FoundSignature {
        format: SignatureFormat::Minisign,
        bytes: "old".into(),
        place: old_digest.to_string(),
    };
    assert!(found.contains(&expected), "{found:?}");
    let bytes = raw(&registry, &tag(&artifact)).await.unwrap();
    let written: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(written["manifests"][0], other);
    assert_eq!(written["manifests"][1], entry(&old, None));
    assert_eq!(written["manifests"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_tag_that_is_no_index_is_not_replaced() {
    let registry = Registry::start().await;
    let client = client();
    let artifact = published(&registry, &client).await;
    let bytes = raw(&registry, "1").await.unwrap();
    let manifest: Value = serde_json::from_slice(&bytes).unwrap();
    registry.tag("x", &tag(&artifact), &manifest).await;
    let before = raw(&registry, &tag(&artifact)).await;
    let attach = client.attach(&artifact.reference, SignatureFormat::Minisign, "m".into());
    let message = format!(
        "{} gave an unexpected answer: the tag for the referrers of a manifest is no index",
        registry.host
    );
    assert_eq!(attach.await.unwrap_err().to_string(), message);
    let error = client.signatures(&artifact).await.unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(raw(&registry, &tag(&artifact)).await, before);
}

#[tokio::test]
async fn an_entry_that_another_client_overwrites_is_added_again() {
    let listing = losing(1).await;
    let artifact = listing.component().await;
    let client = client();
    let attach = client.attach(&artifact.reference, SignatureFormat::Minisign, "m".into());
    let digest = attach.await.unwrap();
    let index = listing.tagged(&tag(&artifact)).unwrap();
    assert!(index.contains(&digest.to_string()), "{index}");

    let listing = losing(usize::MAX).await;
    let artifact = listing.component().await;
    let attach = client.attach(&artifact.reference, SignatureFormat::Minisign, "m".into());
    let error = attach.await.unwrap_err().to_string();
    let problem = "it doesn't keep the signature in its list of referrers";
    assert!(error.ends_with(problem), "{error}");
}

/// A registry without a list that loses the first writes of the tag.
async fn losing(lost: usize) -> Listing {
    let writes = AtomicUsize::new(0);
    Listing::start_with(usize::MAX, move |request| {
        let is_write = request.method == "PUT";
        if request.path.contains("/referrers/") {
            return Some(Reply::new(404));
        }
        let is_lost = if request.path.contains("/manifests/sha256-") {
            is_write && writes.fetch_add(1, Ordering::SeqCst) < lost
        } else {
            // A signature isn't listed.
            is_write && request.path.contains("/manifests/")
        };
        is_lost.then(|| Reply::new(201))
    })
    .await
}

#[tokio::test]
async fn a_private_registry_wants_the_password() {
    let registry = Registry::start_private().await;
    let folder = tempfile::tempdir().unwrap();
    let auth = "YW5uOnNlY3JldA==";
    let config = json!({"auths": {registry.host.clone(): {"auth": auth}}});
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let path = folder.path().to_owned();
    let ann = client_with(|options| options.credentials = Credentials::DockerFolder(path));
    let artifact = published(&registry, &ann).await;
    let attached = attach_both(&ann, &artifact).await;
    assert_eq!(ann.signatures(&artifact).await.unwrap(), attached);
    let anonymous = client();
    let attach = anonymous.attach(&artifact.reference, SignatureFormat::Minisign, "m".into());
    for error in [
        attach.await.map(drop),
        anonymous.signatures(&artifact).await.map(drop),
    ] {
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Unauthorized { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn what_can_not_be_attached_is_refused() {
    let registry = Registry::start().await;
    let client = client();
    let artifact = published(&registry, &client).await;
    let tagged = reference(&registry.host, "x:1");
    let missing = tagged.clone().pinned(Digest::of(b"missing"));
    let pinned = &artifact.reference;
    let large = Bytes::from(vec![b' '; MAX_SIGNATURE_BYTES as usize + 1]);
    let host = &registry.host;
    for (reference, bytes, message) in [
        (
            &tagged,
            "m".into(),
            format!("can't attach a signature to {tagged}: it has no digest"),
        ),
        (
            pinned,
            large,
            format!("the signature for {pinned} is larger than the limit of 1048576 bytes"),
        ),
        (
            &missing,
            "m".into(),
            format!("{missing} was not found: {host} has no such repository or tag"),
        ),
    ] {
        let attach = client.attach(reference, SignatureFormat::Minisign, bytes);
        assert_eq!(attach.await.unwrap_err().to_string(), message);
    }
    let error = Error::AttachToTag(tagged.to_string());
    assert_eq!(
        error.hint().unwrap(),
        "add @ and the digest of the manifest"
    );
    assert_eq!(raw(&registry, &tag(&artifact)).await, None);
}
