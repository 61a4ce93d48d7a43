//! The tool `bench`: what an ordinary small tool costs, in size and in time.
//!
//! It links what such a tool links (serde_json and the files of the standard library), reads its
//! parameters, and pushes one durable action. So a benchmark that calls it with a hundred bytes of
//! JSON measures the border, not the work.

wit_bindgen::generate!({ world: "custom-tool", path: "../../../wit/0.1.0" });

use serde::Deserialize;

use airlock::tool::pending_actions::{PendingAction, push_pending_action};
use airlock::tool::types::{Content, ToolDefinition, ToolError, ToolResult, ToolTraits};
use exports::airlock::tool::resolver::{self, Resolution};
use exports::airlock::tool::tool;

const PARAMETERS: &str = r#"{
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "count": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
        "file": {"type": "string", "description": "Read into the preview, where it is given"}
    },
    "required": ["title", "count"],
    "additionalProperties": false
}"#;

#[derive(Deserialize)]
struct Params {
    title: String,
    count: u32,
    #[serde(default)]
    tags: Vec<String>,
    file: Option<String>,
}

struct Bench;

impl tool::Guest for Bench {
    fn definitions() -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: "bench".into(),
            label: "Bench".into(),
            description: "Previews a change that is none.".into(),
            parameters: PARAMETERS.into(),
            output: None,
            traits: ToolTraits::DEFERRABLE | ToolTraits::IDEMPOTENT,
        }]
    }

    fn execute(_call_id: String, _name: String, params: String) -> Result<ToolResult, ToolError> {
        let params: Params = serde_json::from_str(&params).map_err(failed)?;
        let read = match &params.file {
            Some(path) => std::fs::read(path)
                .map_err(|error| ToolError::Tool(format!("{path}: {error}")))?
                .len(),
            None => 0,
        };
        push_pending_action(&PendingAction {
            label: format!("Bench: {} items", params.count),
            source_tool_name: Some("bench".into()),
            details: None,
            has_reject: true,
            state: Some(params.count.to_le_bytes().to_vec()),
        })
        .map_err(failed)?;
        Ok(text(format!(
            "{}: {} items, {} tags, {read} bytes",
            params.title,
            params.count,
            params.tags.len()
        )))
    }
}

impl resolver::Guest for Bench {
    fn apply(resolution: Resolution) -> Result<ToolResult, ToolError> {
        Ok(text(format!("Applied: {}", resolution.label)))
    }

    fn reject(resolution: Resolution) -> Result<Option<ToolResult>, ToolError> {
        Ok(Some(text(format!("Rejected: {}", resolution.label))))
    }
}

fn text(text: String) -> ToolResult {
    ToolResult {
        content: vec![Content::Text(text)],
        details: None,
    }
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(format!("bench: {error}"))
}

#[allow(unsafe_code, reason = "bindings export unsafe functions")]
const _: () = {
    export!(Bench);
};
