//! Debian's docker-registry, on a free port and in a temporary folder.

use std::fs;
use std::process::Stdio;

use airlock_registry::Digest;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::program;

/// The user `ann` with the password `secret`, as `htpasswd -B` writes it.
const HTPASSWD: &str = "ann:$2b$04$iYQuF2VZ.yNzf9YBpWJN5eQypF54QCIP1ggAQ/zLAPI65NtN1D5Ee\n";

/// A registry that ends with the test.
pub struct Registry {
    pub host: String,
    _process: Child,
    _folder: TempDir,
}

impl Registry {
    /// Starts a registry that is open to all.
    pub async fn start() -> Self {
        Self::start_with("").await
    }

    /// Starts a registry that wants a password.
    pub async fn start_private() -> Self {
        Self::start_with("auth: {htpasswd: {realm: test, path: htpasswd}}").await
    }

    async fn start_with(auth: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = format!(
            "version: 0.1\n\
             log: {{level: info}}\n\
             storage: {{filesystem: {{rootdirectory: data}}, delete: {{enabled: true}}}}\n\
             http: {{addr: '127.0.0.1:0'}}\n\
             {auth}\n"
        );
        fs::write(folder.path().join("config.yml"), config).unwrap();
        fs::write(folder.path().join("htpasswd"), HTPASSWD).unwrap();
        let mut process = Command::new(program("docker-registry"))
            .args(["serve", "config.yml"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut log = String::new();
        let host = loop {
            let line = lines.next_line().await.unwrap();
            let line = line.unwrap_or_else(|| panic!("docker-registry ended:\n{log}"));
            if let Some((_, rest)) = line.split_once("listening on ") {
                break rest.split(['"', ' ', ',']).next().unwrap().to_owned();
            }
            log.push_str(&line);
            log.push('\n');
        };
        // It must never wait for the pipe to be read.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self {
            host,
            _process: process,
            _folder: folder,
        }
    }

    /// Uploads bytes as they are.
    pub async fn upload(&self, repository: &str, bytes: &[u8]) -> Digest {
        let base = format!("http://{}/v2/{repository}/blobs/uploads/", self.host);
        let client = http();
        let response = client.post(base).send().await.unwrap();
        let location = response.headers()["location"].to_str().unwrap().to_owned();
        let digest = Digest::of(bytes);
        let put = client.put(format!("{location}&digest={digest}"));
        let response = put.body(bytes.to_vec()).send().await.unwrap();
        assert_eq!(response.status(), 201);
        digest
    }

    /// Gives a repository's tag a manifest, as it is.
    pub async fn tag(&self, repository: &str, tag: &str, manifest: &Value) -> Digest {
        let media_type = manifest["mediaType"].as_str().unwrap();
        let url = format!("http://{}/v2/{repository}/manifests/{tag}", self.host);
        let put = http().put(url).header("content-type", media_type);
        let response = put.body(manifest.to_string()).send().await.unwrap();
        let status = response.status();
        assert_eq!(status, 201, "{}", response.text().await.unwrap());
        Digest::of(manifest.to_string().as_bytes())
    }
}

/// A client of HTTP alone.
pub fn http() -> reqwest::Client {
    let roots = rustls::RootCertStore::empty();
    let provider = rustls::crypto::ring::default_provider();
    let tls = rustls::ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let builder = reqwest::Client::builder().no_proxy();
    builder.tls_backend_preconfigured(tls).build().unwrap()
}
