//! A registry in memory with a list of referrers, which Debian's docker-registry lacks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use airlock_registry::{Artifact, Digest};
use serde_json::{Value, json};

use super::server::{Reply, Request, Server};
use super::{client, manifest, reference};

pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
pub const MINISIGN: &str = "application/vnd.airlock.minisign.v1";

/// An index with these entries.
pub fn index(entries: &[Value]) -> Value {
    json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries})
}

/// The manifest of a bundle with this digest and size.
pub fn signature_of(subject: &Artifact, digest: Digest, size: usize) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": BUNDLE,
        "config": {
            "mediaType": "application/vnd.oci.empty.v1+json",
            "digest": Digest::of(b"{}"),
            "size": 2,
        },
        "layers": [{"mediaType": BUNDLE, "digest": digest, "size": size}],
        "subject": {"mediaType": MANIFEST, "digest": subject.digest, "size": 1},
    })
}

/// The entry of an index for a manifest.
pub fn entry(manifest: &Value, artifact_type: Option<&str>) -> Value {
    let text = manifest.to_string();
    let digest = Digest::of(text.as_bytes());
    let mut entry = json!({"mediaType": MANIFEST, "digest": digest, "size": text.len()});
    if let Some(artifact_type) = artifact_type {
        entry["artifactType"] = artifact_type.into();
    }
    entry
}

#[derive(Default)]
struct State {
    /// By tag and by digest.
    manifests: HashMap<String, String>,
    blobs: HashMap<String, String>,
    entries: Vec<Value>,
}

/// A registry that ends with the test. It keeps texts only.
pub struct Listing {
    pub server: Server,
    state: Arc<Mutex<State>>,
}

impl Listing {
    pub async fn start() -> Self {
        Self::start_with(usize::MAX, |_| None).await
    }

    /// Starts a registry that lists this many referrers on a page, and lies as `lie` says.
    pub async fn start_with(
        page: usize,
        lie: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        let server = Server::start(move |request| match lie(request) {
            Some(reply) => reply,
            None => shared.lock().unwrap().answer(request, page),
        });
        Self {
            server: server.await,
            state,
        }
    }

    /// A component that the registry has.
    pub async fn component(&self) -> Artifact {
        let manifest = manifest(b"x").to_string();
        self.tag("1", manifest.clone());
        self.state.lock().unwrap().store(manifest);
        let name = reference(&self.server.host, "x:1");
        client().resolve(&name).await.unwrap()
    }

    /// Adds a blob.
    pub fn blob(&self, text: &str) -> Digest {
        let digest = Digest::of(text.as_bytes());
        let mut state = self.state.lock().unwrap();
        state.blobs.insert(digest.to_string(), text.to_owned());
        digest
    }

    /// Adds a manifest, and lists it with this type.
    pub fn list(&self, manifest: &Value, artifact_type: Option<&str>) -> Digest {
        let mut state = self.state.lock().unwrap();
        state.entries.push(entry(manifest, artifact_type));
        state.store(manifest.to_string())
    }

    /// Adds a good bundle, and lists it.
    pub fn bundle(&self, subject: &Artifact, text: &str) -> Digest {
        let digest = self.blob(text);
        self.list(&signature_of(subject, digest, text.len()), Some(BUNDLE))
    }

    pub fn tag(&self, tag: &str, text: String) {
        let mut state = self.state.lock().unwrap();
        state.manifests.insert(tag.to_owned(), text);
    }

    pub fn tagged(&self, tag: &str) -> Option<String> {
        self.state.lock().unwrap().manifests.get(tag).cloned()
    }

    /// How many requests the registry got whose path contains `part`.
    pub fn count(&self, part: &str) -> usize {
        let requests = self.server.requests();
        requests.iter().filter(|it| it.path.contains(part)).count()
    }
}

impl State {
    fn store(&mut self, manifest: String) -> Digest {
        let digest = Digest::of(manifest.as_bytes());
        self.manifests.insert(digest.to_string(), manifest);
        digest
    }

    fn answer(&mut self, request: &Request, page: usize) -> Reply {
        let path = request.path.strip_prefix("/v2/x/").unwrap();
        if let Some(rest) = path.strip_prefix("referrers/") {
            return self.page(rest, page);
        }
        let (kind, name) = path.split_once('/').unwrap();
        match (request.method.as_str(), kind) {
            ("POST", "blobs") => Reply::new(202).header("location", "/v2/x/blobs/upload"),
            ("PUT", "blobs") => {
                let digest = Digest::of(request.body.as_bytes()).to_string();
                self.blobs.insert(digest, request.body.clone());
                Reply::new(201)
            }
            ("PUT", _) => self.put(name, &request.body),
            (_, "blobs") => found(self.blobs.get(name)),
            _ => found(self.manifests.get(name)),
        }
    }

    fn put(&mut self, name: &str, manifest: &str) -> Reply {
        let digest = self.store(manifest.to_owned());
        self.manifests.insert(name.to_owned(), manifest.to_owned());
        let manifest: Value = serde_json::from_str(manifest).unwrap();
        let reply = Reply::new(201);
        match manifest["subject"]["digest"].as_str() {
            Some(subject) => {
                let mut entry = entry(&manifest, manifest["artifactType"].as_str());
                // The text that came has another order of fields.
                entry["digest"] = json!(digest);
                self.entries.push(entry);
                reply.header("OCI-Subject", subject)
            }
            None => reply,
        }
    }

    fn page(&self, rest: &str, page: usize) -> Reply {
        let (digest, start) = rest.split_once("?start=").unwrap_or((rest, "0"));
        let start: usize = start.parse().unwrap();
        let end = start.saturating_add(page).min(self.entries.len());
        let reply = Reply::new(200).body(index(&self.entries[start..end]).to_string());
        let reply = reply.header("content-type", INDEX);
        if end == self.entries.len() {
            return reply;
        }
        let next = format!("</v2/x/referrers/{digest}?start={end}>; rel=\"next\"");
        reply.header("Link", next)
    }
}

fn found(text: Option<&String>) -> Reply {
    match text {
        Some(text) => Reply::new(200).body(text.clone()),
        None => Reply::new(404),
    }
}
