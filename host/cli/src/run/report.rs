//! The object for programs: what a call gave, what is pending, and what was decided.

use airlock_desk::record::Pushed;
use airlock_desk::resolution::{self, Resolved};
use airlock_host::{CallOutcome, Content, Json, StackedAction};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    content: &'a [Content],
    details: &'a Option<Json>,
    is_error: bool,
    /// What is pending in the session after the decisions, topmost first.
    pending: Vec<Pushed<'a>>,
    /// The last decision, which is the one that failed where one did.
    resolved: Option<resolution::Report<'a>>,
    /// Why the command failed though the call did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

impl<'a> Report<'a> {
    pub fn new(
        outcome: &'a CallOutcome,
        pending: &'a [StackedAction],
        resolved: Option<&'a Resolved>,
        error: Option<&Failure>,
    ) -> Self {
        let pending = pending.iter().map(|stacked| Pushed::new(&stacked.action));
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
