//! The shapes of the model's values in documents, for the schema: `airlock-model` writes the values
//! themselves.
#![expect(dead_code, reason = "a schema is made of them")]

mod answer;
mod content;

use answer::Answer;
pub use content::Content;
use schemars::JsonSchema;
use serde_json::{Map, Value};

/// The effects of an action on the workspace, as the host saw them.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Effects {
    /// True if the host saw the effects. Otherwise only the tool's preview describes them, and
    /// `changes` is empty.
    verified: bool,
    /// The reason why the host could not see the effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// The changes, sorted by path.
    changes: Vec<Change>,
    /// True if the tool read the clock.
    #[serde(skip_serializing_if = "is_false")]
    uses_time: bool,
    /// True if the tool asked for random bytes.
    #[serde(skip_serializing_if = "is_false")]
    uses_randomness: bool,
    /// True if other lines of these files have changed since the preview.
    #[serde(skip_serializing_if = "is_false")]
    moved: bool,
    /// True if an apply would replace and remove more than is kept for an undo.
    #[serde(skip_serializing_if = "is_false")]
    beyond_undo: bool,
    /// The answer that the apply will give, as its rehearsal gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
}

/// The effects of one action in a list.
#[derive(JsonSchema)]
pub struct ActionEffects {
    /// The action's id.
    action: String,
    #[serde(flatten)]
    effects: Effects,
}

/// The difference between the reviewed effects of an action and its current ones.
#[derive(JsonSchema)]
pub struct Difference {
    reviewed: Effects,
    now: Effects,
}

/// A change to the workspace.
#[derive(JsonSchema)]
pub struct Change {
    kind: ChangeKind,
    /// The path below the workspace.
    path: String,
    /// The previous path, if the file or a directory above it is moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// The file before the change; omitted if it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Facts>,
    /// The file after the change; omitted if it is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Facts>,
    /// A unified diff, if both versions are texts that are not too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// The reason why changed contents have no diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    withheld: Option<Withheld>,
    /// The difference of a binary file that is not too long, as it is in a patch for git.
    #[serde(skip_serializing_if = "Option::is_none")]
    binary: Option<String>,
    #[serde(rename = "sideEffects", skip_serializing_if = "is_empty")]
    side_effects: SideEffects,
}

/// The kind of a change.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    Created,
    Modified,
    Deleted,
    Renamed,
    Mode,
    Link,
}

/// The reason why changed contents are not shown.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Withheld {
    Secret,
    Binary,
    TooLong,
}

/// The known facts about an object in the workspace.
#[derive(JsonSchema)]
pub struct Facts {
    #[serde(rename = "type")]
    object: ObjectKind,
    /// The size in bytes; 0 for a directory.
    size: u64,
    /// The SHA-256 of a file's contents, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The identity of a large file whose contents were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<Identity>,
    /// The Unix permissions as a number; 0 for a link.
    mode: u32,
    /// The target of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

/// The kind of an object in the workspace.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ObjectKind {
    File,
    Directory,
    Link,
    Special,
}

/// Metadata that distinguishes a file from others, and shows whether it has changed. Times are in
/// seconds and nanoseconds since 1970.
#[derive(JsonSchema)]
pub struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, u32),
    changed: (i64, u32),
}

/// The side effects of a change, because a new file replaces the old one.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SideEffects {
    /// The number of names of the file. Only this one gets the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts_hard_links: Option<u64>,
    /// The change of the file's owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<OwnerChange>,
    /// The change of the file's group.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<OwnerChange>,
    /// The names of extended attributes that are lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_kept: Vec<String>,
}

/// A change of a file's owner or group, by name or number.
#[derive(JsonSchema)]
pub struct OwnerChange {
    from: String,
    to: String,
}

/// A file that has changed since an action was previewed.
#[derive(JsonSchema)]
pub struct StaleFile {
    /// The path below the workspace.
    path: String,
    what: Staleness,
}

/// The kind of change to a file since a preview.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Staleness {
    Changed,
    Gone,
    Appeared,
}

/// The state of an action.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionState {
    Pending,
    Resolving,
    Interrupted,
    Lost,
    Applied,
    Discarded,
}

