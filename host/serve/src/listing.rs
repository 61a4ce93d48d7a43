//! Tools, as clients list them.

use std::sync::Arc;

use airlock_host::tool::{ToolDefinition, portable, resolve_tool};
use rmcp::model::{Tool, ToolAnnotations};

/// Returns a session's tool as clients list it. A call only previews, as the sandbox guarantees.
/// The tool is therefore read-only and not destructive, whatever it declares about its apply.
pub fn of_session(tool: &ToolDefinition) -> Tool {
    let annotations = ToolAnnotations::with_title(&tool.label)
        .read_only(true)
        .destructive(false)
        .open_world(tool.traits.open_world);
    listed(tool).with_annotations(annotations)
}

/// Returns `resolve`, the only tool with effects.
pub fn resolve() -> Tool {
    let tool = resolve_tool();
    let annotations = ToolAnnotations::with_title(&tool.label)
        .read_only(false)
        .destructive(true)
        .idempotent(false);
    listed(&tool).with_annotations(annotations)
}

/// Returns a tool with schemas that clients accept.
fn listed(tool: &ToolDefinition) -> Tool {
    let listed = Tool::new(
        tool.name.clone(),
        tool.description.clone(),
        Arc::new(portable::params(&tool.parameters).schema),
    );
    // The output schema is left out: a preview has no structured content, and in other results the
    // tool's details are next to the host's part.
    listed.with_title(&tool.label)
}

#[cfg(test)]
mod tests {
    use airlock_host::tool::ToolTraits;

    use super::*;

    #[test]
    fn a_tool_is_read_only_whatever_it_says_of_its_apply_and_resolve_is_not() {
        let mut tool = resolve_tool();
        tool.name = "wipe".to_owned();
        for destructive in [false, true] {
            let mut traits = ToolTraits::default();
            traits.destructive = destructive;
            traits.deferrable = true;
            tool.traits = traits;
            let hints = of_session(&tool).annotations.unwrap();
            assert_eq!(
                (hints.read_only_hint, hints.destructive_hint),
                (Some(true), Some(false))
            );
        }
        let hints = resolve().annotations.unwrap();
        assert_eq!(
            (hints.read_only_hint, hints.destructive_hint),
            (Some(false), Some(true))
        );
    }
}
