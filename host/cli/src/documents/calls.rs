//! Calls and decisions: `run`, `refresh`, `resolve`, and the command of `--notify`.

use std::borrow::Cow;

use airlock_desk::resolution::Resolved;
use airlock_host::Error;
use airlock_host::content::{CallOutcome, Content, ResolutionDetails};
use airlock_host::effects::{ActionEffects, Difference, Effects};
use airlock_host::json::Json;
use airlock_host::pending::{ActionId, Decision, StackedAction};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::actions::{ActionSummary, Record};
use super::error::ErrorObject;
use super::model;
use crate::failure::Failure;

/// A call's result, the pending actions, and the decision.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallReport<'a> {
    #[schemars(with = "Vec<model::Content>")]
    content: &'a [Content],
    #[schemars(with = "Option<Value>")]
    details: &'a Option<Json>,
    is_error: bool,
    /// The effects that the host saw in rehearsals of the pushed actions. Omitted if there are
    /// none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(with = "Vec<model::ActionEffects>")]
    effects: &'a [ActionEffects],
    /// The pending actions of the session after the decisions, topmost first.
    pending: Vec<ActionSummary<'a>>,
    /// The last decision. If one failed, it is the failed one.
    resolved: Option<ResolutionReport<'a>>,
    /// The reason why the command failed although the call did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorObject<'a>>,
}

impl<'a> CallReport<'a> {
    pub fn new(
        outcome: &'a CallOutcome,
        pending: &'a [StackedAction],
        resolved: Option<&'a Resolved>,
        error: Option<&'a Failure>,
    ) -> Self {
        Self {
            content: &outcome.content,
            details: &outcome.details,
            is_error: error.is_some(),
            effects: &outcome.effects,
            pending: summaries(pending),
            resolved: resolved.map(ResolutionReport::new),
            error: error.map(Failure::object),
        }
    }
}

/// A decision about one action.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolutionReport<'a> {
    #[schemars(with = "Vec<model::Content>")]
    content: Cow<'a, [Content]>,
    details: Details<'a>,
    /// The effects of the apply, as the host saw them; omitted if nothing was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<model::Effects>")]
    effects: Option<&'a Effects>,
    /// The files that keep writes of other programs to a file while it was being replaced.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    kept: &'a [String],
    /// The id of the pending action with the rest, if the rest was to be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    rest: Option<&'a ActionId>,
    /// The reason why the rest could not be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    rest_problem: Option<&'a str>,
    /// The difference between the current and the reviewed effects, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<model::Difference>")]
    difference: Option<&'a Difference>,
    is_error: bool,
    /// The pending actions of the session after the decision, topmost first. Omitted if a call's
    /// report has them or if they could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Vec<ActionSummary<'a>>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Details<'a> {
    Done(#[schemars(with = "model::ResolutionDetails")] &'a ResolutionDetails),
    /// The members that are known if the decision was not carried out.
    Failed {
        #[schemars(with = "model::Decision")]
        action: Decision,
        reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        extra: &'a Option<Map<String, Value>>,
        source_tool_name: &'a str,
        label: &'a str,
    },
}

impl<'a> ResolutionReport<'a> {
    pub fn new(resolved: &'a Resolved) -> Self {
        match &resolved.outcome {
            Ok(outcome) => Self {
                content: Cow::Borrowed(&outcome.content),
                details: Details::Done(&outcome.details),
                effects: outcome.effects.as_ref().map(|it| &it.effects),
                kept: &outcome.kept,
                rest: (outcome.rest.as_ref()).and_then(|it| it.as_ref().ok().map(|it| &it.id)),
                rest_problem: (outcome.rest.as_ref())
                    .and_then(|it| it.as_ref().err().map(String::as_str)),
                difference: None,
                is_error: false,
                pending: None,
            },
            Err(error) => Self {
                content: Cow::Owned(vec![Content::text(error.to_string())]),
                details: Details::Failed {
                    action: resolved.resolution.decision,
                    reason: &resolved.resolution.reason,
                    extra: &resolved.resolution.extra,
                    source_tool_name: &resolved.action.source_tool_name,
                    label: &resolved.action.label,
                },
                effects: None,
                kept: &[],
                rest: None,
                rest_problem: None,
                difference: match error {
                    Error::Different { difference, .. } => Some(difference),
                    _ => None,
                },
                is_error: true,
                pending: None,
            },
        }
    }

    /// Adds the actions that are pending in the session after the decision.
    pub fn with_pending(mut self, pending: Option<&'a [StackedAction]>) -> Self {
        self.pending = pending.map(summaries);
        self
    }
}

/// Decisions about several actions.
#[derive(Default, Serialize, JsonSchema)]
pub struct ResolutionReports<'a> {
    /// The reason why the next action was not resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject<'a>>,
    /// The decision that failed, after which no other was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<ResolutionReport<'a>>,
    /// The decisions that were carried out, in their order.
    pub resolved: Vec<ResolutionReport<'a>>,
}

impl<'a> ResolutionReports<'a> {
    pub fn new(resolved: &'a [Resolved]) -> Self {
        Self {
            resolved: resolved.iter().map(ResolutionReport::new).collect(),
            ..Self::default()
        }
    }
}

/// The input of the command of `run --notify`.
#[derive(Serialize, JsonSchema)]
pub struct Notification<'a> {
    /// `pending` or `decided`.
    pub event: &'a str,
    /// The first action of the notification.
    pub action: Record<'a>,
    /// The number of other actions.
    pub more: usize,
}

fn summaries(pending: &[StackedAction]) -> Vec<ActionSummary<'_>> {
    let actions = pending.iter().map(|stacked| &*stacked.action);
    actions.map(ActionSummary::new).collect()
}
