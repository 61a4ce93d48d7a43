//! The tools that `@modelcontextprotocol/conformance` calls by name, as far as a plugin can be
//! them: `tests/mcp/conformance.mjs` lists what is left out.

mod definitions;

wit_bindgen::generate!({ world: "custom-tool", path: "../../../wit/0.1.0" });

use airlock::tool::host::{self, Level};
use airlock::tool::types::{Blob, Content, ToolDefinition, ToolError, ToolResult};
use exports::airlock::tool::resolver::{self, Resolution};
use exports::airlock::tool::tool;
use serde_json::Value;

/// One red pixel.
const PIXEL: &[u8] = include_bytes!("pixel.png");

struct McpTools;

impl tool::Guest for McpTools {
    fn definitions() -> Vec<ToolDefinition> {
        definitions::all()
    }

    fn execute(_call_id: String, name: String, params: String) -> Result<ToolResult, ToolError> {
        match name.as_str() {
            "test_image_content" => Ok(image()),
            "test_error_handling" => Err(ToolError::Tool("meant to fail".into())),
            "test_tool_with_progress" => Ok(progress()),
            "test_logging_tool" => Ok(log()),
            "greet" => Ok(greet(&params)),
            _ => Ok(text("This is a simple text response for testing.")),
        }
    }
}

fn image() -> ToolResult {
    let pixel = Blob {
        data: PIXEL.to_vec(),
        mime_type: "image/png".into(),
    };
    ToolResult {
        content: vec![Content::Image(pixel)],
        details: None,
    }
}

fn progress() -> ToolResult {
    for done in [0.0, 50.0, 100.0] {
        host::report_progress("counting", Some(done), Some(100.0));
    }
    text("counted")
}

fn greet(params: &str) -> ToolResult {
    let params: Value = serde_json::from_str(params).expect("the host has checked them");
    let name = params["name"].as_str().expect("it is a string");
    text(&format!("Hello, {name}!"))
}

/// To the host's log, which is not the client's.
fn log() -> ToolResult {
    host::log(Level::Error, "not for clients");
    text("logged")
}

fn text(text: &str) -> ToolResult {
    ToolResult {
        content: vec![Content::Text(text.into())],
        details: None,
    }
}

impl resolver::Guest for McpTools {
    fn apply(_resolution: Resolution) -> Result<ToolResult, ToolError> {
        Err(ToolError::Failed("nothing here stages an action".into()))
    }

    fn reject(_resolution: Resolution) -> Result<Option<ToolResult>, ToolError> {
        Ok(None)
    }
}

#[allow(unsafe_code, reason = "bindings export unsafe functions")]
const _: () = {
    export!(McpTools);
};
