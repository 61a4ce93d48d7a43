//! A decision that was carried out or not, for programs.

use std::borrow::Cow;
use std::sync::Arc;

use airlock_host::{
    Content, Decision, Error, PendingAction, Resolution, ResolutionDetails, ResolutionOutcome,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// A decision, and how carrying it out ended.
pub struct Resolved {
    pub action: Arc<PendingAction>,
    pub decision: Decision,
    pub reason: String,
    pub extra: Option<Map<String, Value>>,
    pub outcome: Result<ResolutionOutcome, Error>,
}

/// The object about it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
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
        #[serde(skip_serializing_if = "Option::is_none")]
        extra: &'a Option<Map<String, Value>>,
        source_tool_name: &'a str,
        label: &'a str,
    },
}

impl Resolved {
    pub fn new(
        action: Arc<PendingAction>,
        resolution: &Resolution,
        outcome: Result<ResolutionOutcome, Error>,
    ) -> Self {
        Self {
            action,
            decision: resolution.decision,
            reason: resolution.reason.clone(),
            extra: resolution.extra.clone(),
            outcome,
        }
    }

    pub fn report(&self) -> Report<'_> {
        match &self.outcome {
            Ok(outcome) => Report {
                content: Cow::Borrowed(&outcome.content),
                details: Details::Done(&outcome.details),
                is_error: false,
            },
            Err(error) => Report {
                content: Cow::Owned(vec![Content::text(error.to_string())]),
                details: Details::Failed {
                    action: self.decision,
                    reason: &self.reason,
                    extra: &self.extra,
                    source_tool_name: &self.action.source_tool_name,
                    label: &self.action.label,
                },
                is_error: true,
            },
        }
    }
}
