//! How the two tools describe themselves.

use crate::airlock::tool::types::{ToolDefinition, ToolTraits};

/// Loose on purpose: what a step may hold is the puppet's business, and a test must be able to get
/// it wrong.
const STEPS: &str = r#"{
    "type": "object",
    "properties": {
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"do": {"type": "string"}},
                "required": ["do"]
            }
        }
    },
    "required": ["steps"]
}"#;

/// Strict on purpose, with a violation to make at each depth.
const STRICT: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "count": {"type": "integer", "minimum": 1, "maximum": 10},
        "tags": {"type": "array", "items": {"type": "string"}},
        "where": {
            "type": "object",
            "properties": {"path": {"type": "string", "pattern": "^[a-z/]+$"}},
            "required": ["path"],
            "additionalProperties": false
        }
    },
    "required": ["name", "count"],
    "additionalProperties": false
}"#;

pub fn puppet() -> ToolDefinition {
    ToolDefinition {
        name: "puppet".into(),
        label: "Puppet".into(),
        description: "Does the given steps, one after the other.".into(),
        parameters: STEPS.into(),
        output: None,
        traits: ToolTraits::DEFERRABLE | ToolTraits::DESTRUCTIVE,
    }
}

pub fn typed() -> ToolDefinition {
    ToolDefinition {
        name: "typed".into(),
        label: "Typed".into(),
        description: "Repeats its parameters.".into(),
        parameters: STRICT.into(),
        output: None,
        traits: ToolTraits::READ_ONLY,
    }
}
