//! The object for programs: what a call gave, what is pending, and what was decided.

use std::borrow::Cow;

use airlock_host::{
    ActionId, CallOutcome, Content, Decision, PendingAction, ResolutionDetails, StackedAction,
};
use serde::Serialize;
use serde_json::Value;

use super::decide::Resolved;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    content: &'a [Content],
    details: &'a Option<Value>,
    is_error: bool,
    /// What is pending after the decisions, topmost first.
    pending: Vec<Pending<'a>>,
    /// The last decision, which is the one that failed where one did.
    resolved: Option<Resolution<'a>>,
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resolution<'a> {
    content: Cow<'a, [Content]>,
    details: Details<'a>,
    is_error: bool,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Details<'a> {
    Done(&'a ResolutionDetails),
    /// The same, as far as there are any.
    Failed {
        action: Decision,
        reason: &'a str,
        source_tool_name: &'a str,
        label: &'a str,
    },
}

impl<'a> Report<'a> {
    pub fn new(
        outcome: &'a CallOutcome,
        left: &'a [StackedAction],
        resolved: Option<&'a Resolved>,
    ) -> Self {
        let left = left.iter().map(|stacked| Pending::new(&stacked.action));
        Self {
            content: &outcome.content,
            details: &outcome.details,
            is_error: false,
            pending: left.collect(),
            resolved: resolved.map(Resolution::new),
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

impl<'a> Resolution<'a> {
    fn new(resolved: &'a Resolved) -> Self {
        match &resolved.outcome {
            Ok(outcome) => Self {
                content: Cow::Borrowed(&outcome.content),
                details: Details::Done(&outcome.details),
                is_error: false,
            },
            Err(error) => Self {
                content: Cow::Owned(vec![Content::text(error.to_string())]),
                details: Details::Failed {
                    action: resolved.decision,
                    reason: &resolved.reason,
                    source_tool_name: &resolved.action.source_tool_name,
                    label: &resolved.action.label,
                },
                is_error: true,
            },
        }
    }
}
