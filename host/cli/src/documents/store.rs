//! The store: `store …`.

use schemars::JsonSchema;
use serde::Serialize;

/// The amounts that a store holds, of `store stats`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreStats {
    /// The number of actions that were applied and are remembered.
    pub applied: u64,
    /// The size of the store in bytes.
    pub bytes: u64,
    /// The number of actions that were discarded and are remembered.
    pub discarded: u64,
    /// The number of pending actions with an apply of unknown outcome.
    pub interrupted: u64,
    /// The maximum size of the store in bytes; null if there is none.
    pub limit: Option<u64>,
    /// The number of pending actions whose preview is lost.
    pub lost: u64,
    /// The number of pending actions, including interrupted and lost ones.
    pub pending: u64,
    /// The files that applies have replaced and removed in this folder and that are kept for an
    /// undo; omitted if the folder has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub originals: Option<OriginalsStats>,
    /// The bytes of pending actions.
    pub pending_bytes: u64,
    /// The bytes of the plugins.
    pub plugin_bytes: u64,
    /// The number of plugins.
    pub plugins: u64,
    /// The number of actions that are being resolved.
    pub resolving: u64,
    /// The age up to which decisions are kept, such as `30d`, or `forever`.
    pub retention: String,
    /// The version of the store's schema.
    pub schema: u32,
    /// The number of sessions with open actions.
    pub sessions: u64,
    /// The store's location, without a password.
    pub store: String,
    /// The number of actions that can't be read; null if there are too many actions to look.
    pub unreadable: Option<usize>,
}

/// What is kept in a folder for an undo.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OriginalsStats {
    /// The number of applies that can be undone.
    pub applies: usize,
    /// The total size of the files in bytes.
    pub bytes: u64,
    /// The maximum size in bytes.
    pub limit: u64,
    /// The age up to which they are kept, such as `7d`.
    pub retention: String,
}

/// The problems of a store, of `store check`.
#[derive(Serialize, JsonSchema)]
pub struct StoreCheck<'a> {
    pub problems: &'a [String],
    /// The store's location, without a password.
    pub store: &'a str,
}

/// A backup that was made, of `store backup`.
#[derive(Serialize, JsonSchema)]
pub struct StoreBackup<'a> {
    /// The path of the backup.
    pub backup: &'a str,
    /// The size of the backup.
    pub bytes: u64,
}

/// A store that was restored, of `store restore`.
#[derive(Serialize, JsonSchema)]
pub struct StoreRestore<'a> {
    /// The path of the backup.
    pub from: &'a str,
    /// The path of the store.
    pub restored: &'a str,
}

/// How long decisions are kept, of `store retention`.
#[derive(Serialize, JsonSchema)]
pub struct StoreRetention {
    /// The age up to which decisions are kept, such as `30d`, or `forever`.
    pub retention: String,
    /// The same in seconds; null if decisions are kept forever.
    pub seconds: Option<u64>,
}

/// The maximum size of a store, of `store limit`.
#[derive(Serialize, JsonSchema)]
pub struct StoreLimit {
    /// The maximum in bytes; null if there is none.
    pub limit: Option<u64>,
}

/// The items that `store prune` removed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorePrune {
    /// The number of decisions.
    pub actions: u64,
    /// The age of the decisions, such as `30d`.
    pub older_than: String,
    /// The number of plugins.
    pub plugins: u64,
}

/// The action that `store forget` removed.
#[derive(Serialize, JsonSchema)]
pub struct StoreForget<'a> {
    /// The action's id.
    pub forgotten: &'a str,
}
