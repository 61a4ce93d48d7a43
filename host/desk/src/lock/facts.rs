//! A component's own facts, which a lock pins.

use airlock_host::Plugin;
use airlock_host::policy::Pattern;
use airlock_host::tool::ToolDefinition;
use airlock_host::wants::{About, Want, Wants};
use serde::{Deserialize, Serialize};

/// A component's own facts: its metadata, its wants, and its tools with all that models read of
/// them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Facts {
    /// The world that the component was built for.
    pub world: String,
    /// The component's own metadata.
    #[serde(default)]
    pub about: About,
    /// The component's wants; `None` if it lists none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wants: Option<Wants>,
    /// The tools, in the component's own order.
    #[serde(default, rename = "tool")]
    pub tools: Vec<LockedTool>,
}

/// A tool's definition. Its schemas are canonical JSON: objects are sorted, and nothing separates
/// their parts, so that two schemas with the same meaning are equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedTool {
    /// The name.
    pub name: String,
    /// The name for people.
    pub label: String,
    /// The description for models.
    pub description: String,
    /// The JSON Schema of the params.
    pub params: String,
    /// The JSON Schema of the result's details, if the tool promises one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The hints that are set, as the WIT world spells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl Facts {
    /// Returns each thing that the component wants. One that lists none is treated as if it wanted
    /// to read and change everything.
    pub fn wants(&self) -> Vec<Want> {
        match &self.wants {
            Some(wants) => wants.items(),
            None => Pattern::new("**")
                .into_iter()
                .flat_map(|all| [Want::Read(all.clone()), Want::Change(all)])
                .collect(),
        }
    }

    /// Returns the facts about a plugin.
    pub fn of(plugin: &Plugin) -> Self {
        Self {
            world: plugin.world().to_string(),
            about: plugin.about().clone(),
            wants: plugin.wants().cloned(),
            tools: plugin.tools().map(LockedTool::of).collect(),
        }
    }
}

impl LockedTool {
    fn of(tool: &ToolDefinition) -> Self {
        let canonical = |mut schema: serde_json::Value| {
            schema.sort_all_objects();
            schema.to_string()
        };
        Self {
            name: tool.name.clone(),
            label: tool.label.clone(),
            description: tool.description.clone(),
            params: canonical(tool.parameters.value()),
            result: tool.output.as_ref().map(|it| canonical(it.value())),
            hints: tool.traits.names().into_iter().map(str::to_owned).collect(),
        }
    }
}
