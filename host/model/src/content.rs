//! Results of tools, as models and programs read them.

mod for_model;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::effects::{ActionEffects, AppliedPart};
use crate::json::Json;
use crate::pending::{ActionId, Decision, NamedAction, PendingAction};
pub use for_model::ForModel;

/// A block of a result. Serializes in the shape of MCP's content blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Plain text or Markdown.
    Text {
        /// The text from the tool, which may contain control characters.
        text: String,
    },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The raw bytes; base64 when serialized.
        #[serde(serialize_with = "as_base64", deserialize_with = "from_base64")]
        data: Vec<u8>,
        /// The media type, such as `image/png`.
        mime_type: String,
    },
    /// A link to a resource.
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        /// An absolute URI.
        uri: String,
        /// The name for lists.
        name: String,
        /// The media type of the resource, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

impl Content {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text { text: text.into() }
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text { text } => Some(text),
            _ => None,
        }
    }

    /// Returns the number of bytes that came from the guest.
    pub fn byte_length(&self) -> usize {
        match self {
            Content::Text { text } => text.len(),
            Content::Image { data, mime_type } => data.len() + mime_type.len(),
            Content::ResourceLink {
                uri,
                name,
                mime_type,
            } => uri.len() + name.len() + mime_type.as_ref().map_or(0, String::len),
        }
    }
}

fn as_base64<S: Serializer>(data: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(data))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map_err(D::Error::custom)
}

/// Joins the text blocks of `content` with line breaks.
fn joined_text(content: &[Content]) -> String {
    let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    texts.join("\n")
}

/// Returns the default text of a discard.
pub fn discarded(label: &str, reason: &str) -> String {
    format!("Discarded: {label}. Reason: {reason}")
}

/// The result of a guest's function.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolResult {
    /// Blocks for the model.
    pub content: Vec<Content>,
    /// Details for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
}

impl ToolResult {
    /// Creates a result of text for the model, without details.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::text(text)],
            details: None,
        }
    }
}

/// A call that succeeded. Serializes as `content`, `details` and `pushed`, which has the `id`,
/// `label` and `sourceToolName` of each action.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallOutcome {
    /// Blocks for the model.
    pub content: Vec<Content>,
    /// Details for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
    /// The actions that this call pushed, topmost first.
    #[serde(serialize_with = "as_named")]
    pub pushed: Vec<Arc<PendingAction>>,
    /// The effects that the host saw when it rehearsed the pushed actions, topmost first. For the
    /// tool `resolve`, the effects of the applied action. Leaves out rehearsals that took too long
    /// to wait for. File contents are not serialized.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "without_contents"
    )]
    pub effects: Vec<ActionEffects>,
    /// The pushed actions that the host is still rehearsing. A session's `effects` waits for them,
    /// and so does a resolution.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rehearsing: Vec<ActionId>,
    /// The decision, if this is the outcome of the tool `resolve`.
    #[serde(skip)]
    pub resolved: Option<Resolved>,
}

/// A decision that was carried out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Resolved {
    /// The decision: apply or discard.
    pub decision: Decision,
    /// The action; `None` if the session's standing handler answered.
    pub action: Option<NamedAction>,
    /// The part of the changes that was applied; `None` for all of them.
    pub part: Option<AppliedPart>,
    /// The kept files, see [`ResolutionOutcome::kept`].
    pub kept: Vec<String>,
}

impl CallOutcome {
    /// Creates the outcome of a call from the tool's result and the actions that it pushed, topmost
    /// first.
    pub fn new(result: ToolResult, pushed: Vec<Arc<PendingAction>>) -> Self {
        Self {
            content: result.content,
            details: result.details,
            pushed,
            effects: Vec::new(),
            rehearsing: Vec::new(),
            resolved: None,
        }
    }

    /// Returns the text blocks, joined with line breaks.
    pub fn text(&self) -> String {
        joined_text(&self.content)
    }
}

fn without_contents<S: Serializer>(
    effects: &[ActionEffects],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let shown = effects.iter();
    serializer.collect_seq(
        shown.map(|it| ActionEffects::new(it.action.clone(), it.effects.without_contents())),
    )
}

/// Serializes the fields that identify an action.
fn as_named<S: Serializer>(
    pushed: &[Arc<PendingAction>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct PushedAction<'a> {
        id: &'a str,
        label: &'a str,
        source_tool_name: &'a str,
    }
    serializer.collect_seq(pushed.iter().map(|action| PushedAction {
        id: action.id.as_str(),
        label: &action.label,
        source_tool_name: &action.source_tool_name,
    }))
}

/// Converts a resolution into the result of the tool `resolve`, for a model.
impl From<ResolutionOutcome> for CallOutcome {
    fn from(outcome: ResolutionOutcome) -> Self {
        let decision = outcome.details.action;
        Self {
            content: outcome.content,
            details: Some(Json::of_own(&outcome.details)),
            pushed: Vec::new(),
            effects: outcome.effects.into_iter().collect(),
            rehearsing: Vec::new(),
            resolved: Some(Resolved {
                decision,
                part: outcome.details.part.clone(),
                action: outcome.action,
                kept: outcome.kept,
            }),
        }
    }
}

/// A resolution that succeeded. Serializes in the shape of the `resolve` tool's result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResolutionOutcome {
    /// Blocks for the model.
    pub content: Vec<Content>,
    /// The details of the resolution, for programs.
    pub details: ResolutionDetails,
    /// The effects of the apply on the workspace, as the host saw them. `None` if they were not
    /// observed, as for a discard.
    #[serde(skip)]
    pub effects: Option<ActionEffects>,
    /// The action; `None` if the session's standing handler answered.
    #[serde(skip)]
    pub action: Option<NamedAction>,
    /// The paths, below the workspace, of files that keep what another program wrote to a file
    /// while it was being replaced.
    #[serde(skip)]
    pub kept: Vec<String>,
    /// The pending action with the rest, if it was to be
    /// [kept](crate::pending::Resolution::keep_rest) and there is any, or the reason why it could
    /// not be kept.
    #[serde(skip)]
    pub rest: Option<Result<NamedAction, String>>,
}

impl ResolutionOutcome {
    /// Creates the outcome of a successful resolution.
    pub fn new(content: Vec<Content>, details: ResolutionDetails) -> Self {
        Self {
            content,
            details,
            effects: None,
            action: None,
            kept: Vec::new(),
            rest: None,
        }
    }

    /// Returns the text blocks, joined with line breaks.
    pub fn text(&self) -> String {
        joined_text(&self.content)
    }
}

/// The details of a resolution. They don't include the pending action's own details.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResolutionDetails {
    /// The decision: apply or discard.
    pub action: Decision,
    /// The reason for the decision.
    pub reason: String,
    /// The extra values of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Map<String, Value>>,
    /// The tool that made the preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_tool_name: Option<String>,
    /// The action's label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The details that the plugin's `apply` or `reject` returned, unless they are null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_result_details: Option<Json>,
    /// The part of the changes that was applied; `None` for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<AppliedPart>,
}

impl ResolutionDetails {
    /// Creates details with a decision and its reason. Set the other fields directly.
    pub fn new(action: Decision, reason: String) -> Self {
        Self {
            action,
            reason,
            extra: None,
            source_tool_name: None,
            label: None,
            source_result_details: None,
            part: None,
        }
    }
}
