//! Installed plugins: `install`, `update`, `list`, `uninstall` and `push`.

use airlock_desk::lock::Entry;
use airlock_host::Policy;
use airlock_host::wants::{About, Wants};
use airlock_signature::Signer;
use schemars::JsonSchema;
use serde::Serialize;

use super::error::ErrorObject;
use super::plugins::Grants;

/// The outcome for each plugin.
#[derive(Serialize, JsonSchema)]
pub struct Installs<'a> {
    /// The failures, if any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorObject<'a>>,
    pub plugins: Vec<InstallReport<'a>>,
}

/// The outcome for a plugin.
#[derive(Serialize, JsonSchema)]
pub struct InstallReport<'a> {
    #[serde(flatten)]
    pub plugin: InstalledPlugin<'a>,
    /// The differences from the version that was installed before, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    pub state: InstallState,
}

/// The outcome for a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InstallState {
    /// It is new.
    Installed,
    /// It was replaced by another version, or is granted something else.
    Updated,
    /// Its component was missing, and was fetched.
    Fetched,
    /// It stayed as it was.
    Unchanged,
    /// The person at the terminal said no to an update.
    Kept,
    /// The person at the terminal said no, and it is not installed.
    Declined,
}

/// The installed plugins.
#[derive(Serialize, JsonSchema)]
pub struct InstalledPlugins<'a> {
    pub plugins: Vec<InstalledPlugin<'a>>,
}

/// An installed plugin.
#[derive(Serialize, JsonSchema)]
pub struct InstalledPlugin<'a> {
    pub digest: String,
    /// The effective grants.
    pub grants: Grants,
    /// The digest of the artifact's manifest, if it came from a registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The component's own metadata.
    pub metadata: &'a About,
    pub name: &'a str,
    pub reference: String,
    /// The signers whose signatures were verified; empty if it is unsigned.
    pub signers: &'a [Signer],
    /// The names of its tools.
    pub tools: Vec<&'a str>,
    /// The component's wants, if it says them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants: Option<&'a Wants>,
}

/// The names of the uninstalled plugins.
#[derive(Serialize, JsonSchema)]
pub struct Uninstalled<'a> {
    pub uninstalled: Vec<&'a str>,
}

/// A component that was published.
#[derive(Serialize, JsonSchema)]
pub struct Pushed {
    /// The component's digest.
    pub digest: String,
    /// The manifest's digest.
    pub manifest: String,
    /// The reference with the manifest's digest.
    pub pinned: String,
    pub reference: String,
    /// The attached signatures' files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

impl<'a> InstalledPlugin<'a> {
    pub fn new(entry: &'a Entry, policy: &Policy) -> Self {
        Self {
            digest: entry.digest.to_string(),
            grants: Grants {
                denied: policy.denied.clone(),
                description: policy.to_string(),
                workspace: policy.workspace,
            },
            manifest: entry.manifest.map(|it| it.to_string()),
            metadata: &entry.facts.about,
            name: entry.name.as_str(),
            reference: entry.reference.to_string(),
            signers: &entry.signed_by,
            tools: entry.facts.tools.iter().map(|it| &*it.name).collect(),
            wants: entry.facts.wants.as_ref(),
        }
    }
}
