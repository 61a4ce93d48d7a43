//! References to artifacts in OCI registries.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use url::Url;

use super::is_host;
use crate::local::is_local;
use crate::{Digest, Error, ReferenceError};

/// The most characters that a host and a repository have together.
const LONGEST_NAME: usize = 255;

/// An artifact in an OCI registry: `HOST[:PORT]/REPOSITORY[:TAG][@sha256:DIGEST]`.
///
/// The host is kept in lowercase.
/// The tag is `latest` if there is neither a tag nor a digest.
/// With both, the digest alone says which artifact it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OciReference {
    host: String,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

impl OciReference {
    /// Returns the registry's host, with its port if the reference has one.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the repository's name.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the tag, if the reference has one.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns the tag, or `latest` if the reference has none.
    pub fn tag_or_latest(&self) -> &str {
        self.tag.as_deref().unwrap_or("latest")
    }

    /// Returns the digest of the manifest, if the reference is pinned to one.
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }

    /// Returns this reference pinned to `digest`, with the tag it has.
    #[must_use]
    pub fn pinned(mut self, digest: Digest) -> Self {
        self.digest = Some(digest);
        self
    }

    /// Returns this reference without its digest.
    #[must_use]
    pub fn unpinned(mut self) -> Self {
        self.digest = None;
        self
    }

    /// Whether the registry is on this machine (`localhost`, `127.0.0.1` or `[::1]`).
    /// Only then is it asked by plain HTTP.
    pub fn is_local(&self) -> bool {
        is_local(&self.host)
    }

    /// The address of the registry.
    pub(crate) fn base_url(&self) -> Result<Url, Error> {
        let scheme = if self.is_local() { "http" } else { "https" };
        // Docker's registry is not where its name says.
        let host = match self.host.as_str() {
            "docker.io" | "index.docker.io" => "registry-1.docker.io",
            host => host,
        };
        Url::parse(&format!("{scheme}://{host}/v2/")).map_err(|error| self.server_error(error))
    }

    /// The repository's name in the registry's addresses.
    pub(crate) fn api_repository(&self) -> String {
        match self.host.as_str() {
            "docker.io" | "index.docker.io" if !self.repository.contains('/') => {
                format!("library/{}", self.repository)
            }
            _ => self.repository.clone(),
        }
    }

    /// The address of something in the repository, such as `manifests/latest`.
    pub(crate) fn url(&self, path: &str) -> Result<Url, Error> {
        let path = format!("{}/{path}", self.api_repository());
        self.base_url()?
            .join(&path)
            .map_err(|error| self.server_error(error))
    }

    /// The error that blames the registry for a problem.
    pub(crate) fn server_error(&self, problem: impl fmt::Display) -> Error {
        Error::Server {
            host: self.host.clone(),
            problem: problem.to_string(),
        }
    }

    /// Reads a reference without a scheme.
    pub(super) fn parse(text: &str) -> Result<Self, ReferenceError> {
        let (host, path) = text.split_once('/').unwrap_or((text, ""));
        let host = parse_host(text, host)?;
        let (path, digest) = match path.split_once('@') {
            Some((path, digest)) => (path, Some(parse_digest(digest)?)),
            None => (path, None),
        };
        let (repository, tag) = match path.split_once(':') {
            Some((repository, tag)) => (repository, Some(parse_tag(tag)?)),
            None => (path, None),
        };
        check_repository(repository)?;
        if host.len() + 1 + repository.len() > LONGEST_NAME {
            return Err(ReferenceError::Repository {
                repository: repository.to_owned(),
                problem: "with the host, it has more than 255 characters",
            });
        }
        Ok(Self {
            host,
            repository: repository.to_owned(),
            tag,
            digest,
        })
    }
}

impl FromStr for OciReference {
    type Err = ReferenceError;

    /// Reads an OCI reference, with or without `oci://`.
    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        super::check_characters(text)?;
        match super::scheme(text) {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("oci") => Self::parse(rest),
            Some((scheme, _)) => Err(ReferenceError::Scheme(scheme.to_owned())),
            None => Self::parse(text),
        }
    }
}

impl fmt::Display for OciReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !is_host(&self.host) {
            f.write_str("oci://")?;
        }
        write!(f, "{}/{}", self.host, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

fn parse_digest(text: &str) -> Result<Digest, ReferenceError> {
    text.parse()
        .map_err(|_| ReferenceError::Digest(text.to_owned()))
}

pub(super) fn parse_host(text: &str, host: &str) -> Result<String, ReferenceError> {
    let host = host.to_ascii_lowercase();
    match problem_of_host(&host) {
        None => Ok(host),
        Some(problem) => Err(ReferenceError::Host {
            text: text.to_owned(),
            host,
            problem,
        }),
    }
}

fn problem_of_host(host: &str) -> Option<&'static str> {
    if host.is_empty() {
        return Some("it is empty");
    }
    if !host.is_ascii() {
        return Some("it has characters outside of ASCII; write its xn-- form");
    }
    if let Some(rest) = host.strip_prefix('[') {
        return match rest.split_once(']') {
            Some((address, _)) if address.parse::<Ipv6Addr>().is_err() => {
                Some("there is no IPv6 address in the brackets")
            }
            Some((_, "")) => None,
            Some((_, port)) => problem_of_port(port.strip_prefix(':').unwrap_or_default()),
            None => Some("the closing bracket is missing"),
        };
    }
    if host.matches(':').count() > 1 {
        return Some("an IPv6 address is written in brackets");
    }
    let (name, port) = match host.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    problem_of_name(name).or_else(|| port.and_then(problem_of_port))
}

fn problem_of_name(name: &str) -> Option<&'static str> {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Some(
            "a host name has labels of letters, digits and dashes, with dots between them",
        );
    }
    // Programs disagree about addresses such as 127.1 and 0x7f.0.0.1.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_numeric = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    if is_numeric && name.parse::<Ipv4Addr>().is_err() {
        return Some("an IPv4 address has four numbers from 0 to 255");
    }
    None
}

fn problem_of_port(port: &str) -> Option<&'static str> {
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0');
    if is_number && port.parse::<u16>().is_ok() {
        None
    } else {
        Some("a port is a number from 1 to 65535")
    }
}

pub(super) fn check_repository(repository: &str) -> Result<(), ReferenceError> {
    let problem = if repository.is_empty() {
        "it is empty"
    } else if repository.split('/').any(str::is_empty) {
        "a part between two slashes is empty"
    } else if !repository
        .split('/')
        .all(|part| is_component(&part.to_ascii_lowercase()))
    {
        "its parts have letters and digits, with single dots, one or two underscores, or dashes between them"
    } else if repository.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(ReferenceError::Capitals {
            repository: repository.to_owned(),
        });
    } else {
        return Ok(());
    };
    Err(ReferenceError::Repository {
        repository: repository.to_owned(),
        problem,
    })
}

/// Whether `part` is letters and digits, with separators between them: `.`, `_`, `__` or dashes.
fn is_component(part: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_separator =
        |text: &str| matches!(text, "" | "." | "_" | "__") || text.bytes().all(|byte| byte == b'-');
    part.starts_with(is_letter)
        && part.ends_with(is_letter)
        && part.split(is_letter).all(is_separator)
}

fn parse_tag(tag: &str) -> Result<String, ReferenceError> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_tag = tag.len() <= 128
        && tag.starts_with(is_word)
        && tag.chars().all(|c| is_word(c) || c == '.' || c == '-');
    if is_tag {
        Ok(tag.to_owned())
    } else {
        Err(ReferenceError::Tag(tag.to_owned()))
    }
}
