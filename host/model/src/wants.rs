//! A component's own metadata, and the authority that it wants.

mod item;

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;
use crate::policy::{SHOWN, shown};

pub use item::Want;

/// The authority that a component wants. Wanting something grants nothing: a plugin gets what both
/// its wants and the operator's grants allow.
///
/// A component carries it as JSON in the custom section [`Wants::SECTION`]. Without that section,
/// only grants limit it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Wants {
    /// The paths to read, while previewing and while applying
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Pattern>,
    /// The paths to change while applying. They can be read, too
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<Pattern>,
    /// The environment variables to see
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub environment: BTreeSet<VariableName>,
    /// Clocks that run while an action is applied
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub real_time: bool,
    /// Fresh randomness while an action is applied
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fresh_randomness: bool,
    /// The hosts to talk to. No host grants this yet
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<WantedHost>,
    /// The names of secrets, such as an API key. No host grants this yet
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub secrets: BTreeSet<VariableName>,
}

/// The name of an environment variable or a secret: letters, digits and underscores.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct VariableName(#[schemars(regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$"))] String);

/// A host that a component wants to talk to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct WantedHost {
    /// The protocol
    #[serde(default)]
    pub scheme: Scheme,
    /// The host's name, such as api.example.com, or *.example.com for all names below one
    pub host: String,
    /// The port; without it, the protocol's own
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The methods, such as GET. Without any, all
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub methods: BTreeSet<String>,
    /// When to talk to it
    #[serde(default)]
    pub phase: WantedPhase,
}

/// The protocol for talking to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// HTTP over TLS
    #[default]
    Https,
    /// HTTP that anyone on the way can read and change
    Http,
}

/// When a component wants something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WantedPhase {
    /// While previewing
    #[default]
    Preview,
    /// While applying
    Apply,
}

impl Wants {
    /// The name of the component's section.
    pub const SECTION: &'static str = "airlock:wants";

    /// The most patterns, variables, hosts and secrets together.
    pub const MOST: usize = 64;

    /// The most bytes of all patterns together.
    pub const MOST_BYTES: usize = 4096;

    /// Reads the contents of a section.
    ///
    /// # Errors
    /// Returns the problem as a clause.
    pub fn from_json(json: &str) -> Result<Self, String> {
        let wants: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        wants.check()?;
        Ok(wants)
    }

    /// Checks what the types of the fields don't.
    ///
    /// # Errors
    /// Returns the problem as a clause.
    pub fn check(&self) -> Result<(), String> {
        let count = self.read.len()
            + self.change.len()
            + self.environment.len()
            + self.hosts.len()
            + self.secrets.len();
        if count > Self::MOST {
            return Err(format!(
                "it lists {count} paths, variables, hosts and secrets; the limit is {}",
                Self::MOST
            ));
        }
        let patterns = self.read.iter().chain(&self.change);
        let bytes: usize = patterns.map(|it| it.as_str().len()).sum();
        if bytes > Self::MOST_BYTES {
            return Err(format!(
                "its paths have {bytes} bytes; the limit is {}",
                Self::MOST_BYTES
            ));
        }
        self.hosts.iter().try_for_each(WantedHost::check)
    }
}

impl WantedHost {
    fn check(&self) -> Result<(), String> {
        let name = self.host.strip_prefix("*.").unwrap_or(&self.host);
        let is_name = |it: &str| {
            !it.is_empty()
                && it
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || it == b'-')
        };
        if self.host.len() > 253 || !name.split('.').all(is_name) {
            return Err(format!("{:?} is not the name of a host", self.host));
        }
        let is_method = |it: &String| {
            (1..=20).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_uppercase())
        };
        match self.methods.iter().find(|it| !is_method(it)) {
            Some(method) => Err(format!("{method:?} is not an HTTP method")),
            None => Ok(()),
        }
    }
}

impl VariableName {
    /// The maximum length, in bytes.
    const MAX: usize = 200;

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for VariableName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_name = (1..=Self::MAX).contains(&text.len())
            && !text.starts_with(|it: char| it.is_ascii_digit())
            && text
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_');
        if is_name {
            Ok(Self(text))
        } else {
            Err(format!(
                "{text:?} is not a variable's name: it takes letters, digits and underscores"
            ))
        }
    }
}

impl From<VariableName> for String {
    fn from(name: VariableName) -> String {
        name.0
    }
}

impl fmt::Display for VariableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Formats the host as in `https://api.example.com:8443 (GET, POST) while applying`.
impl fmt::Display for WantedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Https => "https",
            Scheme::Http => "http",
        };
        write!(f, "{scheme}://{}", self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        if !self.methods.is_empty() {
            let methods: Vec<&str> = self.methods.iter().map(String::as_str).collect();
            write!(f, " ({})", methods.join(", "))?;
        }
        f.write_str(match self.phase {
            WantedPhase::Preview => " while previewing",
            WantedPhase::Apply => " while applying",
        })
    }
}

