//! Plugins: `plugins` and `inspect`.

use airlock_host::policy::WorkspaceGrant;
use airlock_host::tool::{RejectedTool, ToolDefinition};
use airlock_host::wants::{About, Wants};
use airlock_signature::Signer;
use schemars::JsonSchema;
use serde::Serialize;

use super::model;

/// The plugins that have a name.
#[derive(Serialize, JsonSchema)]
pub struct NamedPlugins<'a> {
    pub plugins: Vec<NamedPlugin<'a>>,
}

/// A bundled or installed plugin: a component, or a native tool.
#[derive(Serialize, JsonSchema)]
pub struct NamedPlugin<'a> {
    pub about: &'a str,
    pub digest: String,
    pub name: &'a str,
    /// True for a native tool, and omitted for a component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<bool>,
    /// The reference that it was installed from; omitted for a bundled one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The signers of an installed plugin; empty if it is unsigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signers: Option<&'a [Signer]>,
    /// The size in bytes of a bundled component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
}

/// A plugin or a native tool, with its tools.
#[derive(Serialize, JsonSchema)]
pub struct Inspection<'a> {
    #[serde(flatten)]
    pub about: PluginFacts<'a>,
    pub name: &'a str,
    /// The tools. Their schemas are the plugin's own text.
    #[schemars(with = "Vec<model::ToolDefinition>")]
    pub tools: Vec<&'a ToolDefinition>,
    /// The tools that the host leaves out.
    #[schemars(with = "Vec<model::RejectedTool>")]
    pub rejected: &'a [RejectedTool],
    /// The signers of an installed plugin; empty if it is unsigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signers: Option<&'a [Signer]>,
}

/// Facts about a plugin or a native tool. Those that concern only one of the two are omitted for
/// the other.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginFacts<'a> {
    pub digest: String,
    /// How the component fits the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit<'a>>,
    pub grants: Grants,
    /// The interfaces that the component imports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imports: Option<&'a [String]>,
    /// The component's own metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<&'a About>,
    /// True for a native tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<bool>,
    /// The component's size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The version of the format of a native tool's actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_version: Option<u32>,
    /// The component's wants, if it has a section with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants: Option<&'a Wants>,
    /// The version of the world that the component was built for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_version: Option<&'a str>,
}

/// The grants that a plugin would get.
#[derive(Serialize, JsonSchema)]
pub struct Grants {
    /// The plugin's wants beyond them, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// All grants, for people.
    pub description: String,
    #[schemars(with = "model::WorkspaceGrant")]
    pub workspace: WorkspaceGrant,
}

/// The result of comparing a component with the world.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fit<'a> {
    /// The version of the world that the component was built for, if its names contain it.
    pub built_for: Option<&'a str>,
    /// The differences; empty if the component fits.
    pub differences: Vec<WorldDifference<'a>>,
    /// The full name of the host's world.
    pub world: String,
}

/// An item that differs between the world and a component.
#[derive(Serialize, JsonSchema)]
pub struct WorldDifference<'a> {
    /// The item in the component; null if the component does not have it.
    pub component: Option<&'a str>,
    /// The item's position, from the outside in.
    pub item: &'a str,
    /// The item in the world; null if the world does not have it.
    pub world: Option<&'a str>,
}

#[cfg(feature = "author")]
impl<'a> From<&'a airlock_author::fit::Fit> for Fit<'a> {
    fn from(fit: &'a airlock_author::fit::Fit) -> Self {
        let differences = fit.differences.iter().map(|it| WorldDifference {
            component: it.component.as_deref(),
            item: &it.item,
            world: it.world.as_deref(),
        });
        Self {
            built_for: fit.built_for.as_deref(),
            differences: differences.collect(),
            world: fit.world.clone(),
        }
    }
}
