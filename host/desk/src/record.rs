//! A store's records of actions, as JSON for programs.

use std::collections::BTreeMap;
use std::time::SystemTime;

use airlock_host::content::Content;
use airlock_host::effects::{ChangeKind, Effects, EffectsSummary};
use airlock_host::json::Json;
use airlock_host::pending::{
    ActionId, ActionState, CallId, CallRecord, DecidedBy, Decision, DenialRecord, SessionId,
};
use airlock_host::reads::StaleFile;
use airlock_host::store::{ActionRecord, DeniedAction, UnreadableAction};
use airlock_host::{PendingAction, Policy};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::marks::Marks;

/// A summary of an action as it was pushed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionSummary<'a> {
    id: &'a ActionId,
    label: &'a str,
    source_tool_name: &'a str,
    source_is_own_tool: bool,
    /// The host's name for the plugin, and its digest.
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
    pushed: ActionSummary<'a>,
    session: &'a SessionId,
    pushed_at: Option<String>,
    /// The time after which the action can't be applied; omitted if it never expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    attempts: u32,
    state: ActionState,
    /// An earlier action that is equal in everything that a listing knows; omitted if there is
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as: Option<&'a ActionId>,
    /// The last action applied to the workspace since this one was previewed; omitted if there is
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_since: Option<&'a ActionId>,
    /// The files that this action concerns and that have changed since its preview. Omitted if
    /// there are none or if this can't be determined.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stale: &'a [StaleFile],
    /// The call that pushed the action; it may have pushed others too.
    call_id: Option<&'a CallId>,
    /// The details of the call; omitted if not requested or no longer known.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Call<'a>>,
    /// The effects that the host saw in the rehearsal; omitted if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Seen<'a>>,
    /// The argument for `resolve --review`; omitted if the effects are incomplete or the action is
    /// resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<String>,
}

/// The effects of a rehearsal, in the requested detail.
#[derive(Serialize)]
#[serde(untagged)]
enum Seen<'a> {
    Counted {
        verified: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: &'a Option<String>,
        /// The number of changes of each kind.
        counts: BTreeMap<&'static str, u64>,
    },
    All(&'a Effects),
}

impl<'a> Seen<'a> {
    fn counted(effects: &'a EffectsSummary) -> Self {
        let kinds = ChangeKind::ALL.into_iter();
        let counts = kinds.map(|kind| (kind.as_str(), effects.counts.of(kind)));
        Seen::Counted {
            verified: effects.verified,
            problem: &effects.problem,
            counts: counts.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

/// The pending actions.
#[derive(Serialize)]
pub struct Pending<'a> {
    /// The actions, topmost first.
    pub pending: Vec<Entry<'a>>,
    /// Actions that can't be read and so appear in no listing.
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

/// The audit log.
#[derive(Serialize)]
pub struct Log<'a> {
    /// Decisions and denials, latest first.
    pub log: Vec<LogEntry<'a>>,
}

/// An entry of the audit log.
#[derive(Serialize)]
#[serde(untagged)]
pub enum LogEntry<'a> {
    /// A decision about an action.
    Decision(Box<Record<'a>>),
    /// A request that was denied.
    Denial(Box<DeniedEntry<'a>>),
}

/// A denial and its action. The action's resolution is a separate entry.
#[derive(Serialize)]
pub struct DeniedEntry<'a> {
    #[serde(flatten)]
    pushed: ActionSummary<'a>,
    session: &'a SessionId,
    workspace: Option<String>,
    denial: Denied<'a>,
}

impl<'a> DeniedEntry<'a> {
    /// Creates an entry from a store's record.
    pub fn new(denied: &'a DeniedAction) -> Self {
        let record = &denied.record;
        Self {
            pushed: ActionSummary::new(&record.action),
            session: &record.session,
            workspace: workspace(&record.action),
            denial: Denied::new(&denied.denied),
        }
    }
}

/// A denial.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Denied<'a> {
    /// The number of the denial among the action's denials, counted from 1.
    number: u64,
    /// `refused` by a rule, or `declined` by a person.
    state: &'static str,
    at: Option<String>,
    asked: Decision,
    asked_by: &'a DecidedBy,
    reason: &'a str,
    /// The person; null for a rule.
    declined_by: Option<&'a DecidedBy>,
    why: &'a str,
}

impl<'a> Denied<'a> {
    fn new(denied: &'a DenialRecord) -> Self {
        let denial = &denied.denial;
        Self {
            number: denied.number,
            state: denial.denied_by.past(),
            at: utc(denied.at),
            asked: denial.decision,
            asked_by: &denial.asked_by,
            reason: &denial.reason,
            declined_by: denial.denied_by.person(),
            why: &denial.why,
        }
    }
}

/// The complete record of an action.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record<'a> {
    #[serde(flatten)]
    entry: Entry<'a>,
    last_error: &'a Option<String>,
    workspace: Option<String>,
    /// The machine of the preview, by a name for people.
    machine: Option<&'a str>,
    grants: &'a Policy,
    has_reject: bool,
    lease: Option<Lease<'a>>,
    resolved: Option<Resolved<'a>>,
    /// The denials, oldest first; omitted if there are none or if they were not requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    denials: Vec<Denied<'a>>,
    /// The number of earlier denials that were not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_denials: Option<u64>,
}

