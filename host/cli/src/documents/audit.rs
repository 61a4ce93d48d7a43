//! Installed plugins, the actions of all plugins, and known advisories: `audit`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::doctor::Check;
use super::installed::InstalledPlugin;

/// The installed plugins and the actions of all plugins.
#[derive(Serialize, JsonSchema)]
pub struct Audit<'a> {
    /// The findings, in the form of the checks of `doctor`.
    pub findings: &'a [Check],
    /// Plugins that are not installed, or have another name or component, and have actions.
    pub others: Vec<OtherPlugin<'a>>,
    /// The installed plugins.
    pub plugins: Vec<AuditedPlugin<'a>>,
    pub runtime: &'a Runtime,
    /// The store's location.
    pub store: &'a str,
}

/// An installed plugin, and its actions in the store.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditedPlugin<'a> {
    #[serde(flatten)]
    pub plugin: InstalledPlugin<'a>,
    /// The actions of the installed component.
    pub activity: Activity,
    /// The actions of other components with this name, such as earlier versions; omitted if there
    /// are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_versions: Option<Activity>,
    /// True if neither has an action in the store. Calls without an action are not recorded.
    pub unused: bool,
    /// The granted patterns of paths to change that match no file that it is known to have changed.
    /// A plugin that may change everything has none.
    pub unused_changes: Vec<String>,
}

/// A plugin that is not installed under this name, and its actions in the store.
#[derive(Serialize, JsonSchema)]
pub struct OtherPlugin<'a> {
    pub activity: Activity,
    pub digest: String,
    pub kind: OtherKind,
    /// The host's name for the plugin.
    pub name: &'a str,
}

/// The origin of a plugin that is not installed under its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OtherKind {
    /// It is bundled with this program.
    Bundled,
    /// It has the name of a bundled plugin and another digest: from another version of this
    /// program, or from a file.
    NamedAsBundled,
    /// It is the component of an installed plugin under another name, such as a file's.
    NamedDifferently,
    /// It was uninstalled, or was always run from a file.
    NotInstalled,
}

/// The actions of a plugin that the store remembers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Activity {
    /// The number of all actions.
    pub actions: u64,
    pub applied: Decisions,
    /// The number of requests that a rule refused or a person declined.
    pub denied: u64,
    pub discarded: Decisions,
    pub files: ChangedFiles,
    /// The time of the first action; null if there is none.
    pub first: Option<String>,
    /// The number of pending actions that were interrupted.
    pub interrupted: u64,
    /// The time of the last action or decision; null if there is none.
    pub last: Option<String>,
    /// The number of actions that wait for a decision, or are being decided.
    pub pending: u64,
}

/// The decisions of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Decisions {
    /// The numbers of decisions by `model`, `person`, `rule`, `program` and `unknown`.
    pub by: BTreeMap<&'static str, u64>,
    pub count: u64,
}

/// The files that a plugin's applied actions have changed, as Airlock verified it.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ChangedFiles {
    /// The number of different files.
    pub count: u64,
    /// The files that were changed last, latest first.
    pub latest: Vec<ChangedFile>,
    /// True if there are more than are counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// The number of applied actions whose files are not known.
    pub unknown: u64,
}

/// A changed file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedFile {
    pub at: Option<String>,
    /// The path below the workspace.
    pub path: String,
    pub workspace: Option<String>,
}

/// The runtime of plugins that this program was built with.
#[derive(Serialize, JsonSchema)]
pub struct Runtime {
    /// The advisories about these versions.
    pub advisories: Vec<AdvisoryReport>,
    pub cranelift: String,
    /// The number of known advisories about any version.
    pub known: usize,
    /// The date of the list of advisories.
    pub snapshot: String,
    pub wasmtime: String,
}

/// An advisory about a version.
#[derive(Serialize, JsonSchema)]
pub struct AdvisoryReport {
    #[serde(rename = "crate")]
    pub package: String,
    pub date: String,
    /// The identifier in RustSec's database.
    pub id: String,
    /// The requirements of versions without the mistake; each is enough.
    pub patched: Vec<String>,
    pub title: String,
}
