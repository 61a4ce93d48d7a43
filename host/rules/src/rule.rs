//! The rules of an operator, as a file has them.
//!
//! Each type is read field by field, so that errors keep the line that they are about. The type of
//! a file has the fields `rule`, `control` and `budget`.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use airlock_model::actor::Evidence;
use airlock_model::effects::ChangeKind;
use airlock_model::pattern::Pattern;
use airlock_model::store;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::plugin::PluginName;
use crate::size::Size;

/// The verdict of a rule. Stricter verdicts are greater.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Allow the change without asking a person. A model may decide itself.
    Allow,
    /// Ask a person. It is enough if a client vouches for the person.
    Ask,
    /// Ask a person on the host's own terminal.
    AskAtTerminal,
    /// Refuse the change: it can't be applied.
    Refuse,
}

impl Verdict {
    /// The verdicts, the strictest last.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Ask, Self::AskAtTerminal, Self::Refuse];

    /// Checks if a decision with this evidence may be carried out.
    pub fn accepts(self, evidence: Evidence) -> bool {
        match self {
            Verdict::Allow => true,
            Verdict::Ask => matches!(evidence, Evidence::Client | Evidence::Terminal),
            Verdict::AskAtTerminal => evidence == Evidence::Terminal,
            Verdict::Refuse => false,
        }
    }

    /// Returns the verdict as it is written in a file.
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

/// A rule: its verdict, and the actions and changes that it applies to.
///
/// For each path that an action changes, the first matching rule gives a verdict. The strictest of
/// these verdicts decides about the action. A rule without a condition applies to everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rule {
    /// The rule's name, for logs and explanations
    #[serde(deserialize_with = "name")]
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// The verdict
    pub then: Verdict,

    /// The tools whose actions the rule applies to
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The plugins whose actions the rule applies to
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<PluginName>,
    /// The workspaces that the rule applies to: absolute paths
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<String>,

    /// The paths whose changes the rule applies to. Both paths of a rename are matched, each by
    /// itself
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Pattern>,
    /// The kinds of changes that the rule applies to. A file that is renamed and has other contents
    /// is both renamed and modified
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Kind>")]
    pub kinds: Vec<ChangeKind>,
    /// True for a rule about paths that can be executed after the action, and false for one about
    /// all others. A link counts as executable
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
    /// True for a rule about links, and false for one about everything else
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<bool>,
    /// True for a rule about files that builds and tests run, such as Makefile or package.json, and
    /// false for one about all other files
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builds: Option<bool>,

    /// The most files that the whole action may change for the rule to apply
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_files: Option<u64>,
    /// The most bytes that the whole action may write and remove for the rule to apply, such as
    /// 10MiB
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<Size>,
    /// The most files that the whole action may delete for the rule to apply
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_deletions: Option<u64>,

    /// The names of the control files that the rule applies to as well. Without them, a rule can't
    /// allow any
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<String>,
    /// True for a rule that applies to unverified actions as well. The changes of such an action
    /// are judged again before they are committed
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
}

/// The limits on what rules allow in an hour, without a person: in one workspace, by one operator,
/// over all sessions and processes. An action that exceeds them asks a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Budget {
    /// The number of files that may change
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// The bytes that may be written and removed, such as 10MiB
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
    /// The number of files that may be deleted
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
}

/// Formats the limits, as in `200 files, 10MiB, 20 deletions`.
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
    /// Converts the budget to a store's, for this period.
    pub fn within(self, time: Duration) -> store::Budget {
        store::Budget {
            files: self.files,
            bytes: self.bytes.map(|size| size.0),
            deletions: self.deletions,
            within: time,
        }
    }

    /// Combines two budgets: for each number, the smaller limit applies.
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

/// Stands for [`ChangeKind`] in the schema.
struct Kind;

impl JsonSchema for Kind {
    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The kinds of changes, for the schema.",
            "type": "string",
            "enum": ChangeKind::ALL.map(ChangeKind::as_str),
        })
    }
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
