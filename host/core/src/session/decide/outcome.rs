//! The result of a resolution.

use airlock_model::content::{self, Content, ResolutionDetails, ResolutionOutcome, ToolResult};
use airlock_model::error::Error;
use airlock_model::pending::Decision;
use serde_json::{Map, Value};

/// Passes on the tool's own errors and cancellations unchanged. Any other error becomes a failed
/// apply.
pub(super) fn apply_error(error: Error) -> Error {
    match error {
        Error::Tool { .. } | Error::Cancelled => error,
        other => Error::ApplyFailed(Box::new(other)),
    }
}

/// The parts of the decision that an outcome repeats.
pub(super) struct DecisionSummary {
    pub label: String,
    pub source_tool_name: Option<String>,
    pub reason: String,
}

pub(super) fn outcome(
    decision: Decision,
    extra: Option<Map<String, Value>>,
    summary: DecisionSummary,
    returned: Option<ToolResult>,
) -> ResolutionOutcome {
    let (content, source_result_details) = match returned {
        Some(result) => (result.content, result.details),
        None => {
            let text = content::discarded(&summary.label, &summary.reason);
            (vec![Content::Text { text }], None)
        }
    };
    let mut details = ResolutionDetails::new(decision, summary.reason);
    details.extra = extra;
    details.source_tool_name = summary.source_tool_name;
    details.label = Some(summary.label);
    details.source_result_details = source_result_details;
    ResolutionOutcome::new(content, details)
}
