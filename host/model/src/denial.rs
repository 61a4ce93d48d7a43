//! Denials: requests that a rule refused or a person declined.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::actor::DecidedBy;
use crate::pending::{Decision, Resolution};

/// The maximum size of each text of a denial, in bytes. Longer texts are cut.
pub const DENIAL_TEXT_BYTES: usize = 4096;

/// A request to apply or discard an action that was denied. The action stays pending.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// The requested decision.
    pub decision: Decision,
    /// The actor that asked, and the evidence for it.
    pub asked_by: DecidedBy,
    /// The asker's reason.
    pub reason: String,
    /// The authority that denied the request: a rule or a person.
    pub denied_by: DeniedBy,
    /// The reason of the denial, as a clause: the rule, or the person's words.
    pub why: String,
}

/// The authority that denied a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeniedBy {
    /// A rule of the operator or the embedder, which refused the request.
    Rule,
    /// A person who was asked and declined the request.
    Person(DecidedBy),
}

impl DeniedBy {
    /// Returns a lower-case word for programs: `refused` or `declined`.
    pub fn past(&self) -> &'static str {
        match self {
            DeniedBy::Rule => "refused",
            DeniedBy::Person(_) => "declined",
        }
    }

    /// Returns the person, if a person denied the request.
    pub fn person(&self) -> Option<&DecidedBy> {
        match self {
            DeniedBy::Rule => None,
            DeniedBy::Person(person) => Some(person),
        }
    }
}

/// A denial as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DenialRecord {
    /// The number of the denial among the action's denials, counted from 1.
    pub number: u64,
    /// The time when the denial was recorded, by the clock of the host or the server.
    pub at: SystemTime,
    /// The denial.
    pub denial: Denial,
}

impl DenialRecord {
    /// Creates a record from the parts of a row, for stores.
    pub fn new(number: u64, at: SystemTime, denial: Denial) -> Self {
        Self { number, at, denial }
    }
}

/// The contents of a row.
#[derive(Serialize, Deserialize)]
struct Row {
    decision: String,
    asked_by: Columns,
    reason: String,
    declined_by: Option<Columns>,
    why: String,
}

/// Kind, name and evidence.
type Columns = (String, Option<String>, String);

impl Denial {
    /// Creates the denial of a decision. Cuts texts that are longer than [`DENIAL_TEXT_BYTES`].
    pub fn new(
        resolution: &Resolution,
        asked_by: DecidedBy,
        denied_by: DeniedBy,
        why: &str,
    ) -> Self {
        Self {
            decision: resolution.decision,
            asked_by,
            reason: cut(&resolution.reason),
            denied_by,
            why: cut(why),
        }
    }

    /// Returns the text of a row, for stores.
    pub fn to_row(&self) -> String {
        let row = Row {
            decision: self.decision.as_str().to_owned(),
            asked_by: columns(&self.asked_by),
            reason: self.reason.clone(),
            declined_by: self.denied_by.person().map(columns),
            why: self.why.clone(),
        };
        serde_json::to_string(&row).unwrap_or_default()
    }

    /// Reads the text of a row, for stores. Returns `None` for a text that no version writes.
    pub fn from_row(row: &str) -> Option<Self> {
        let row: Row = serde_json::from_str(row).ok()?;
        let denied_by = match row.declined_by {
            None => DeniedBy::Rule,
            Some(person) => DeniedBy::Person(decided_by(person)?),
        };
        Some(Self {
            decision: Decision::parse(&row.decision)?,
            asked_by: decided_by(row.asked_by)?,
            reason: row.reason,
            denied_by,
            why: row.why,
        })
    }
}

fn columns(by: &DecidedBy) -> Columns {
    (
        by.actor.kind().to_owned(),
        by.actor.name().map(str::to_owned),
        by.evidence.as_str().to_owned(),
    )
}

fn decided_by((kind, name, evidence): Columns) -> Option<DecidedBy> {
    DecidedBy::from_columns(Some(&kind), name, Some(&evidence)).ok()
}

fn cut(text: &str) -> String {
    if text.len() > DENIAL_TEXT_BYTES {
        let end = text.floor_char_boundary(DENIAL_TEXT_BYTES - '…'.len_utf8());
        format!("{}…", &text[..end])
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::{Actor, Evidence};

    #[test]
    fn a_row_is_read_back_as_it_was() {
        let person = Actor::person("ann").with_evidence(Evidence::Client);
        for (resolution, denied_by) in [
            (Resolution::apply("it's \"right\"\0"), DeniedBy::Rule),
            (Resolution::discard(""), DeniedBy::Person(person)),
        ] {
            let denial = Denial::new(&resolution, Actor::Model.into(), denied_by, "no");
            assert_eq!(Denial::from_row(&denial.to_row()), Some(denial));
        }
        for row in ["", "{}", r#"{"decision":"wait"}"#] {
            assert_eq!(Denial::from_row(row), None);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        let long = Resolution::apply("ä".repeat(DENIAL_TEXT_BYTES));
        let denial = Denial::new(&long, Actor::Model.into(), DeniedBy::Rule, &long.reason);
        for text in [&denial.reason, &denial.why] {
            assert!(text.len() <= DENIAL_TEXT_BYTES, "{}", text.len());
            assert!(text.ends_with("ä…"), "{text}");
        }
        let fits = "a".repeat(DENIAL_TEXT_BYTES);
        assert_eq!(cut(&fits), fits);
    }
}
