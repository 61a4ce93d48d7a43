//! What a store keeps of an action, as an object for programs.

use airlock_host::{
    ActionId, ActionRecord, ActionState, Decision, Json, PendingAction, Policy, SessionId,
    UnreadableAction,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::time;

/// An action as it was pushed, in a few words.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pushed<'a> {
    id: &'a ActionId,
    label: &'a str,
    source_tool_name: &'a str,
    source_is_own_tool: bool,
    /// What the host calls the plugin, and its digest.
    plugin_name: &'a str,
    plugin: String,
    details: &'a Option<Json>,
    durable: bool,
}

/// An action in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry<'a> {
    #[serde(flatten)]
    pushed: Pushed<'a>,
    session: &'a SessionId,
    pushed_at: Option<String>,
    attempts: u32,
    state: ActionState,
}

/// What waits for a decision.
#[derive(Serialize)]
pub struct Pending<'a> {
    pub pending: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Unreadable<'a>>,
}

/// An action that can't be read.
#[derive(Serialize)]
pub struct Unreadable<'a> {
    id: &'a ActionId,
    session: &'a SessionId,
    problem: &'a str,
}

/// What was decided.
#[derive(Serialize)]
pub struct Log<'a> {
    pub log: Vec<Record<'a>>,
}

/// All that is known of an action.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record<'a> {
    #[serde(flatten)]
    entry: Entry<'a>,
    last_error: &'a Option<String>,
    workspace: Option<String>,
    /// Where that was previewed, by a name for people.
    machine: Option<&'a str>,
    grants: &'a Policy,
    has_reject: bool,
    lease: Option<Lease<'a>>,
    resolved: Option<Resolved<'a>>,
}

#[derive(Serialize)]
struct Lease<'a> {
    holder: &'a str,
    since: Option<String>,
    decision: Decision,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resolved<'a> {
    decision: Decision,
    at: Option<String>,
    decided_by: &'a Option<String>,
    reason: &'a str,
    extra: &'a Option<Map<String, Value>>,
    /// The SHA-256 of the result as JSON.
    result: Option<String>,
    error: &'a Option<String>,
}

impl<'a> Pushed<'a> {
    pub fn new(action: &'a PendingAction) -> Self {
        Self {
            id: &action.id,
            label: &action.label,
            source_tool_name: &action.source_tool_name,
            source_is_own_tool: action.source_is_own_tool,
            plugin_name: &action.plugin_name,
            plugin: action.plugin.to_string(),
            details: &action.details,
            durable: action.durable,
        }
    }
}

impl<'a> Unreadable<'a> {
    pub fn new(action: &'a UnreadableAction) -> Self {
        Self {
            id: &action.id,
            session: &action.session,
            problem: &action.problem,
        }
    }
}

impl<'a> Entry<'a> {
    pub fn new(record: &'a ActionRecord) -> Self {
        Self {
            pushed: Pushed::new(&record.action),
            session: &record.session,
            pushed_at: time::utc(record.action.pushed_at),
            attempts: record.attempts,
            state: record.state,
        }
    }
}

impl<'a> Record<'a> {
    pub fn new(record: &'a ActionRecord) -> Self {
        let action = &record.action;
        let workspace = action.workspace.as_deref();
        Self {
            entry: Entry::new(record),
            last_error: &record.last_error,
            workspace: workspace.map(|path| path.to_string_lossy().into_owned()),
            machine: action
                .workspace_identity
                .as_deref()
                .map(|identity| identity.machine.name.as_str()),
            grants: &action.grants,
            has_reject: action.has_reject,
            lease: record.lease.as_ref().map(|lease| Lease {
                holder: &lease.holder,
                since: time::utc(lease.since),
                decision: lease.decision,
            }),
            resolved: record.resolved.as_ref().map(|resolved| Resolved {
                decision: resolved.decision,
                at: time::utc(resolved.at),
                decided_by: &resolved.decided_by,
                reason: &resolved.reason,
                extra: &resolved.extra,
                result: resolved.result.map(|digest| digest.to_string()),
                error: &resolved.error,
            }),
        }
    }
}
