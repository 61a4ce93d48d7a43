//! Tools that each break one thing which every tool must keep, and keep all others: the test kit
//! has to find the one.
//!
//! `sound` is like them, and breaks nothing.

mod applying;
mod definitions;
mod previewing;

wit_bindgen::generate!({ world: "custom-tool", path: "../../../wit/0.1.0" });

use airlock::tool::pending_actions::{PendingAction, PushError, push_pending_action};
use airlock::tool::types::{Content, ToolDefinition, ToolError, ToolResult};
use exports::airlock::tool::resolver::{self, Resolution};
use exports::airlock::tool::tool;
use serde_json::Value;

struct Broken;

impl tool::Guest for Broken {
    fn definitions() -> Vec<ToolDefinition> {
        definitions::all()
    }

    fn execute(_: String, name: String, params: String) -> Result<ToolResult, ToolError> {
        let params: Value = serde_json::from_str(&params).map_err(failed)?;
        previewing::preview(&name, &params)
    }
}

impl resolver::Guest for Broken {
    fn apply(resolution: Resolution) -> Result<ToolResult, ToolError> {
        applying::apply(&resolution)
    }

    fn reject(resolution: Resolution) -> Result<Option<ToolResult>, ToolError> {
        applying::reject(&resolution)
    }
}

/// Pushes a durable action whose state is a text.
fn push(tool: &str, label: &str, state: &str, has_reject: bool) -> Result<(), ToolError> {
    let action = PendingAction {
        label: label.to_owned(),
        source_tool_name: Some(tool.to_owned()),
        details: None,
        has_reject,
        state: Some(state.as_bytes().to_vec()),
    };
    match push_pending_action(&action) {
        Ok(_) => Ok(()),
        Err(
            PushError::StoreUnavailable(text)
            | PushError::LimitExceeded(text)
            | PushError::Invalid(text),
        ) => Err(ToolError::Tool(text)),
    }
}

fn text(text: impl Into<String>) -> ToolResult {
    ToolResult {
        content: vec![Content::Text(text.into())],
        details: None,
    }
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(error.to_string())
}

#[allow(unsafe_code, reason = "bindings export unsafe functions")]
const _: () = {
    export!(Broken);
};
