//! The expectations of a case, and the comparison with the actual behavior.

use std::collections::BTreeMap;

use airlock_host::PendingAction;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::fixture::Contents;
use super::json::Json;
use crate::files::{Change, Changes, Entry, describe};
use crate::harness::Answer;
use crate::property::{Breach, short};

/// An expected text. A plain string must match exactly.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a text, { contains = \"…\" }, { contains = [\"…\", \"…\"] } or { matches = \"REGEX\" }"
)]
pub enum Text {
    Exact(String),
    Contains { contains: OneOrMany },
    Matches { matches: Pattern },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Regex::new(&text).map(Self)
    }
}

impl Text {
    /// Returns the difference from the actual text.
    fn breach(&self, what: &str, came: &str) -> Option<Breach> {
        let expected = match self {
            Text::Exact(exact) if came == exact => return None,
            Text::Exact(exact) => format!("{what}:\n{exact}"),
            Text::Contains { contains } => {
                let parts = match contains {
                    OneOrMany::One(part) => std::slice::from_ref(part),
                    OneOrMany::Many(parts) => parts,
                };
                let missing = parts.iter().find(|part| !came.contains(part.as_str()))?;
                format!("{what} contains {missing:?}")
            }
            Text::Matches { matches } if matches.0.is_match(came) => return None,
            Text::Matches { matches } => format!("{what} matches /{}/", matches.0),
        };
        Some(Breach {
            expected,
            came: format!("{what}:\n{came}"),
        })
    }
}

/// The expected answer of a call or a resolution. Fields that are not set are not checked, but an
/// unexpected error always fails the case.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExpectedAnswer {
    text: Option<Text>,
    content: Option<Json>,
    details: Option<Json>,
    error: Option<Text>,
}

impl ExpectedAnswer {
    /// Checks that the fields don't contradict each other.
    ///
    /// # Errors
    /// A sentence.
    pub fn check(&self) -> Result<(), String> {
        let result = self.text.is_some() || self.content.is_some() || self.details.is_some();
        if self.error.is_some() && result {
            Err("it expects both an error and a result".to_owned())
        } else {
            Ok(())
        }
    }

    /// Returns the difference from `answer`. `whose` begins the message.
    pub fn breach(&self, whose: &str, answer: &Answer) -> Option<Breach> {
        let said = match (answer, &self.error) {
            (Err(complaint), Some(error)) => {
                return error.breach(&format!("{whose}'s error"), &complaint.message);
            }
            (Err(complaint), None) => {
                return Some(Breach {
                    expected: format!("{whose} succeeds"),
                    came: format!("an error: {}", complaint.message),
                });
            }
            (Ok(said), Some(_)) => {
                return Some(Breach {
                    expected: format!("{whose} ends in an error"),
                    came: format!("a result:\n{}", said.text),
                });
            }
            (Ok(said), None) => said,
        };
        let text = self.text.as_ref();
        let text = text.and_then(|text| text.breach(&format!("{whose}'s text"), &said.text));
        text.or_else(|| same(&format!("{whose}'s content"), &self.content, &said.content))
            .or_else(|| same(&format!("{whose}'s details"), &self.details, &said.details))
    }
}

fn same(what: &str, expected: &Option<Json>, came: &Value) -> Option<Breach> {
    let Json(expected) = expected.as_ref()?;
    (expected != came).then(|| Breach {
        expected: format!("{what}:\n{}", pretty(expected)),
        came: format!("{what}:\n{}", pretty(came)),
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| short(value))
}

/// An expected action. Fields that are not set are not checked.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExpectedAction {
    label: Option<Text>,
    tool: Option<String>,
    durable: Option<bool>,
    has_reject: Option<bool>,
    details: Option<Json>,
}

