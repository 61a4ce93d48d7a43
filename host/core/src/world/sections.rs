//! Custom sections that Airlock gives components.

use airlock_model::tool::command::CommandTools;
use airlock_model::wants::Wants;
use serde::Serialize;
use wasm_encoder::{ComponentSection, CustomSection};

/// Gives a program its own tools, in place of [`COMMAND_TOOL`](super::COMMAND_TOOL). A component
/// that has tools already can't be loaded with others.
pub fn with_command_tools(component: Vec<u8>, tools: &CommandTools) -> Vec<u8> {
    with_section(component, CommandTools::SECTION, tools)
}

/// Adds a component's wants. A component that has some already can't be loaded with two such
/// sections.
pub fn with_wants(component: Vec<u8>, wants: &Wants) -> Vec<u8> {
    with_section(component, Wants::SECTION, wants)
}

fn with_section(mut component: Vec<u8>, name: &str, contents: &impl Serialize) -> Vec<u8> {
    // Texts, and schemas that were read before, can always be written.
    let json = serde_json::to_vec(contents).unwrap_or_default();
    let section = CustomSection {
        name: name.into(),
        data: json.into(),
    };
    section.append_to_component(&mut component);
    component
}
