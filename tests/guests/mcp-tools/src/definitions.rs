//! The tools, by the names and with the schemas that the suite asks for.

use crate::airlock::tool::types::{ToolDefinition, ToolTraits};

const NOTHING: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

/// Word for word the suite's own: each of its keywords has to reach a client.
const SCHEMA_2020_12: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"}
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {
        "properties": {"contactMethod": {"const": "phone"}},
        "required": ["contactMethod"]
    },
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
}"##;

/// A parameter that clients of 2026-07-28 say in a header too, which has to agree.
const SAID_IN_A_HEADER: &str = r#"{
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
    "additionalProperties": false
}"#;

const GREETED: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}"#;

pub fn all() -> Vec<ToolDefinition> {
    vec![
        // First, since the suite calls whichever tool is listed first, without arguments.
        named("test_simple_text", NOTHING),
        named("test_image_content", NOTHING),
        named("test_error_handling", NOTHING),
        named("test_tool_with_progress", NOTHING),
        named("test_logging_tool", NOTHING),
        named("test_reconnection", NOTHING),
        named("json_schema_2020_12_tool", SCHEMA_2020_12),
        named("test_header_parameter", SAID_IN_A_HEADER),
        // Of the extension for tasks: a tool whose call is none.
        named("greet", GREETED),
    ]
}

fn named(name: &str, parameters: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        label: "Test".into(),
        description: "Called by the conformance suite.".into(),
        parameters: parameters.into(),
        output: None,
        traits: ToolTraits::READ_ONLY,
    }
}
