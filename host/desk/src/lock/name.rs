//! The names of installed plugins.

use std::fmt;
use std::str::FromStr;

use airlock_registry::Reference;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of an installed plugin: letters, digits, `-` and `_`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct InstalledName(#[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"))] String);

impl InstalledName {
    /// The maximum length, in bytes.
    const MAX: usize = 64;

    /// Returns the name that a reference suggests: the last part of its repository or path, without
    /// an extension. `None` if nothing of it can be in a name.
    pub fn suggested_by(reference: &Reference) -> Option<Self> {
        let last = match reference {
            Reference::Oci(oci) => oci.repository().rsplit('/').next()?.to_owned(),
            Reference::Web(web) => {
                let address = web.as_str().split(['?', '#']).next()?;
                // After the scheme, an empty part and the host.
                let path = address.splitn(4, '/').nth(3)?.trim_end_matches('/');
                stem(path.rsplit('/').next()?)
            }
            Reference::Path(path) => stem(&path.file_name()?.to_string_lossy()),
        };
        let allowed = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
        let name = last.replace(|it| !allowed(it), "-");
        let name = name.trim_start_matches(['-', '_']).trim_end_matches('-');
        let end = name.len().min(Self::MAX);
        name[..end].parse().ok()
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn stem(name: &str) -> String {
    let endings = [".wasm", ".toml"];
    let stem = endings.iter().find_map(|it| name.strip_suffix(it));
    stem.unwrap_or(name).to_owned()
}

impl FromStr for InstalledName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = (1..=Self::MAX).contains(&text.len())
            && text.starts_with(|it: char| it.is_ascii_alphanumeric())
            && (text.bytes()).all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'));
        if is_name {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "{text:?} is not a plugin's name: it takes letters, digits, - and _, and at most {} of them",
                Self::MAX
            ))
        }
    }
}

impl TryFrom<String> for InstalledName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<InstalledName> for String {
    fn from(name: InstalledName) -> Self {
        name.0
    }
}

impl fmt::Display for InstalledName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_suggests_a_name() {
        let check = |reference: &str, expected: Option<&str>| {
            let reference: Reference = reference.parse().unwrap();
            let name = InstalledName::suggested_by(&reference);
            assert_eq!(name.as_ref().map(InstalledName::as_str), expected);
        };
        check("ghcr.io/ann/dedupe:1", Some("dedupe"));
        check("127.0.0.1:5999/x", Some("x"));
        check("ghcr.io/ann/my.tools", Some("my-tools"));
        check("https://example.com/a/dedupe.wasm", Some("dedupe"));
        check(
            "https://example.com/a/dedupe-1.2.wasm?raw=1",
            Some("dedupe-1-2"),
        );
        check("https://example.com/", None);
        check("./search.toml", Some("search"));
        check("/tmp/dedupe/", Some("dedupe"));
        check("..", None);
    }
}
