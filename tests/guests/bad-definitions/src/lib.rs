//! Components that a host can't get definitions from: one in each file of `examples/`.
//!
//! Whatever they do, they do it in `definitions`. So that is all that an example writes; the rest
//! of the world is here.

wit_bindgen::generate!({
    world: "custom-tool",
    path: "../../../wit/0.1.0",
    pub_export_macro: true,
    default_bindings_module: "bad_definitions",
});

pub use airlock::tool::types::{ToolDefinition, ToolTraits};

use airlock::tool::types::{ToolError, ToolResult};
use exports::airlock::tool::{resolver, tool};

/// What an example does instead of describing its tools.
pub trait Definitions {
    fn definitions() -> Vec<ToolDefinition>;
}

impl<D: Definitions> tool::Guest for D {
    fn definitions() -> Vec<ToolDefinition> {
        D::definitions()
    }

    fn execute(_call_id: String, name: String, _params: String) -> Result<ToolResult, ToolError> {
        Err(ToolError::Failed(format!(
            "{name} was called, though nobody can know it"
        )))
    }
}

impl<D: Definitions> resolver::Guest for D {
    fn apply(resolution: resolver::Resolution) -> Result<ToolResult, ToolError> {
        Err(nothing_pushed(&resolution))
    }

    fn reject(resolution: resolver::Resolution) -> Result<Option<ToolResult>, ToolError> {
        Err(nothing_pushed(&resolution))
    }
}

fn nothing_pushed(resolution: &resolver::Resolution) -> ToolError {
    ToolError::Failed(format!(
        "{} was resolved, though nothing was pushed",
        resolution.action_id
    ))
}
