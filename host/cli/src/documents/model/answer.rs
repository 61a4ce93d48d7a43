//! The answer of an apply, as its rehearsal gave it.

use schemars::JsonSchema;
use serde_json::Value;

use super::Content;

/// The answer that an apply will give.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The digest of the answer.
    digest: String,
    /// True if the answer repeats the reason of the decision. The rehearsal has the word
    /// `rehearsal` in its place.
    #[serde(skip_serializing_if = "is_false")]
    has_reason: bool,
    /// The answer, unless it is too long to be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<KeptAnswer>,
}

/// An answer that is short enough to be kept.
#[derive(JsonSchema)]
pub struct KeptAnswer {
    /// Blocks for the model.
    content: Vec<Content>,
    /// Details for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
}
