//! What can go wrong with a registry, an artifact or a download.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::{ArtifactError, Digest};

/// An error of a registry, a web server, an artifact or the cache.
///
/// The message says what failed; [`hint`](Self::hint) says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server can't be reached, or the connection broke and further attempts failed.
    #[error("can't reach {host}: {problem}")]
    Unreachable {
        /// The server's host.
        host: String,
        /// The last attempt's error.
        problem: String,
    },
    /// The server wants credentials, and there are none, or it refused them (HTTP 401).
    #[error("{host} requires a login: {}", if *.had_credentials { "it refused the saved credentials" } else { "there are no saved credentials" })]
    Unauthorized {
        /// The server's host.
        host: String,
        /// Whether credentials were sent.
        had_credentials: bool,
    },
    /// The user isn't allowed to do this (HTTP 403).
    #[error("{host} denies access to {name}")]
    Forbidden {
        /// The server's host.
        host: String,
        /// The repository or URL.
        name: String,
        /// Whether credentials were sent.
        had_credentials: bool,
    },
    /// There is no such tag, artifact or file (HTTP 404).
    #[error("{name} was not found: {host} has no such {what}")]
    NotFound {
        /// The server's host.
        host: String,
        /// The reference or URL.
        name: String,
        /// The missing thing: `repository or tag`, `component` or `file`.
        what: &'static str,
    },
    /// The server limits the number of requests (HTTP 429).
    #[error("{host} limits requests: too many in a short time")]
    TooManyRequests {
        /// The server's host.
        host: String,
        /// The time to wait, if the server says so.
        retry_after: Option<Duration>,
        /// Whether credentials were sent.
        had_credentials: bool,
    },
    /// The server answered with another error, or in a way that HTTP or OCI don't allow.
    #[error("{host} gave an unexpected answer: {problem}")]
    Server {
        /// The server's host.
        host: String,
        /// The problem, with the status if there is one.
        problem: String,
    },
    /// The saved credentials can't be read.
    #[error("can't read the credentials for {host}: {problem}")]
    Credentials {
        /// The server's host.
        host: String,
        /// The problem.
        problem: String,
    },
    /// The artifact isn't a component in the format that this crate reads.
    #[error("{name} is not a component: {source}")]
    Artifact {
        /// The reference.
        name: String,
        /// The problem with the artifact.
        source: ArtifactError,
    },
    /// The registry sent another manifest than the one with this digest.
    #[error(
        "{host} sent another manifest than the reference names: expected {expected}, got {actual}"
    )]
    WrongManifest {
        /// The registry's host.
        host: String,
        /// The digest of the reference, or the one that the registry gave.
        expected: Digest,
        /// The digest of the bytes.
        actual: Digest,
    },
    /// The component or the signature is larger than the limit.
    #[error("{name} is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The reference or URL.
        name: String,
        /// The limit: for a component,
        /// [`Options::max_component_bytes`](crate::Options::max_component_bytes); for a signature,
        /// [`MAX_SIGNATURE_BYTES`](crate::MAX_SIGNATURE_BYTES).
        limit: u64,
    },
    /// The contents ended early: the server has fewer bytes than it promised.
    #[error("{name} is truncated: expected {expected} bytes, got {actual}")]
    Truncated {
        /// The reference or URL.
        name: String,
        /// The promised number of bytes.
        expected: u64,
        /// The number of bytes that came.
        actual: u64,
    },
    /// The contents don't end after the promised number of bytes.
    #[error("{name} is longer than it should be: expected {expected} bytes")]
    Padded {
        /// The reference or URL.
        name: String,
        /// The promised number of bytes.
        expected: u64,
    },
    /// The contents have another digest than the expected one.
    #[error("{name} was swapped or damaged: expected {expected}, got {actual}")]
    WrongContents {
        /// The reference or URL.
        name: String,
        /// The expected digest.
        expected: Digest,
        /// The digest of the bytes that came.
        actual: Digest,
    },
    /// The reference to publish to has a digest.
    #[error("can't publish to {0}: a digest can't be chosen")]
    PublishToDigest(String),
    /// The artifact to attach a signature to has no digest.
    #[error("can't attach a signature to {0}: it has no digest")]
    AttachToTag(String),
    /// The artifact has more signatures than are read, and none of those could be read.
    #[error("{name} has {count} signatures, and none of the first {limit} can be read")]
    TooManySignatures {
        /// The reference.
        name: String,
        /// The number of signatures that the registry lists.
        count: usize,
        /// The number of signatures that are read.
        limit: usize,
    },
    /// A signature on disk can't be read.
    #[error("can't read the signature {path}: {source}", path = .path.display())]
    Signature {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file or folder of the cache can't be read or written.
    #[error("can't read or write {path}: {source}", path = .path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is no way to make encrypted connections.
    #[error("can't set up encryption: {0}")]
    Encryption(String),
}

impl Error {
    /// Returns the user's next step, if there is one: a sentence without a full stop.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreachable { host, .. } => Some(format!(
                "check the connection and the spelling; if {host} is a folder, write ./{host}/…"
            )),
            Self::Unauthorized { host, .. } => Some(login(host)),
            Self::Forbidden {
                host,
                had_credentials: false,
                ..
            } => Some(login(host)),
            Self::Forbidden { host, .. } => Some(format!(
                "ask the owner for access, or log in as another user: docker login {host}"
            )),
            Self::NotFound {
                host,
                what: "repository or tag",
                ..
            } => Some(format!(
                "check the spelling; for a private repository: docker login {host}"
            )),
            Self::TooManyRequests {
                host,
                retry_after,
                had_credentials,
            } => {
                let wait = match retry_after {
                    Some(time) => format!("try again in {} seconds", time.as_secs()),
                    None => "try again later".to_owned(),
                };
                Some(if *had_credentials {
                    wait
                } else {
                    format!("{wait}, or log in for a higher limit: docker login {host}")
                })
            }
            Self::PublishToDigest(_) => Some("leave out the part that begins with @".to_owned()),
            Self::AttachToTag(_) => Some("add @ and the digest of the manifest".to_owned()),
            Self::Credentials { host, .. } => Some(format!("log in again: docker login {host}")),
            _ => None,
        }
    }
}

fn login(host: &str) -> String {
    format!("log in: docker login {host}")
}
