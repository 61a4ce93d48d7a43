//! Describes its tool otherwise each time that it is asked.

use std::time::{SystemTime, UNIX_EPOCH};

wit_bindgen::generate!({ world: "custom-tool", path: "../../../wit/0.1.0" });

use airlock::tool::types::{ToolDefinition, ToolError, ToolResult, ToolTraits};
use exports::airlock::tool::{resolver, tool};

struct Changing;

impl tool::Guest for Changing {
    fn definitions() -> Vec<ToolDefinition> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_nanos());
        vec![ToolDefinition {
            name: "changing".into(),
            label: "Changing".into(),
            description: format!("Described at {now}."),
            parameters: r#"{"type":"object"}"#.into(),
            output: None,
            traits: ToolTraits::empty(),
        }]
    }

    fn execute(_: String, _: String, _: String) -> Result<ToolResult, ToolError> {
        Ok(ToolResult {
            content: Vec::new(),
            details: None,
        })
    }
}

impl resolver::Guest for Changing {
    fn apply(_: resolver::Resolution) -> Result<ToolResult, ToolError> {
        Err(ToolError::Failed("nothing was pushed".into()))
    }

    fn reject(_: resolver::Resolution) -> Result<Option<ToolResult>, ToolError> {
        Ok(None)
    }
}

#[allow(unsafe_code, reason = "bindings export unsafe functions")]
const _: () = {
    export!(Changing);
};
