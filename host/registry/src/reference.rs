//! References to components: an OCI reference, a URL or a path.

mod error;
mod oci;
mod place;
mod web;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use error::ReferenceError;
pub use oci::OciReference;
pub use place::Place;
pub use web::WebReference;

/// The place of a component: in an OCI registry, at a URL or on disk.
///
/// # How a text is read
///
/// The text alone decides, never the file system or the network.
/// The first rule that applies counts:
///
/// 1. A text that is empty, has spaces around it, or has a control character is an error.
/// 2. A text that begins with `SCHEME://`, in any case, is read by the scheme: `oci://` is an OCI
///    reference, `https://` a URL, and `http://` a URL on this machine (`localhost`, `127.0.0.1`
///    or `[::1]`). All other schemes are errors, and so are `file:`, `http:`, `https:` and `oci:`
///    without the slashes.
/// 3. A text that begins with `/`, `./`, `../` or a drive letter (`C:\` or `C:/`), or that has a
///    `\`, is a path on every system, and so are `.` and `..`.
/// 4. A text that begins with `~` is an error: only a shell knows what that means.
/// 5. If the part before the first `/` has a `.`, a `:` or a `[`, or is `localhost` in any case,
///    the text is an OCI reference. The part is the registry's host.
/// 6. If the last part ends in `.wasm` or `.toml`, in any case, the text is a path.
/// 7. A text with a `/`, but without `:` and `@`, is a path.
/// 8. Everything else is an error: an OCI reference must name its registry, and a file in the
///    current folder is written with `./`.
///
/// So `127.0.0.1:5999/x` and `ghcr.io/ann/dedupe:1` are never paths, and `./ghcr.io/x` always is.
/// No registry is the default one: `ann/dedupe` is a path, and `docker.io/ann/dedupe` isn't.
///
/// ```
/// use airlock_registry::Reference;
///
/// let reference: Reference = "ghcr.io/ann/dedupe:1".parse()?;
/// assert!(matches!(reference, Reference::Oci(_)));
/// let reference: Reference = "./ghcr.io/ann/dedupe.wasm".parse()?;
/// assert!(matches!(reference, Reference::Path(_)));
/// # Ok::<(), airlock_registry::ReferenceError>(())
/// ```
///
/// Printing a reference gives a text that is read as the same reference.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Reference {
    /// An artifact in an OCI registry.
    Oci(OciReference),
    /// A file on a web server.
    Web(WebReference),
    /// A file or folder.
    Path(PathBuf),
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        check_characters(text)?;
        if let Some((scheme, rest)) = scheme(text) {
            return match scheme.to_ascii_lowercase().as_str() {
                "oci" => OciReference::parse(rest).map(Self::Oci),
                "http" | "https" => text.parse().map(Self::Web),
                "file" => Err(ReferenceError::FileUrl(text.to_owned())),
                _ => Err(ReferenceError::Scheme(scheme.to_owned())),
            };
        }
        if let Some(scheme) = scheme_without_slashes(text) {
            return Err(match scheme {
                "file" => ReferenceError::FileUrl(text.to_owned()),
                _ => ReferenceError::Slashes(scheme),
            });
        }
        if is_plainly_a_path(text) {
            return Ok(Self::Path(text.into()));
        }
        if text.starts_with('~') {
            return Err(ReferenceError::Home(text.to_owned()));
        }
        match text.split_once('/') {
            Some((first, _)) if is_host(first) => OciReference::parse(text).map(Self::Oci),
            _ if has_extension_of_a_file(text) => Ok(Self::Path(text.into())),
            Some(_) if !text.contains([':', '@']) => Ok(Self::Path(text.into())),
            _ => Err(ReferenceError::NoRegistry(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Reference {
    type Error = ReferenceError;

    fn try_from(text: String) -> Result<Self, ReferenceError> {
        text.parse()
    }
}

impl From<Reference> for String {
    fn from(reference: Reference) -> Self {
        reference.to_string()
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oci(oci) => oci.fmt(f),
            Self::Web(web) => web.fmt(f),
            Self::Path(path) => {
                let text = path.to_string_lossy();
                // Only a path that wasn't parsed can be read otherwise.
                if matches!(text.parse(), Ok(Self::Path(_))) {
                    f.write_str(&text)
                } else {
                    write!(f, "./{text}")
                }
            }
        }
    }
}

fn check_characters(text: &str) -> Result<(), ReferenceError> {
    if text.is_empty() {
        return Err(ReferenceError::Empty);
    }
    if text.trim() != text {
        return Err(ReferenceError::Space(text.to_owned()));
    }
    match text.chars().find(|c| c.is_control()) {
        Some(control) => Err(ReferenceError::Control(control)),
        None => Ok(()),
    }
}

/// The scheme of a text that begins with one, and what follows the `://`.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some((scheme, rest))
}

fn scheme_without_slashes(text: &str) -> Option<&'static str> {
    let (first, _) = text.split_once(':')?;
    ["file", "http", "https", "oci"]
        .into_iter()
        .find(|scheme| first.eq_ignore_ascii_case(scheme))
}

fn is_plainly_a_path(text: &str) -> bool {
    let has_drive =
        matches!(text.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    has_drive
        || text == "."
        || text == ".."
        || text.starts_with(['/'])
        || text.starts_with("./")
        || text.starts_with("../")
        || text.contains('\\')
}

/// Whether the part before the first `/` of a reference makes it one to a registry.
fn is_host(first: &str) -> bool {
    first.contains(['.', ':', '[']) || first.eq_ignore_ascii_case("localhost")
}

fn has_extension_of_a_file(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [".wasm", ".toml"].iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests;