impl ExpectedAction {
    pub fn breach(&self, whose: &str, action: &PendingAction) -> Option<Breach> {
        let flag = |what: &str, expected: Option<bool>, came: bool| {
            expected
                .filter(|expected| *expected != came)
                .map(|expected| Breach {
                    expected: format!("{whose}: {what} = {expected}"),
                    came: format!("{whose}: {what} = {came}"),
                })
        };
        let label = self.label.as_ref();
        let tool = self.tool.clone().map(Text::Exact);
        let details = action.details.as_ref();
        let details = details.map(|details| details.value()).unwrap_or_default();
        label
            .and_then(|label| label.breach(&format!("{whose}'s label"), &action.label))
            .or_else(|| tool?.breach(&format!("{whose}'s tool"), &action.source_tool_name))
            .or_else(|| flag("durable", self.durable, action.durable))
            .or_else(|| flag("has-reject", self.has_reject, action.has_reject))
            .or_else(|| same(&format!("{whose}'s details"), &self.details, &details))
    }
}

/// The expected changes in the workspace at the end. Any other change fails the case.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExpectedChanges {
    #[serde(default)]
    created: BTreeMap<String, ExpectedEntry>,
    #[serde(default)]
    changed: BTreeMap<String, ExpectedEntry>,
    #[serde(default)]
    removed: Vec<String>,
}

/// The expected object at a path.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a text, { base64 = \"…\" }, { contains = \"…\" }, { matches = \"REGEX\" } or { folder = true }"
)]
enum ExpectedEntry {
    Contents(Contents),
    Text(Text),
    Folder { folder: bool },
}

impl ExpectedChanges {
    /// Returns the first difference from the actual changes, in the order of paths.
    pub fn breach(&self, came: &Changes) -> Option<Breach> {
        let mut unexpected = came.0.clone();
        let wanted = self
            .created
            .iter()
            .map(|(path, new)| (path, "created", new));
        let wanted = wanted.chain(
            self.changed
                .iter()
                .map(|(path, new)| (path, "changed", new)),
        );
        for (path, how, new) in wanted {
            let was_there = how == "changed";
            let change = unexpected.remove(path);
            let after = change.as_ref().and_then(|change| {
                (change.before.is_some() == was_there)
                    .then_some(change.after.as_ref())
                    .flatten()
            });
            let Some(after) = after else {
                return Some(Breach {
                    expected: format!("{how} {path}"),
                    came: came.describe(),
                });
            };
            if let Some(breach) = new.breach(path, after) {
                return Some(breach);
            }
        }
        for path in &self.removed {
            if !matches!(unexpected.remove(path), Some(Change { after: None, .. })) {
                return Some(Breach {
                    expected: format!("removed {path}"),
                    came: came.describe(),
                });
            }
        }
        // A folder is created and removed together with its contents.
        let named: Vec<&String> = self
            .created
            .keys()
            .chain(self.changed.keys())
            .chain(&self.removed)
            .collect();
        unexpected.retain(|path, change| {
            let folder = [&change.before, &change.after]
                .into_iter()
                .flatten()
                .all(|entry| *entry == Entry::Folder);
            let inside = format!("{path}/");
            !(folder && named.iter().any(|named| named.starts_with(&inside)))
        });
        let unexpected = Changes(unexpected);
        (!unexpected.is_empty()).then(|| Breach {
            expected: "no other change of the workspace".to_owned(),
            came: unexpected.describe(),
        })
    }
}

