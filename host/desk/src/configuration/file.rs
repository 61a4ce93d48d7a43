//! What a file says, as it is written there.

use std::num::NonZeroU32;
use std::path::PathBuf;

use airlock_host::policy::Rehearse;
use airlock_rules::{Budget, Control, Rule, RuleSet, Size};
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{Age, Decide, Grant, Memory, PathText, Timeout};

/// What runs under Airlock, and under which rules: `airlock-host.toml`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[schemars(title = "airlock-host.toml")]
#[non_exhaustive]
pub struct File {
    /// What `airlock serve` serves: names of bundled plugins, and components' files, relative to
    /// this file's folder. Not in a workspace's file
    pub plugins: Option<Vec<PathText>>,
    /// The directory that tools may read, and change when applied, where the command line names
    /// none: relative to this file's folder. Not in a workspace's file
    pub workspace: Option<PathText>,
    /// Where pending actions are kept: a file, relative to this file's folder, or
    /// postgres://USER@HOST/DATABASE. Not in a workspace's file
    pub store: Option<PathText>,
    /// Who decides about what a model wants applied, for `airlock serve`
    pub decide: Option<Decide>,
    /// How long what stays pending can be applied, such as 12h or 30d; then it is discarded
    pub expires: Option<Age>,
    /// Whether the host tries out what would happen, above the workspace, before anybody decides
    #[schemars(with = "Option<RehearseWhen>")]
    pub rehearse: Option<Rehearse>,
    /// What plugins may do beside the default. Not in a workspace's file
    pub grants: Option<Vec<Grant>>,
    /// What a tool may use up
    pub limits: Limits,
    /// What `airlock serve --http` lets in. Not in a workspace's file
    pub http: Option<Http>,
    /// What is let through, what asks and what is refused, by what it would really change. The
    /// first rule that is about a path counts for it
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
    /// What else is a file that says what other programs do
    pub control: Control,
    /// How much rules let through in an hour, without a person
    pub budget: Budget,
    /// The components' files that the rules name.
    #[serde(skip)]
    pub(super) components: Vec<PathBuf>,
}

/// What a tool may use up
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// The time limit of a call: seconds, or text such as 90s or 5m
    pub timeout: Option<Timeout>,
    /// The memory limit of a tool, from 1MiB to 4GiB
    pub max_memory: Option<Memory>,
}

/// What `airlock serve --http` lets in
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Http {
    /// The file of tokens, relative to this file's folder: a line for each principal, NAME:TOKEN,
    /// NAME:TOKEN:read-only for one that can't decide, or NAME:TOKEN:metrics for one that only
    /// reads /metrics. Nobody else may be able to read it
    pub token_file: Option<PathText>,
    /// The names, with or without a port, by which clients may call the server, beside loopback's
    pub hosts: Option<Vec<String>>,
    /// The origins of web pages that may call it, such as `https://app.example.com:443`
    pub origins: Option<Vec<String>>,
    /// How many connections may be open
    pub max_connections: Option<NonZeroU32>,
    /// How large the body of a request may be
    pub max_body: Option<Size>,
    /// How many requests a principal may send in a second
    pub requests_per_second: Option<NonZeroU32>,
    /// How many conversations a principal may have, beside its own
    pub max_conversations: Option<NonZeroU32>,
    /// How much memory the tools of all principals may have together, of which one principal gets
    /// at most half. Default: three quarters of the machine's
    pub guest_memory: Option<Size>,
}

impl File {
    /// The keys that a workspace's file can't have, and why.
    pub(super) const OPERATORS_OWN: [(&str, &str); 5] = [
        ("plugins", "chooses which programs run"),
        ("workspace", "chooses the files that they can change"),
        (
            "store",
            "chooses where decisions and pending actions are kept",
        ),
        ("grants", "allows plugins more"),
        ("http", "chooses who is let in"),
    ];

    /// Its rules, with what belongs to them.
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
    /// No
    Never,
    /// Where that can be done
    Auto,
    /// The same, and what the host has not seen can't be applied
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
