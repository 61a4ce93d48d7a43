//! What other programs read and write.

use std::fs;
use std::process::Command;

use airlock_registry::{Annotations, Credentials, Digest, SignatureFormat, annotation};
use serde_json::{Value, json};

use crate::support::registry::Registry;
use crate::support::{cache, client, client_with, component, fetch, program, publish, reference};

/// What skopeo prints.
fn skopeo(arguments: &[&str]) -> String {
    let output = Command::new(program("skopeo"))
        .arg("--insecure-policy")
        .args(arguments)
        .output()
        .unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn skopeo_reads_and_copies_what_is_published() {
    let registry = Registry::start().await;
    let client = client();
    let component = component(100_000);
    let title = (annotation::TITLE.to_owned(), "dedupe".to_owned());
    let annotations = Annotations::from([title]);
    let name = reference(&registry.host, "ann/dedupe:1");
    let published = client.publish(&name, component.clone(), &annotations).await;
    let published = published.unwrap();

    let source = format!("docker://{name}");
    let manifest = skopeo(&["inspect", "--raw", "--tls-verify=false", &source]);
    assert_eq!(Digest::of(manifest.as_bytes()), published.digest);
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["annotations"][annotation::TITLE], "dedupe");

    let folder = tempfile::tempdir().unwrap();
    let directory = format!("dir:{}", folder.path().display());
    skopeo(&["copy", "--src-tls-verify=false", &source, &directory]);
    let file = folder.path().join(published.component.to_hex());
    assert_eq!(fs::read(file).unwrap(), component);

    // And back, from its copy.
    let copy = reference(&registry.host, "ben/copied:2");
    let target = format!("docker://{copy}");
    skopeo(&["copy", "--dest-tls-verify=false", &directory, &target]);
    let artifact = client.resolve(&copy).await.unwrap();
    assert_eq!(artifact.digest, published.digest);
    let (cache, _folder) = cache();
    let fetched = fetch(&client, &artifact, &cache).await.unwrap();
    assert_eq!(fs::read(fetched.path).unwrap(), component);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_by_skopeo_is_used() {
    let registry = Registry::start_private().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    let file = file.to_str().unwrap();
    let login = [
        "login",
        "--tls-verify=false",
        "--username=ann",
        "--password=secret",
    ];
    skopeo(&[&login[..], &["--authfile", file, &registry.host]].concat());
    let path = folder.path().to_owned();
    let client = client_with(|options| options.credentials = Credentials::DockerFolder(path));
    publish(&client, &reference(&registry.host, "x:1"), component(1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn skopeo_reads_the_tag_with_the_signatures() {
    let registry = Registry::start().await;
    let client = client();
    let name = reference(&registry.host, "ann/dedupe:1");
    let published = publish(&client, &name, component(1)).await;
    let pinned = &published.reference;
    let attach = client.attach(pinned, SignatureFormat::Minisign, "m".into());
    let digest = attach.await.unwrap();

    let raw = |name: String| {
        let source = format!("docker://{}/ann/dedupe{name}", registry.host);
        skopeo(&["inspect", "--raw", "--tls-verify=false", &source])
    };
    let signature = raw(format!("@{digest}"));
    let index: Value =
        serde_json::from_str(&raw(format!(":sha256-{}", published.digest.to_hex()))).unwrap();
    assert_eq!(
        index,
        json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [{
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "digest": digest,
                "size": signature.len(),
                "artifactType": "application/vnd.airlock.minisign.v1",
            }],
        })
    );
}
