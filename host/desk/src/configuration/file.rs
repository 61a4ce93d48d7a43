//! The contents of a file, as they are written there.

use std::num::NonZeroU32;
use std::path::PathBuf;

use airlock_host::policy::Rehearse;
use airlock_rules::{Budget, Control, Rule, RuleSet, Size};
use airlock_signature::TrustRoot;
use schemars::JsonSchema;
use serde::Deserialize;

use super::grants::Grant;
use super::require::Require;
use super::values::{Age, Decide, Memory, PathText, Timeout};

/// The plugins that run under Airlock, and the rules for them: `airlock-host.toml`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[schemars(title = "airlock-host.toml")]
#[non_exhaustive]
pub struct File {
    /// The plugins of `airlock serve`: names of bundled plugins, and paths of components or tools
    /// files, relative to this file's folder. Not in a workspace's file
    pub plugins: Option<Vec<PathText>>,
    /// The directory that tools may read, and change when applied, if the command line names none.
    /// Relative to this file's folder. Not in a workspace's file
    pub workspace: Option<PathText>,
    /// The store of pending actions: a file, relative to this file's folder, or
    /// postgres://USER@HOST/DATABASE. Not in a workspace's file
    pub store: Option<PathText>,
    /// The decider about actions that a model wants to apply, for `airlock serve`
    pub decide: Option<Decide>,
    /// The time for which pending actions can be applied, such as 12h or 30d. Then they are
    /// discarded
    pub expires: Option<Age>,
    /// The choice of when to rehearse actions: to apply them to a layer over the workspace before a
    /// decision
    #[schemars(with = "Option<RehearseWhen>")]
    pub rehearse: Option<Rehearse>,
    /// What plugins may do. Not in a workspace's file
    #[serde(rename = "grant")]
    pub grants: Option<Vec<Grant>>,
    /// Whose signature installed plugins need. Not in a workspace's file
    pub require: Option<Vec<Require>>,
    /// The file of Sigstore's trust root, relative to this file's folder, in place of that of its
    /// public instance. Not in a workspace's file
    pub trust_root: Option<PathText>,
    /// The limits of a tool
    pub limits: Limits,
    /// The files that applies keep for an undo. Not in a workspace's file
    pub undo: Option<Undo>,
    /// The settings of `airlock serve --http`. Not in a workspace's file
    pub http: Option<Http>,
    /// Rules that allow, ask about or refuse actions, by the changes that they would really make.
    /// The first rule that is about a path counts for it
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
    /// Additional control files: files that determine what other programs do
    pub control: Control,
    /// The limits on what rules allow in an hour, without a person
    pub budget: Budget,
    /// The components' files that the rules name.
    #[serde(skip)]
    pub(super) components: Vec<PathBuf>,
    /// The contents of the trust root.
    #[serde(skip)]
    pub(super) trusted: Option<TrustRoot>,
}

/// The limits of a tool
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// The time limit of a call: seconds, or text such as 90s or 5m
    pub timeout: Option<Timeout>,
    /// The memory limit of a tool, from 1MiB to 4GiB
    pub max_memory: Option<Memory>,
}

/// The files that applies keep for an undo: those that they replace and remove
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Undo {
    /// How long they are kept, such as 12h or 30d; 0s keeps none. Default: 7d
    pub time: Option<Age>,
    /// The total size of those of a workspace, such as 500MiB. An apply that replaces and removes
    /// more can't be undone. Default: 1GiB
    pub size: Option<Size>,
}

/// The settings of `airlock serve --http`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Http {
    /// The file of tokens, relative to this file's folder. It has a line for each principal:
    /// NAME:TOKEN, NAME:TOKEN:read-only for one that can't decide, or NAME:TOKEN:metrics for one
    /// that can only read /metrics. Other users must not be able to read the file
    pub token_file: Option<PathText>,
    /// The names, with or without a port, by which clients may call the server, in addition to
    /// those of the loopback interface
    pub hosts: Option<Vec<String>>,
    /// The origins of web pages that may call the server, such as `https://app.example.com:443`
    pub origins: Option<Vec<String>>,
    /// The maximum number of open connections
    pub max_connections: Option<NonZeroU32>,
    /// The maximum size of a request's body
    pub max_body: Option<Size>,
    /// The maximum number of requests per second and principal
    pub requests_per_second: Option<NonZeroU32>,
    /// The maximum number of conversations of a principal, in addition to its own
    pub max_conversations: Option<NonZeroU32>,
    /// The maximum memory of the tools of all principals together, of which one principal gets at
    /// most half. Default: three quarters of the machine's
    pub guest_memory: Option<Size>,
}

impl File {
    /// The keys that a workspace's file can't have, and why.
    pub(super) const OPERATORS_OWN: [(&str, &str); 8] = [
        ("plugins", "chooses which programs run"),
        ("workspace", "chooses the files that they can change"),
        (
            "store",
            "chooses where decisions and pending actions are kept",
        ),
        ("grant", "allows plugins more"),
        ("require", "chooses whose plugins are trusted"),
        ("trust-root", "chooses whose plugins are trusted"),
        ("undo", "chooses what can be undone"),
        ("http", "chooses who is let in"),
    ];

    /// Returns the file's rules, with its control files and its budget.
    pub fn rule_set(&self) -> RuleSet {
        RuleSet {
            rules: self.rules.clone(),
            control: self.control.clone(),
            budget: self.budget,
        }
    }
}

/// The words for `rehearse`, for the schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "a schema is made of it")]
enum RehearseWhen {
    /// Actions are not rehearsed
    Never,
    /// Actions are rehearsed if possible
    Auto,
    /// Actions are rehearsed if possible. Those whose effects the host has not seen can't be
    /// applied
    Always,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_schema_are_those_that_there_are() {
        let schema = serde_json::to_value(schemars::schema_for!(RehearseWhen)).unwrap();
        let words = schema["oneOf"].as_array().unwrap().iter();
        let words: Vec<_> = words.map(|it| it["const"].clone()).collect();
        let known = Rehearse::ALL.map(|it| serde_json::to_value(it).unwrap());
        assert_eq!(words, known);
    }
}
