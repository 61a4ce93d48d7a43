//! A component with one tool that is in order, `good`, and many that are not: a host reports those
//! and leaves them out.
//!
//! It also does in `definitions` what has no session to be done in: it pushes an action and asks
//! for the session. What it was answered is in the description of `good`, and a call of `good`
//! tells it where the instance is still the same.

mod answers;
mod definitions;

wit_bindgen::generate!({ world: "custom-tool", path: "../../../wit/0.1.0" });

use airlock::tool::types::{Content, ToolDefinition, ToolError, ToolResult};
use exports::airlock::tool::resolver::{self, Resolution};
use exports::airlock::tool::tool;

struct Misfits;

impl tool::Guest for Misfits {
    fn definitions() -> Vec<ToolDefinition> {
        definitions::all(answers::ask())
    }

    fn execute(_call_id: String, name: String, _params: String) -> Result<ToolResult, ToolError> {
        if name != "good" {
            return Err(ToolError::Failed(format!(
                "{name} was called, though it should have been left out"
            )));
        }
        let answers = answers::kept().unwrap_or("this instance was not asked for its definitions");
        Ok(text(answers.to_owned()))
    }
}

impl resolver::Guest for Misfits {
    fn apply(resolution: Resolution) -> Result<ToolResult, ToolError> {
        Ok(text(format!("applied: {}", resolution.label)))
    }

    fn reject(_resolution: Resolution) -> Result<Option<ToolResult>, ToolError> {
        Ok(None)
    }
}

fn text(text: String) -> ToolResult {
    ToolResult {
        content: vec![Content::Text(text)],
        details: None,
    }
}

#[allow(unsafe_code, reason = "bindings export unsafe functions")]
const _: () = {
    export!(Misfits);
};
