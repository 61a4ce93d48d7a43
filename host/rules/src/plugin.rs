//! The plugins that a rule is about.

use std::borrow::Cow;
use std::path::{self, Path};

use airlock_model::digest::Digest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::rule::Rule;

/// A plugin, as a rule names it.
///
/// An action is matched only by the digest of its plugin's bytes, because any file can have the
/// name of the operator's own. The reader of a rule therefore replaces names and paths with
/// digests: see [`resolve_plugins`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PluginName {
    /// The component or native tool with this digest.
    Digest(Digest),
    /// The bundled plugin with this name.
    Bundled(String),
    /// The component in this file, or the program and tools that this file names.
    File(String),
}

impl TryFrom<String> for PluginName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("a plugin's name is empty".to_owned());
        }
        if text.starts_with("sha256:") {
            let digest = text.parse().map_err(|error| format!("{error}"))?;
            return Ok(Self::Digest(digest));
        }
        Ok(if Self::is_path(&text) {
            Self::File(text)
        } else {
            Self::Bundled(text)
        })
    }
}

impl PluginName {
    /// Returns whether a word for a plugin is the path of a file, rather than the name of a bundled
    /// one: it has a separator, or ends as components (`.wasm`) or tools files (`.toml`) do.
    pub fn is_path(plugin: &str) -> bool {
        let extension = Path::new(plugin).extension();
        let ends_in = |ending: &str| extension.is_some_and(|it| it.eq_ignore_ascii_case(ending));
        plugin.contains(path::is_separator) || ends_in("wasm") || ends_in("toml")
    }
}

impl From<PluginName> for String {
    fn from(name: PluginName) -> Self {
        match name {
            PluginName::Digest(digest) => digest.to_string(),
            PluginName::Bundled(text) | PluginName::File(text) => text,
        }
    }
}

impl JsonSchema for PluginName {
    fn schema_name() -> Cow<'static, str> {
        "PluginName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "description": "Which plugin is meant: the name of a bundled one, the path of a component or tools file, relative to this file's folder, or sha256:DIGEST of its bytes",
        })
    }
}

/// Replaces each plugin's name and path in these rules with the digest that `digest_of` returns.
/// Returns its errors, each with the rule's name.
pub fn resolve_plugins(
    rules: &mut [Rule],
    digest_of: impl Fn(&PluginName) -> Result<Digest, String>,
) -> Vec<String> {
    let of_rule = |rule: &mut Rule| {
        let problems = resolve_names(&mut rule.plugins, &digest_of);
        let named = problems
            .into_iter()
            .map(|it| format!("rule {:?}: {it}", rule.name));
        named.collect::<Vec<_>>()
    };
    rules.iter_mut().flat_map(of_rule).collect()
}

/// Replaces each name and path with the digest that `digest_of` returns. Returns its errors.
pub fn resolve_names(
    plugins: &mut [PluginName],
    digest_of: impl Fn(&PluginName) -> Result<Digest, String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for plugin in plugins {
        match digest_of(plugin) {
            Ok(digest) => *plugin = PluginName::Digest(digest),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}