/// A decision to apply or to discard.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    Apply,
    Discard,
}

/// An actor, and the evidence for its identity.
#[derive(JsonSchema)]
pub struct DecidedBy {
    actor: ActorKind,
    /// The actor's name; null if it is unknown, and for a model.
    name: Option<String>,
    evidence: Evidence,
}

/// The kind of an actor.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActorKind {
    Model,
    Person,
    Program,
    Unknown,
}

/// The evidence for an actor's identity.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    None,
    Client,
    Terminal,
}

/// The details of a resolution.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolutionDetails {
    action: Decision,
    reason: String,
    /// The extra values of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<Map<String, Value>>,
    /// The tool that made the preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_tool_name: Option<String>,
    /// The action's label.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// The details that the plugin's `apply` or `reject` returned, unless they are null.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_result_details: Option<Value>,
    /// The part of the changes that was applied; omitted for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<AppliedPart>,
}

/// The reviewed changes that an apply left out, and those that a person edited.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedPart {
    /// The changes that were not made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOut>,
    /// The files with only some of their hunks applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partly: Vec<PartlyApplied>,
    /// The files that got contents that a person wrote.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edited: Vec<EditedFile>,
}

/// A change that was not made.
#[derive(JsonSchema)]
pub struct LeftOut {
    kind: ChangeKind,
    /// The path below the workspace.
    path: String,
    /// The previous path, if the file was to be moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

/// A file with only some of its hunks applied.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartlyApplied {
    /// The path below the workspace.
    path: String,
    /// The number of hunks.
    hunks: usize,
    /// The numbers of the hunks that were left out, from 1.
    left_out: Vec<usize>,
    /// The lines before the change at which these begin, from 1.
    lines: Vec<usize>,
}

/// A file that got contents that a person wrote.
#[derive(JsonSchema)]
pub struct EditedFile {
    /// The path below the workspace.
    path: String,
    /// A unified diff from the reviewed contents to those that were written.
    diff: String,
}

/// The grants of a plugin.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Policy {
    workspace: WorkspaceGrant,
    /// The paths that can be read, if not all: those that each list of patterns matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Vec<Vec<String>>>,
    /// The paths that can be changed, if not all: those that each list of patterns matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<Vec<Vec<String>>>,
    /// The environment variables that the plugin sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<Vec<String>>,
    /// The choice of when to rehearse the plugin's actions, if it isn't the session's.
    #[serde(skip_serializing_if = "Option::is_none")]
    rehearse: Option<Rehearse>,
    /// True if clocks run during an apply.
    #[serde(skip_serializing_if = "is_false")]
    real_time: bool,
    /// True if randomness is fresh in an apply.
    #[serde(skip_serializing_if = "is_false")]
    fresh_randomness: bool,
    /// The plugin's wants beyond these grants, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    denied: Option<Vec<String>>,
}

/// The access of a plugin to the workspace.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceGrant {
    None,
    Read,
    ReadWrite,
}

/// The choice of when to rehearse an action.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rehearse {
    Never,
    Auto,
    Always,
}

/// A tool, as a model sees it.
#[derive(JsonSchema)]
pub struct ToolDefinition {
    name: String,
    /// The name for people.
    label: String,
    /// The description for models.
    description: String,
    /// The JSON Schema (2020-12) of the params.
    parameters: Value,
    /// The JSON Schema of the result's details, if the tool promises one.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    traits: ToolTraits,
}

/// Hints about a tool's behavior, as the tool claims.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolTraits {
    /// True if the tool is left out of listings.
    hidden: bool,
    /// True if the tool may push pending actions.
    deferrable: bool,
    /// True if the tool never changes anything.
    read_only: bool,
    /// True if the tool's effects can't be undone by calling it again.
    destructive: bool,
    /// True if applying an action twice has the effect of applying it once.
    idempotent: bool,
    /// True if the tool reaches beyond the workspace.
    open_world: bool,
}

/// A tool that was left out.
#[derive(JsonSchema)]
pub struct RejectedTool {
    name: String,
    /// The reason, as a sentence.
    reason: String,
}
