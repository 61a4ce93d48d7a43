//! Places that references lead to.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use url::Url;

use super::oci::{check_repository, parse_host};
use super::{Reference, ReferenceError, WebReference};
use super::{check_characters, is_host, scheme};
use crate::local::is_local;

/// A registry, a web server, or a part of one; or a file or folder on disk.
///
/// It is written like the beginning of a reference, up to a slash: `ghcr.io`, `ghcr.io/ann`,
/// `https://example.com/tools` or `/opt/tools`.
/// All spellings of a place are the same one: with the scheme's own port, in capitals where these
/// don't matter, with escapes in an address, with docker's other names for its registry, or through
/// links on disk.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Place {
    text: String,
    spot: Spot,
}

/// A place in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Spot {
    Server { origin: String, parts: Vec<String> },
    Path(PathBuf),
}

impl Place {
    /// Returns whether a reference leads there.
    pub fn contains(&self, reference: &Reference) -> bool {
        match (&self.spot, reference) {
            (Spot::Path(place), Reference::Path(path)) => {
                let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
                path.starts_with(place) || real(path).starts_with(real(place))
            }
            (Spot::Server { origin, parts }, Reference::Oci(oci)) => {
                // Docker's own images have two names.
                let spellings = [oci.repository(), &oci.api_repository()].map(parts_of);
                *origin == registry(oci.host()) && spellings.iter().any(|it| it.starts_with(parts))
            }
            (Spot::Server { origin, parts }, Reference::Web(web)) => {
                *origin == server(web.url()) && parts_of_url(web.url()).starts_with(parts)
            }
            _ => false,
        }
    }

    fn at_registry(text: &str) -> Result<Spot, ReferenceError> {
        let (host, rest) = text.split_once('/').unwrap_or((text, ""));
        let repository = rest.trim_end_matches('/');
        if !repository.is_empty() {
            check_repository(repository)?;
        }
        Ok(Spot::Server {
            origin: registry(&parse_host(text, host)?),
            parts: parts_of(repository),
        })
    }
}

impl FromStr for Place {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        check_characters(text)?;
        let problem = |problem| ReferenceError::Place {
            text: text.to_owned(),
            problem,
        };
        let first = text.split('/').next().unwrap_or_default();
        let spot = match scheme(text) {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("oci") => Self::at_registry(rest)?,
            Some(_) => {
                let web: WebReference = text.parse()?;
                if web.url().query().is_some() {
                    return Err(problem("a query is no part of a place"));
                }
                Spot::Server {
                    origin: server(web.url()),
                    parts: parts_of_url(web.url()),
                }
            }
            None if text.starts_with('/') => Spot::Path(text.into()),
            None if is_host(first) && !first.starts_with('.') => Self::at_registry(text)?,
            None => {
                return Err(problem(
                    "write a registry's host, an address with https://, or a path that begins with /",
                ));
            }
        };
        let text = text.to_owned();
        Ok(Self { text, spot })
    }
}

impl TryFrom<String> for Place {
    type Error = ReferenceError;

    fn try_from(text: String) -> Result<Self, ReferenceError> {
        text.parse()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The normal form of a registry.
fn registry(host: &str) -> String {
    let own_port = if is_local(host) { ":80" } else { ":443" };
    let host = host.strip_suffix(own_port).unwrap_or(host);
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    match &*host {
        "index.docker.io" | "registry-1.docker.io" => "docker.io".to_owned(),
        _ => host,
    }
}

/// The normal form of a web server, whose scheme keeps it apart from a registry.
fn server(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    let port = url.port().map(|port| format!(":{port}"));
    format!("{}://{host}{}", url.scheme(), port.unwrap_or_default())
}

fn parts_of(path: &str) -> Vec<String> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn parts_of_url(url: &Url) -> Vec<String> {
    let path = percent_decode_str(url.path()).decode_utf8_lossy();
    let mut parts = Vec::new();
    for part in parts_of(&path) {
        match &*part {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_contains_what_is_below_it_however_that_is_spelled() {
        let check = |place: &str, reference: &str, expected: bool| {
            let (place, reference): (Place, Reference) =
                (place.parse().unwrap(), reference.parse().unwrap());
            assert_eq!(place.contains(&reference), expected, "{place} {reference}");
        };
        for place in [
            "ghcr.io",
            "GHCR.io/",
            "ghcr.io:443",
            "oci://ghcr.io",
            "ghcr.io/ann",
            "ghcr.io/ann/dedupe",
        ] {
            for reference in [
                "ghcr.io/ann/dedupe",
                "Ghcr.IO/ann/dedupe:1",
                "ghcr.io:443/ann/dedupe:1",
                "oci://ghcr.io/ann/dedupe",
            ] {
                check(place, reference, true);
            }
        }
        check("ghcr.io/an", "ghcr.io/ann/dedupe:1", false);
        check("ghcr.io/ann/dedupe/x", "ghcr.io/ann/dedupe:1", false);
        check("ghcr.io", "ghcr.io.evil.example/ann/dedupe:1", false);
        check("ghcr.io", "ghcr.io:8443/ann/dedupe:1", false);
        check("ghcr.io", "https://ghcr.io/ann/dedupe.wasm", false);
        check("127.0.0.1:80", "127.0.0.1/x", true);
        for place in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
            check(place, "docker.io/ann/x", true);
            check(place, "registry-1.docker.io/ann/x", true);
        }
        check("docker.io/library", "docker.io/redis", true);
        check("docker.io/redis", "docker.io/redis", true);

        for reference in [
            "https://example.com/a/x.wasm?from=/",
            "https://EXAMPLE.com:443/b/../a/x.wasm",
            "https://example.com./a/x.wasm",
            "https://example.com//a/x.wasm",
            "https://example.com/%61/x.wasm",
            "https://example.com/b/%2e%2e/a/x.wasm",
        ] {
            check("https://example.com/a", reference, true);
            check("https://Example.com:443/a/", reference, true);
        }
        check("https://example.com/a", "https://example.com/ab", false);
        check(
            "https://example.com/a",
            "https://example.com/a/../b/x",
            false,
        );
        check(
            "https://example.com",
            "https://example.com.evil.example/x",
            false,
        );
        check("/opt/tools", "/opt/tools/x.wasm", true);
        check("/opt/tools", "/opt/tools2/x.wasm", false);
    }

    #[test]
    fn a_link_on_disk_leads_to_the_same_place() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        std::fs::write(real.join("x.wasm"), "").unwrap();
        let place: Place = real.to_str().unwrap().parse().unwrap();
        assert!(place.contains(&Reference::Path(link.join("x.wasm"))));
        assert!(!place.contains(&Reference::Path(folder.path().join("x.wasm"))));
    }

    #[test]
    fn what_could_never_match_is_no_place() {
        for text in [
            "",
            "/ann ",
            "ann",
            "ann/dedupe",
            "./tools",
            "../tools",
            "~/tools",
            "ghcr.io/ann/*",
            "ghcr.io/ann/dedupe:1",
            "ghcr.io/Ann",
            "https://example.com/?x",
            "http://example.com/",
            "ftp://example.com",
        ] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