impl Wants {
    /// Returns the wants in words, a clause for each kind.
    pub(crate) fn clauses(&self) -> Vec<String> {
        let mut clauses = Vec::new();
        let listed = |what: &str, mut names: Vec<String>| {
            let more = names.len().saturating_sub(SHOWN);
            names.truncate(SHOWN);
            if more > 0 {
                names.push(format!("and {more} more"));
            }
            format!("{what} {}", names.join(", "))
        };
        if !self.read.is_empty() {
            clauses.push(format!("read {}", shown(&self.read)));
        }
        if !self.change.is_empty() {
            clauses.push(format!("change {}", shown(&self.change)));
        }
        let names =
            |names: &BTreeSet<VariableName>| names.iter().map(ToString::to_string).collect();
        if !self.environment.is_empty() {
            clauses.push(listed("see the variables", names(&self.environment)));
        }
        if self.real_time {
            clauses.push("real time while applying".to_owned());
        }
        if self.fresh_randomness {
            clauses.push("fresh randomness while applying".to_owned());
        }
        if !self.hosts.is_empty() {
            let hosts = self.hosts.iter().map(ToString::to_string).collect();
            clauses.push(listed("talk to", hosts));
        }
        if !self.secrets.is_empty() {
            clauses.push(listed("use the secrets", names(&self.secrets)));
        }
        clauses
    }
}

/// Formats the wants in words, with a clause for each kind, like a
/// [`Policy`](crate::policy::Policy).
impl fmt::Display for Wants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.clauses() {
            [] => f.write_str("nothing"),
            clauses => f.write_str(&clauses.join("; ")),
        }
    }
}

/// A component's own metadata, in the sections that other programs of the WebAssembly
/// ecosystem read and write too. All of it is the publisher's own word.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct About {
    /// The name that its author gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The authors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authors: Option<String>,
    /// The licences, as an SPDX expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licenses: Option<String>,
    /// The address of its home page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// A description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl About {
    /// The maximum length of a fact, in bytes. Longer ones are left out.
    pub const MAX: usize = 4096;

    /// Sets the fact that a section of this name holds. Returns whether it is such a section.
    pub fn set(&mut self, section: &str, data: &[u8]) -> bool {
        let fact = match section {
            "version" => &mut self.version,
            "authors" => &mut self.authors,
            "licenses" => &mut self.licenses,
            "homepage" => &mut self.homepage,
            "description" => &mut self.description,
            _ => return false,
        };
        let text = std::str::from_utf8(data).ok();
        *fact = text
            .filter(|it| it.len() <= Self::MAX && !it.trim().is_empty())
            .map(|it| it.trim().to_owned());
        true
    }

    /// Returns the facts by name, in the order in which people read them.
    pub fn facts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let facts = [
            ("name", &self.name),
            ("version", &self.version),
            ("authors", &self.authors),
            ("licenses", &self.licenses),
            ("homepage", &self.homepage),
            ("description", &self.description),
        ];
        facts
            .into_iter()
            .filter_map(|(name, fact)| Some((name, fact.as_deref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wants_are_read_as_they_are_written() {
        let json = r#"{"read":["**"],"change":["docs/"],"environment":["LANG"],"real-time":true,"hosts":[{"scheme":"https","host":"api.example.com","port":8443,"methods":["GET","POST"],"phase":"apply"}],"secrets":["API_KEY"]}"#;
        let wants = Wants::from_json(json).unwrap();
        assert_eq!(serde_json::to_string(&wants).unwrap(), json);
        assert_eq!(
            wants.to_string(),
            "read **; change docs/; see the variables LANG; real time while applying; talk to https://api.example.com:8443 (GET, POST) while applying; use the secrets API_KEY"
        );
        assert_eq!(Wants::from_json("{}").unwrap().to_string(), "nothing");
    }

    #[test]
    fn impossible_wants_are_refused() {
        let check = |json: &str, part: &str| {
            let problem = Wants::from_json(json).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        };
        check(r#"{"network":true}"#, "unknown field `network`");
        check(r#"{"read":["/etc"]}"#, "leads out of the workspace");
        check(r#"{"environment":["A=B"]}"#, "not a variable's name");
        check(r#"{"hosts":[{"host":"a b"}]}"#, "not the name of a host");
        check(
            r#"{"hosts":[{"host":"a","methods":["get"]}]}"#,
            "not an HTTP method",
        );
        let long = serde_json::json!({ "read": vec!["a".repeat(999); 5] }).to_string();
        check(&long, "4995 bytes; the limit is 4096");
        let many = vec!["a"; 65];
        let json = serde_json::json!({ "read": many }).to_string();
        check(
            &json,
            "65 paths, variables, hosts and secrets; the limit is 64",
        );
    }

    #[test]
    fn facts_that_are_too_long_or_no_text_are_left_out() {
        let mut about = About::default();
        assert!(about.set("authors", b" Ann <ann@example.com>\n"));
        assert!(about.set("version", &[0xff]));
        assert!(about.set("description", &[b'a'; 4097]));
        assert!(!about.set("producers", b""));
        let facts: Vec<_> = about.facts().collect();
        assert_eq!(facts, [("authors", "Ann <ann@example.com>")]);
    }
}
