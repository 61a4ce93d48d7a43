//! The object for programs: what a call gave, what is pending, and what was decided.

use airlock_host::{ActionId, CallOutcome, Content, PendingAction, StackedAction};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::resolution::{self, Resolved};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    content: &'a [Content],
    details: &'a Option<Value>,
    is_error: bool,
    /// What is pending in the session after the decisions, topmost first.
    pending: Vec<Pending<'a>>,
    /// The last decision, which is the one that failed where one did.
    resolved: Option<resolution::Report<'a>>,
    /// Why the command failed though the call did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Pending<'a> {
    id: &'a ActionId,
    label: &'a str,
    source_tool_name: &'a str,
    details: &'a Option<Value>,
    durable: bool,
}

impl<'a> Report<'a> {
    pub fn new(
        outcome: &'a CallOutcome,
        pending: &'a [StackedAction],
        resolved: Option<&'a Resolved>,
        error: Option<&Failure>,
    ) -> Self {
        let pending = pending.iter().map(|stacked| Pending::new(&stacked.action));
        Self {
            content: &outcome.content,
            details: &outcome.details,
            is_error: error.is_some(),
            pending: pending.collect(),
            resolved: resolved.map(Resolved::report),
            error: error.map(Failure::to_json),
        }
    }
}

impl<'a> Pending<'a> {
    fn new(action: &'a PendingAction) -> Self {
        Self {
            id: &action.id,
            label: &action.label,
            source_tool_name: &action.source_tool_name,
            details: &action.details,
            durable: action.durable,
        }
    }
}