/// A call, with the preview that its caller got.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    id: &'a CallId,
    tool: &'a str,
    params: &'a Json,
    content: &'a [Content],
    called_at: Option<String>,
}

impl<'a> Call<'a> {
    fn new(record: &'a CallRecord) -> Self {
        Self {
            id: &record.id,
            tool: &record.tool,
            params: &record.params,
            content: &record.content,
            called_at: utc(record.called_at),
        }
    }
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
    decided_by: &'a DecidedBy,
    reason: &'a str,
    extra: &'a Option<Map<String, Value>>,
    /// The SHA-256 of the result as JSON.
    result: Option<String>,
    error: &'a Option<String>,
}

impl<'a> ActionSummary<'a> {
    /// Creates a summary of an action.
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
    /// Creates an entry from a store's report.
    pub fn new(action: &'a UnreadableAction) -> Self {
        Self {
            id: &action.id,
            session: &action.session,
            problem: &action.problem,
        }
    }
}

impl<'a> Entry<'a> {
    /// Creates an entry from a store's record.
    pub fn new(record: &'a ActionRecord) -> Self {
        Self {
            pushed: ActionSummary::new(&record.action),
            session: &record.session,
            pushed_at: utc(record.action.pushed_at),
            expires_at: record.action.expires_at.and_then(utc),
            attempts: record.attempts,
            state: record.state,
            same_as: None,
            applied_since: None,
            stale: &[],
            call_id: record.action.call.as_ref(),
            call: None,
            effects: record.effects.as_ref().map(Seen::counted),
            review: None,
        }
    }

    /// Adds the details of the call.
    pub fn with_call(mut self, call: Option<&'a CallRecord>) -> Self {
        self.call = call.map(Call::new);
        self
    }

    /// Adds how the action relates to others.
    pub fn with_marks(mut self, marks: &'a Marks, action: &PendingAction) -> Self {
        self.same_as = marks.same_as(action).map(|same| &same.id);
        self.applied_since = marks.applied_since(action);
        self.stale = marks.stale(action);
        self
    }
}

impl<'a> Record<'a> {
    /// Creates a record from a store's record.
    pub fn new(record: &'a ActionRecord) -> Self {
        let action = &record.action;
        Self {
            entry: Entry::new(record),
            last_error: &record.last_error,
            workspace: workspace(action),
            machine: action
                .workspace_identity
                .as_deref()
                .map(|identity| identity.machine.name.as_str()),
            grants: &action.grants,
            has_reject: action.has_reject,
            lease: record.lease.as_ref().map(|lease| Lease {
                holder: &lease.holder,
                since: utc(lease.since),
                decision: lease.decision,
            }),
            resolved: record.resolved.as_ref().map(|resolved| Resolved {
                decision: resolved.decision,
                at: utc(resolved.at),
                decided_by: &resolved.decided_by,
                reason: &resolved.reason,
                extra: &resolved.extra,
                result: resolved.result.map(|digest| digest.to_string()),
                error: &resolved.error,
            }),
            denials: Vec::new(),
            earlier_denials: None,
        }
    }

    /// Adds the denials.
    pub fn with_denials(mut self, denials: &'a [DenialRecord]) -> Self {
        self.denials = denials.iter().map(Denied::new).collect();
        let earlier = denials
            .first()
            .map_or(0, |first| first.number.saturating_sub(1));
        self.earlier_denials = (earlier > 0).then_some(earlier);
        self
    }

    /// Adds the full effects.
    pub fn with_effects(mut self, effects: Option<&'a Effects>) -> Self {
        if let Some(effects) = effects {
            self.entry.effects = Some(Seen::All(effects));
            self.entry.review = (self.resolved.is_none()).then(|| effects.digest().to_string());
        }
        self
    }

    /// Adds the files that have changed since the preview.
    pub fn with_stale(mut self, files: &'a [StaleFile]) -> Self {
        self.entry.stale = files;
        self
    }

    /// Adds the details of the call.
    pub fn with_call(mut self, call: Option<&'a CallRecord>) -> Self {
        self.entry = self.entry.with_call(call);
        self
    }
}

fn workspace(action: &PendingAction) -> Option<String> {
    let path = action.workspace.as_deref()?;
    Some(path.to_string_lossy().into_owned())
}

/// Formats a time in UTC to the millisecond, as in RFC 3339. Returns `None` for times outside of
/// the calendar's range.
fn utc(time: SystemTime) -> Option<String> {
    let time = Timestamp::try_from(time).ok()?;
    Some(format!("{time:.3}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn programs_get_utc_to_the_millisecond() {
        let check = |milliseconds, expected: &str| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
            assert_eq!(utc(time).as_deref(), Some(expected));
        };
        check(0, "1970-01-01T00:00:00.000Z");
        check(1_795_311_296_789, "2026-11-22T01:34:56.789Z");
    }
}
