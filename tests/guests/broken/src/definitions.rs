//! How the tools describe themselves.

use crate::airlock::tool::types::{ToolDefinition, ToolTraits};

const NOTE: &str = r#"{
    "type": "object",
    "properties": {"note": {"type": "string", "maxLength": 40}},
    "required": ["note"]
}"#;

const COUNT: &str = r#"{
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 0, "maximum": 1000},
        "verbose": {"type": "boolean"}
    },
    "required": ["count"]
}"#;

/// Names, and what is wrong with each.
const TOOLS: &[(&str, &str, &str)] = &[
    ("sound", "Nothing is wrong with it.", NOTE),
    (
        "remembers",
        "Its apply needs the memory of its preview.",
        NOTE,
    ),
    (
        "keeps_in_scratch",
        "Its apply needs the preview's scratch file.",
        NOTE,
    ),
    ("appends", "Its apply adds a line each time.", NOTE),
    ("counts_to_100", "Panics at what its schema allows.", COUNT),
    (
        "wants_a_letter",
        "Its schema forgot that a note may be empty.",
        NOTE,
    ),
    ("spins", "Never ends where it is to count far.", COUNT),
    (
        "long_label",
        "Its label is as long as its params make it.",
        NOTE,
    ),
    ("pushes_again", "Its reject pushes an action.", NOTE),
    (
        "promises_a_count",
        "Its details don't fit its output schema.",
        COUNT,
    ),
    (
        "claims_to_read",
        "Says that it is read-only, and writes.",
        NOTE,
    ),
    (
        "tells_the_time",
        "No two of its previews are the same.",
        NOTE,
    ),
    (
        "writes_early",
        "Tries to write in a preview, and says nothing.",
        NOTE,
    ),
    ("dials", "Tries to use the network, and says nothing.", NOTE),
    (
        "writes_the_reason",
        "Its apply depends on the reason.",
        NOTE,
    ),
    (
        "answers_the_reason",
        "What its apply answers depends on the reason.",
        NOTE,
    ),
    (
        "notes_twice",
        "Nothing is wrong with it: it pushes an action for each of two files that it has read.",
        NOTE,
    ),
    ("stops_halfway", "Its apply writes, and fails then.", NOTE),
];

pub fn all() -> Vec<ToolDefinition> {
    TOOLS
        .iter()
        .map(|&(name, description, parameters)| ToolDefinition {
            name: name.into(),
            label: name.into(),
            description: description.into(),
            parameters: parameters.into(),
            output: (name == "promises_a_count").then(|| {
                r#"{"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}"#.into()
            }),
            traits: match name {
                "claims_to_read" => ToolTraits::DEFERRABLE | ToolTraits::READ_ONLY,
                _ => ToolTraits::DEFERRABLE,
            },
        })
        .collect()
}
