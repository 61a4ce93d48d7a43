//! Has far more tools than any host would want: each of them is in order.

use bad_definitions::{Definitions, ToolDefinition, ToolTraits};

const TOOLS: usize = 100_000;

struct Flood;

impl Definitions for Flood {
    fn definitions() -> Vec<ToolDefinition> {
        (0..TOOLS).map(definition).collect()
    }
}

fn definition(number: usize) -> ToolDefinition {
    ToolDefinition {
        name: format!("tool_{number}"),
        label: format!("Tool {number}"),
        description: "One of very many.".into(),
        parameters: r#"{"type":"object"}"#.into(),
        output: None,
        traits: ToolTraits::empty(),
    }
}

bad_definitions::export!(Flood);
