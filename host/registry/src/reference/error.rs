//! Why a text isn't a reference.

/// The reason why a text isn't a [`Reference`](crate::Reference), and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// The text is empty.
    #[error("the reference is empty: write HOST/REPOSITORY:TAG, a URL or a path")]
    Empty,
    /// The text begins or ends with white space.
    #[error("{0:?} has spaces around it: leave them out")]
    Space(String),
    /// The text has a control character.
    #[error("the reference has the control character U+{:04X}: leave it out, or rename the file", u32::from(*.0))]
    Control(char),
    /// The text has a scheme that isn't supported.
    #[error("{0}:// is not supported: write oci://, https:// or a path")]
    Scheme(String),
    /// The slashes after a scheme are missing.
    #[error("the slashes after {0}: are missing: write {0}://")]
    Slashes(&'static str),
    /// The text is a `file:` URL.
    #[error("{0} is a file URL: write the path itself, such as /home/ann/dedupe.wasm")]
    FileUrl(String),
    /// The text begins with `~`.
    #[error("{0:?} begins with ~, which only a shell replaces: write the full path, or ./{0}")]
    Home(String),
    /// The text has neither a registry nor the form of a path.
    #[error("{0:?} names no registry: write HOST/{0} for a registry, or ./{0} for a file")]
    NoRegistry(String),
    /// The registry's host isn't a host name or an IP address, with a port.
    #[error("{host:?} is not a registry's host: {problem}; for a file, write ./{text}")]
    Host {
        /// The whole reference.
        text: String,
        /// The part that should be a host.
        host: String,
        /// The problem.
        problem: &'static str,
    },
    /// The repository's name is empty or has characters that OCI doesn't allow.
    #[error("{repository:?} is not a repository's name: {problem}")]
    Repository {
        /// The part that should be a repository.
        repository: String,
        /// The problem.
        problem: &'static str,
    },
    /// The repository's name has capitals.
    #[error("{repository:?} is not a repository's name: it has capitals; write {:?}", .repository.to_lowercase())]
    Capitals {
        /// The part that should be a repository.
        repository: String,
    },
    /// The tag is empty, too long or has characters that OCI doesn't allow.
    #[error(
        "{0:?} is not a tag: a tag has at most 128 letters, digits, dots, dashes and underscores, \
         and begins with a letter, a digit or an underscore"
    )]
    Tag(String),
    /// The digest after `@` isn't one.
    #[error("{0:?} is not a digest: write @sha256: and 64 hexadecimal digits")]
    Digest(String),
    /// The text isn't a place.
    #[error("{text:?} is not a place: {problem}")]
    Place {
        /// The text that should be a place.
        text: String,
        /// The problem.
        problem: &'static str,
    },
    /// The URL has plain `http`, and its host isn't this machine.
    #[error("{0} is not encrypted: write https://; http:// is for localhost alone")]
    NotEncrypted(String),
    /// The URL isn't valid.
    #[error("{text:?} is not a URL: {problem}")]
    Url {
        /// The text that should be a URL.
        text: String,
        /// The problem.
        problem: String,
    },
}
