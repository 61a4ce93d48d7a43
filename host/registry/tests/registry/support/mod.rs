//! Shared parts of the tests.

pub mod cutting;
pub mod listing;
pub mod registry;
pub mod server;

use std::env;
use std::path::{Path, PathBuf};

use airlock_registry::{
    Annotations, Artifact, Cache, Client, Credentials, Digest, Error, Fetched, OciReference,
    Options, Published,
};
use bytes::Bytes;
use tempfile::TempDir;

/// A program that `tests/registry/install` installs.
pub fn program(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let program = target.join("registry/bin").join(name);
    assert!(
        program.exists(),
        "{name} is missing; install it: tests/registry/install"
    );
    program
}

/// A component with this many bytes that don't repeat, and about 100 others.
pub fn component(bytes: usize) -> Bytes {
    let text = r#"(component
        (import "airlock:test/imported@1.0.0" (instance))
        (instance $i)
        (export "airlock:test/exported" (instance $i)))"#;
    let mut component = wat::parse_str(text).unwrap();
    // A custom section: its id, its size, the size of its name, and its name.
    let mut section = b"\x05noise".to_vec();
    let mut state = bytes as u64 + 1;
    for _ in 0..bytes {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        section.push((state >> 33) as u8);
    }
    component.push(0);
    let mut size = section.len();
    while size > 127 {
        component.push((size & 127) as u8 | 128);
        size >>= 7;
    }
    component.push(size as u8);
    component.extend(section);
    component.into()
}

/// A client without credentials.
pub fn client() -> Client {
    client_with(|_| {})
}

pub fn client_with(change: impl FnOnce(&mut Options)) -> Client {
    let mut options = Options::default();
    options.credentials = Credentials::Anonymous;
    change(&mut options);
    Client::new(options).unwrap()
}

/// Publishes without annotations.
pub async fn publish(client: &Client, reference: &OciReference, component: Bytes) -> Published {
    let published = client
        .publish(reference, component, &Annotations::new())
        .await;
    published.unwrap()
}

/// Fetches without looking at the progress.
pub async fn fetch(client: &Client, artifact: &Artifact, cache: &Cache) -> Result<Fetched, Error> {
    client.fetch(artifact, cache, &mut |_, _| {}).await
}

/// A cache in a folder that is removed with it.
pub fn cache() -> (Cache, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Cache::new(folder.path()), folder)
}

/// What remains of downloads that didn't end, without the locks.
pub fn partial_files(folder: &TempDir) -> Vec<(String, u64)> {
    let Ok(entries) = folder.path().join("partial").read_dir() else {
        return Vec::new();
    };
    let entries = entries.map(|entry| entry.unwrap());
    let files = entries.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        (name, entry.metadata().unwrap().len())
    });
    files.filter(|(name, _)| !name.ends_with(".lock")).collect()
}

pub fn reference(host: &str, rest: &str) -> OciReference {
    format!("{host}/{rest}").parse().unwrap()
}

/// The manifest of a component, as JSON.
pub fn manifest(component: &[u8]) -> serde_json::Value {
    manifest_of(Digest::of(component), component.len() as u64)
}

pub fn manifest_of(digest: Digest, size: u64) -> serde_json::Value {
    serde_json::json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {
            "mediaType": "application/vnd.wasm.config.v0+json",
            "digest": Digest::of(b"{}"),
            "size": 2,
        },
        "layers": [{"mediaType": "application/wasm", "digest": digest, "size": size}],
    })
}