impl ExpectedEntry {
    fn breach(&self, path: &str, after: &Entry) -> Option<Breach> {
        let other_kind = |expected: &str| {
            Some(Breach {
                expected: format!("{path} is {expected}"),
                came: format!("{path} is {}", describe(after)),
            })
        };
        match (self, after) {
            (ExpectedEntry::Folder { folder: true }, Entry::Folder) => None,
            (ExpectedEntry::Folder { folder: false }, Entry::File(_)) => None,
            (ExpectedEntry::Folder { folder }, _) => {
                other_kind(if *folder { "a folder" } else { "a file" })
            }
            (ExpectedEntry::Contents(contents), Entry::File(bytes)) => {
                if contents.bytes() == &**bytes {
                    return None;
                }
                match (contents, std::str::from_utf8(bytes)) {
                    (Contents::Text(text), Ok(came)) => {
                        Text::Exact(text.clone()).breach(path, came)
                    }
                    _ => other_kind(&describe(&Entry::File(contents.bytes().into()))),
                }
            }
            (ExpectedEntry::Text(text), Entry::File(bytes)) => {
                text.breach(path, &String::from_utf8_lossy(bytes))
            }
            (ExpectedEntry::Contents(_) | ExpectedEntry::Text(_), _) => other_kind("a file"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use crate::harness::{ToolFailure, ToolOutput};

    fn text_answer(text: &str) -> Answer {
        Ok(ToolOutput {
            content: serde_json::json!([{"type": "text", "text": text}]),
            text: text.to_owned(),
            details: serde_json::json!({"count": 2}),
        })
    }

    #[test]
    fn answers_are_compared_with_what_is_given_and_no_more() {
        let check = |expected: &str, answer: &Answer, breach: Option<&str>| {
            let answered: ExpectedAnswer = toml::from_str(expected).unwrap();
            let found = answered.breach("the preview", answer);
            let found = found.map(|breach| breach.expected);
            assert_eq!(found.as_deref(), breach, "{expected}");
        };
        let error: Answer = Err(ToolFailure {
            kind: "tool",
            message: "no such file".to_owned(),
        });
        check("", &text_answer("two"), None);
        check("text = 'two'", &text_answer("two"), None);
        check(
            "text = 'one'",
            &text_answer("two"),
            Some("the preview's text:\none"),
        );
        check("text = { contains = 'w' }", &text_answer("two"), None);
        check(
            "text = { contains = ['t', 'x'] }",
            &text_answer("two"),
            Some("the preview's text contains \"x\""),
        );
        check("text = { matches = '^t.o$' }", &text_answer("two"), None);
        check(
            "text = { matches = '^o' }",
            &text_answer("two"),
            Some("the preview's text matches /^o/"),
        );
        check("details = { count = 2 }", &text_answer("two"), None);
        check(
            "details = 'null'",
            &text_answer("two"),
            Some("the preview's details:\nnull"),
        );
        check(
            "content = [{ type = 'text', text = 'two' }]",
            &text_answer("two"),
            None,
        );
        check("", &error, Some("the preview succeeds"));
        check("error = { contains = 'file' }", &error, None);
        check(
            "error = 'x'",
            &text_answer("two"),
            Some("the preview ends in an error"),
        );
    }

    #[test]
    fn changes_are_these_and_nothing_else() {
        let mut before = Files::default();
        before.add_file("old.txt", "old");
        before.add_file("edited.txt", "one");
        let mut after = Files::default();
        after.add_file("edited.txt", "two");
        after.add_file("new/deep.txt", "new");
        let came = before.changes(&after);
        let check = |expected: &str, breach: Option<&str>| {
            let changes: ExpectedChanges = toml::from_str(expected).unwrap();
            let found = changes.breach(&came).map(|breach| breach.expected);
            assert_eq!(found.as_deref(), breach, "{expected}");
        };
        let edited = "changed = { 'edited.txt' = 'two' }\n";
        let created = "created = { 'new/deep.txt' = { contains = 'e' } }\n";
        let removed = "removed = ['old.txt']\n";
        check(&[edited, created, removed].concat(), None);
        check(
            &[edited, removed].concat(),
            Some("no other change of the workspace"),
        );
        check(
            &[created, removed].concat(),
            Some("no other change of the workspace"),
        );
        check("removed = ['edited.txt']", Some("removed edited.txt"));
        check(
            "created = { 'edited.txt' = 'two' }",
            Some("created edited.txt"),
        );
        check(
            "changed = { 'edited.txt' = 'one' }",
            Some("edited.txt:\none"),
        );
        check(
            "created = { 'new/deep.txt' = { folder = true } }",
            Some("new/deep.txt is a folder"),
        );
    }

    #[test]
    fn an_error_and_a_result_can_not_both_be_expected() {
        let both: ExpectedAnswer = toml::from_str("error = 'x'\ntext = 'y'").unwrap();
        assert!(both.check().is_err());
    }
}
