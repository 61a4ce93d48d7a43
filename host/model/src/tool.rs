//! Definitions of tools for models, people and stores.

pub mod command;
pub mod portable;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::json::Json;

/// The host's own tool, which a plugin can't define.
pub const RESOLVE: &str = "resolve";

/// A tool, as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// The name, which is unique in a session.
    pub name: String,
    /// The name for people.
    pub label: String,
    /// The description for models.
    pub description: String,
    /// The JSON Schema (2020-12) of the params object.
    pub parameters: Json,
    /// The JSON Schema of the result's details, if the tool promises one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Hints about what the tool does.
    pub traits: ToolTraits,
}

/// Hints about a tool's behavior, as the tool claims. The sandbox doesn't rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolTraits {
    /// True if the tool is left out of listings.
    pub hidden: bool,
    /// True if the tool may push pending actions.
    pub deferrable: bool,
    /// True if the tool never changes anything.
    pub read_only: bool,
    /// True if the tool's effects can't be undone by calling it again.
    pub destructive: bool,
    /// True if applying an action twice has the effect of applying it once.
    pub idempotent: bool,
    /// True if the tool reaches beyond the workspace.
    pub open_world: bool,
}

impl ToolTraits {
    /// Returns the names of the hints that are set, as the WIT world spells them.
    pub fn names(&self) -> Vec<&'static str> {
        [
            (self.hidden, "hidden"),
            (self.deferrable, "deferrable"),
            (self.read_only, "read-only"),
            (self.destructive, "destructive"),
            (self.idempotent, "idempotent"),
            (self.open_world, "open-world"),
        ]
        .into_iter()
        .filter_map(|(set, name)| set.then_some(name))
        .collect()
    }
}

/// A tool that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RejectedTool {
    /// The requested name, cut if it is very long.
    pub name: String,
    /// The reason, as a sentence.
    pub reason: String,
}

impl RejectedTool {
    /// Creates the rejection of a tool. `reason` is a sentence. A name of more than 80 characters
    /// is cut.
    pub fn new(name: &str, reason: impl Into<String>) -> Self {
        Self {
            name: name.chars().take(80).collect(),
            reason: reason.into(),
        }
    }

    /// Rejects a name that is, or looks like, that of the host's tool `resolve`.
    pub fn reserved(name: &str) -> Self {
        let reason = if name == RESOLVE {
            "the name `resolve` is the host's own"
        } else {
            "the name looks like that of the host's tool `resolve`"
        };
        Self::new(name, reason)
    }

    /// Rejects a name that is taken. The contract defines the text.
    pub fn conflict(name: &str) -> Self {
        Self::new(
            name,
            format!("Tool name \"{name}\" conflicts with existing tool"),
        )
    }
}

impl std::error::Error for RejectedTool {}

impl fmt::Display for RejectedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool {:?}: {}", self.name, self.reason)
    }
}

/// Returns the definition of the hidden tool `resolve`. Offer it to a model next to a session's
/// tools.
pub fn resolve_tool() -> ToolDefinition {
    ToolDefinition {
        name: RESOLVE.to_owned(),
        label: "Resolve".to_owned(),
        description: "Finalizes a pending action: `apply` makes the previewed changes, `discard` drops them. \
            Without an `id` it is the topmost action, the one that was previewed last."
            .to_owned(),
        parameters: Json::of_own(&json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["apply", "discard"],
                    "description": "apply the previewed changes, or discard them"
                },
                "reason": {
                    "type": "string",
                    "description": "why: it is shown to the user and passed to the tool"
                },
                "extra": {
                    "type": "object",
                    "description": "free-form values for the tool that made the preview"
                },
                "id": {
                    "type": "string",
                    "description": "which pending action; the topmost where left out"
                }
            },
            "required": ["action", "reason"],
            "additionalProperties": false
        })),
        output: None,
        traits: ToolTraits {
            hidden: true,
            destructive: true,
            ..ToolTraits::default()
        },
    }
}
