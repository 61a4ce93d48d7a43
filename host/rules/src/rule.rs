//! What an operator says, as a file has it.
//!
//! Each type is read field by field, so that errors keep the line that they are about: a file's own
//! type has the fields `rule`, `control` and `budget`.

use std::fmt;
use std::time::Duration;

use airlock_model::actor::Evidence;
use airlock_model::effects::ChangeKind;
use airlock_model::store;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;
use crate::plugin::PluginName;
use crate::size::Size;

/// What is to be done with what an action would change. The stricter one is the greater one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Let it through: nobody has to be asked, and a model decides itself.
    Allow,
    /// Ask a person. What a client says of them is enough.
    Ask,
    /// Ask a person, on the host's own terminal.
    AskAtTerminal,
    /// Nobody may apply it.
    Refuse,
}

impl Verdict {
    /// All of them, the strictest last.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Ask, Self::AskAtTerminal, Self::Refuse];

    /// Whether a decision with this evidence may be carried out.
    pub fn accepts(self, evidence: Evidence) -> bool {
        match self {
            Verdict::Allow => true,
            Verdict::Ask => matches!(evidence, Evidence::Client | Evidence::Terminal),
            Verdict::AskAtTerminal => evidence == Evidence::Terminal,
            Verdict::Refuse => false,
        }
    }

    /// As a file has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::AskAtTerminal => "ask-at-terminal",
            Verdict::Refuse => "refuse",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is done with some changes of some actions.
///
/// Each path that an action changes takes the first rule that is about it, and the strictest of
/// these decides about the action. A rule without a condition is about everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rule {
    /// What it is called, in logs and explanations
    #[serde(deserialize_with = "name")]
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// What is done
    pub then: Verdict,

    /// Only what these tools would do
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Only what these plugins would do
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<PluginName>,
    /// Only in these workspaces: absolute paths
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<String>,

    /// Only changes of these paths. Of a rename, both paths are looked at, each by itself
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Pattern>,
    /// Only changes of these kinds. A file that is renamed and has other contents is both renamed
    /// and modified
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Kind>")]
    pub kinds: Vec<ChangeKind>,
    /// Only what can be executed afterwards, or only what can't
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
    /// Only links, or only what is none
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<bool>,
    /// Only files that build and test run, such as Makefile or package.json, or only others
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builds: Option<bool>,

    /// Only where the whole action changes no more files than that
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_files: Option<u64>,
    /// Only where the whole action writes and removes no more than that, such as 10MiB
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<Size>,
    /// Only where the whole action deletes no more files than that
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_deletions: Option<u64>,

    /// Which control files it is about too, by their names; without them, a rule lets none through
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<String>,
    /// Whether it is about actions too whose effects the host has not seen. What such an action
    /// does is judged again before it is committed
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
}

/// How much is let through by rules in an hour, without a person: in one workspace, by one
/// operator, over all sessions and processes. What goes beyond asks a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Budget {
    /// How many files may change
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// How much may be written and removed, such as 10MiB
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
    /// How many files may be deleted
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
}

/// As in `200 files, 10MiB, 20 deletions`: what it limits.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.files.map(|files| format!("{files} files")),
            self.bytes.map(|bytes| bytes.to_string()),
            self.deletions
                .map(|deletions| format!("{deletions} deletions")),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

impl Budget {
    /// As a store counts it, within this time.
    pub fn within(self, time: Duration) -> store::Budget {
        store::Budget {
            files: self.files,
            bytes: self.bytes.map(|size| size.0),
            deletions: self.deletions,
            within: time,
        }
    }

    /// The smaller of both, number by number.
    #[must_use]
    pub fn narrowed_by(self, other: Budget) -> Self {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Self {
            files: least(self.files, other.files),
            bytes: least(self.bytes, other.bytes),
            deletions: least(self.deletions, other.deletions),
        }
    }
}

/// The kinds of changes, for the schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "a schema is made of it")]
enum Kind {
    Created,
    Modified,
    Deleted,
    Renamed,
    Mode,
    Link,
}

fn name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    let fits = !name.trim().is_empty() && name.len() <= 100;
    if fits && !name.chars().any(char::is_control) {
        Ok(name)
    } else {
        Err(serde::de::Error::custom(
            "a rule's name is one line of 1 to 100 bytes",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_takes_its_evidence_and_any_that_proves_more() {
        let taken = |verdict: Verdict| Evidence::ALL.map(|it| verdict.accepts(it));
        assert_eq!(taken(Verdict::Allow), [true, true, true]);
        assert_eq!(taken(Verdict::Ask), [false, true, true]);
        assert_eq!(taken(Verdict::AskAtTerminal), [false, false, true]);
        assert_eq!(taken(Verdict::Refuse), [false, false, false]);
        assert!(Verdict::ALL.is_sorted());
    }

    #[test]
    fn the_kinds_of_the_schema_are_those_that_there_are() {
        let kinds = ChangeKind::ALL.map(ChangeKind::as_str);
        let schema = serde_json::to_value(schemars::schema_for!(Kind)).unwrap();
        assert_eq!(schema["enum"], serde_json::json!(kinds));
    }

    #[test]
    fn what_is_wrong_in_a_rule_is_told_with_its_line() {
        #[derive(Debug, Deserialize)]
        struct File {
            #[expect(dead_code, reason = "the error is looked at")]
            rule: Vec<Rule>,
        }
        let check = |text: &str, line: &str, expected: &str| {
            let error = toml::from_str::<File>(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert!(error.contains(line), "{error}");
        };
        let good = "[[rule]]\nname = 'a'\nthen = 'allow'\n";
        toml::from_str::<File>(good).unwrap();
        check(
            &format!("{good}path = ['a']"),
            "line 4",
            "unknown field `path`",
        );
        check(
            &format!("{good}paths = ['a', 'b[']"),
            "line 4",
            "is no pattern",
        );
        check(&format!("{good}max-bytes = '10MB'"), "line 4", "10MiB");
        check(
            "[[rule]]\nname = ''\nthen = 'ask'",
            "line 2",
            "1 to 100 bytes",
        );
        check(
            "[[rule]]\nname = 'a'\nthen = 'yes'",
            "line 3",
            "ask-at-terminal",
        );
    }
}
