//! Decisions and denials: `log`.

use airlock_host::pending::{DecidedBy, Decision, DenialRecord};
use airlock_host::store::{ActionRecord, DeniedAction};
use schemars::JsonSchema;
use serde::Serialize;

use super::actions::{ActionSummary, Record, utc, workspace};
use super::model;

/// The audit log.
#[derive(Serialize, JsonSchema)]
pub struct Log<'a> {
    /// Decisions and denials, latest first.
    pub log: Vec<LogEntry<'a>>,
}

/// An entry of the audit log.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum LogEntry<'a> {
    /// A decision about an action.
    Decision(Box<LoggedDecision<'a>>),
    /// A request that was denied.
    Denial(Box<DeniedEntry<'a>>),
}

/// A decision about an action.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedDecision<'a> {
    #[serde(flatten)]
    record: Record<'a>,
    /// True if the files that the apply replaced are kept, so that it can be undone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undoable: bool,
    /// The id of the action that has undone it.
    #[serde(skip_serializing_if = "Option::is_none")]
    undone_by: Option<&'a str>,
}

impl<'a> LoggedDecision<'a> {
    /// Creates an entry from a store's record.
    pub fn new(record: &'a ActionRecord, undoable: bool, undone_by: Option<&'a str>) -> Self {
        Self {
            record: Record::new(record),
            undoable,
            undone_by,
        }
    }
}

/// A denial and its action. The action's resolution is a separate entry.
#[derive(Serialize, JsonSchema)]
pub struct DeniedEntry<'a> {
    #[serde(flatten)]
    pushed: ActionSummary<'a>,
    session: &'a str,
    workspace: Option<String>,
    denial: Denial<'a>,
}

impl<'a> DeniedEntry<'a> {
    /// Creates an entry from a store's record.
    pub fn new(denied: &'a DeniedAction) -> Self {
        let record = &denied.record;
        Self {
            pushed: ActionSummary::new(&record.action),
            session: record.session.as_str(),
            workspace: workspace(&record.action),
            denial: Denial::new(&denied.denied),
        }
    }
}

/// A denial.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Denial<'a> {
    /// The number of the denial among the action's denials, counted from 1.
    number: u64,
    /// `refused` by a rule, or `declined` by a person.
    state: &'static str,
    at: Option<String>,
    #[schemars(with = "model::Decision")]
    asked: Decision,
    #[schemars(with = "model::DecidedBy")]
    asked_by: &'a DecidedBy,
    reason: &'a str,
    /// The person; null for a rule.
    #[schemars(with = "Option<model::DecidedBy>")]
    declined_by: Option<&'a DecidedBy>,
    why: &'a str,
}

impl<'a> Denial<'a> {
    pub(super) fn new(denied: &'a DenialRecord) -> Self {
        let denial = &denied.denial;
        Self {
            number: denied.number,
            state: denial.denied_by.past(),
            at: utc(denied.at),
            asked: denial.decision,
            asked_by: &denial.asked_by,
            reason: &denial.reason,
            declined_by: denial.denied_by.person(),
            why: &denial.why,
        }
    }
}
