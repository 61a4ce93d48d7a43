//! Pending and resolved actions: `pending` and `show`.

use std::collections::BTreeMap;
use std::time::SystemTime;

use airlock_desk::marks::Marks;
use airlock_host::content::Content;
use airlock_host::effects::{AppliedPart, ChangeKind, Effects, EffectsSummary};
use airlock_host::json::Json;
use airlock_host::pending::{
    ActionId, ActionState, CallId, CallRecord, DecidedBy, Decision, DenialRecord,
};
use airlock_host::reads::StaleFile;
use airlock_host::store::{ActionRecord, UnreadableAction};
use airlock_host::{PendingAction, Policy};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::error::ErrorObject;
use super::log::Denial;
use super::model;

/// A summary of an action as it was pushed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionSummary<'a> {
    id: &'a str,
    label: &'a str,
    source_tool_name: &'a str,
    source_is_own_tool: bool,
    /// The host's name for the plugin, and its digest.
    plugin_name: &'a str,
    plugin: String,
    #[schemars(with = "Option<Value>")]
    details: &'a Option<Json>,
    durable: bool,
}

/// An action in a list.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry<'a> {
    #[serde(flatten)]
    pushed: ActionSummary<'a>,
    session: &'a str,
    pushed_at: Option<String>,
    /// The time after which the action can't be applied; omitted if it never expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    attempts: u32,
    #[schemars(with = "model::ActionState")]
    state: ActionState,
    /// An earlier action that is equal in everything that a listing knows; omitted if there is
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as: Option<&'a str>,
    /// The last action applied to the workspace since this one was previewed; omitted if there is
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_since: Option<&'a str>,
    /// The files that this action concerns and that have changed since its preview. Omitted if
    /// there are none or if this can't be determined.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(with = "Vec<model::StaleFile>")]
    stale: &'a [StaleFile],
    /// The call that pushed the action; it may have pushed others too.
    call_id: Option<&'a str>,
    /// The details of the call; omitted if not requested or no longer known.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Call<'a>>,
    /// The effects that the host saw in the rehearsal; omitted if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<EffectsView<'a>>,
    /// The argument for `resolve --review`; omitted if the effects are incomplete or the action is
    /// resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<String>,
}

/// The effects of a rehearsal, in the requested detail.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum EffectsView<'a> {
    Counted {
        verified: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: &'a Option<String>,
        /// The number of changes of each kind.
        counts: BTreeMap<&'static str, u64>,
    },
    All(#[schemars(with = "model::Effects")] &'a Effects),
}

impl<'a> EffectsView<'a> {
    fn counted(effects: &'a EffectsSummary) -> Self {
        let kinds = ChangeKind::ALL.into_iter();
        let counts = kinds.map(|kind| (kind.as_str(), effects.counts.of(kind)));
        Self::Counted {
            verified: effects.verified,
            problem: &effects.problem,
            counts: counts.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

/// The pending actions.
#[derive(Serialize, JsonSchema)]
pub struct PendingList<'a> {
    /// The actions, topmost first.
    pub pending: Vec<Entry<'a>>,
    #[serde(flatten)]
    pub rest: PendingRest<'a>,
}

/// The members of a [`PendingList`] after the actions, which `pending --all` prints one by one.
#[derive(Default, Serialize, JsonSchema)]
pub struct PendingRest<'a> {
    /// The reason why the list ends early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject<'a>>,
    /// Actions that can't be read and so appear in no listing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Unreadable<'a>>,
}

/// An action that can't be read.
#[derive(Serialize, JsonSchema)]
pub struct Unreadable<'a> {
    id: &'a str,
    session: &'a str,
    problem: &'a str,
}

/// The complete record of an action.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Record<'a> {
    #[serde(flatten)]
    entry: Entry<'a>,
    last_error: &'a Option<String>,
    workspace: Option<String>,
    /// The machine of the preview, by a name for people.
    machine: Option<&'a str>,
    #[schemars(with = "model::Policy")]
    grants: &'a Policy,
    has_reject: bool,
    lease: Option<Lease<'a>>,
    resolved: Option<DecisionRecord<'a>>,
    /// The denials, oldest first; omitted if there are none or if they were not requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    denials: Vec<Denial<'a>>,
    /// The number of earlier denials that were not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_denials: Option<u64>,
}

/// A call, with the preview that its caller got.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    id: &'a str,
    tool: &'a str,
    #[schemars(with = "Value")]
    params: &'a Json,
    #[schemars(with = "Vec<model::Content>")]
    content: &'a [Content],
    called_at: Option<String>,
}

impl<'a> Call<'a> {
    fn new(record: &'a CallRecord) -> Self {
        Self {
            id: record.id.as_str(),
            tool: &record.tool,
            params: &record.params,
            content: &record.content,
            called_at: utc(record.called_at),
        }
    }
}

/// A claim of a process that carries out a decision.
#[derive(Serialize, JsonSchema)]
struct Lease<'a> {
    holder: &'a str,
    since: Option<String>,
    #[schemars(with = "model::Decision")]
    decision: Decision,
}

/// A decision that was carried out.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DecisionRecord<'a> {
    #[schemars(with = "model::Decision")]
    decision: Decision,
    at: Option<String>,
    #[schemars(with = "model::DecidedBy")]
    decided_by: &'a DecidedBy,
    reason: &'a str,
    extra: &'a Option<Map<String, Value>>,
    /// The part of the changes that was applied; omitted for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<model::AppliedPart>")]
    part: Option<&'a AppliedPart>,
    /// The SHA-256 of the result as JSON.
    result: Option<String>,
    error: &'a Option<String>,
}

impl<'a> ActionSummary<'a> {
    /// Creates a summary of an action.
    pub fn new(action: &'a PendingAction) -> Self {
        Self {
            id: action.id.as_str(),
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
            id: action.id.as_str(),
            session: action.session.as_str(),
            problem: &action.problem,
        }
    }
}

impl<'a> Entry<'a> {
    /// Creates an entry from a store's record.
    pub fn new(record: &'a ActionRecord) -> Self {
        Self {
            pushed: ActionSummary::new(&record.action),
            session: record.session.as_str(),
            pushed_at: utc(record.action.pushed_at),
            expires_at: record.action.expires_at.and_then(utc),
            attempts: record.attempts,
            state: record.state,
            same_as: None,
            applied_since: None,
            stale: &[],
            call_id: record.action.call.as_ref().map(CallId::as_str),
            call: None,
            effects: record.effects.as_ref().map(EffectsView::counted),
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
        self.same_as = marks.same_as(action).map(|same| same.id.as_str());
        self.applied_since = marks.applied_since(action).map(ActionId::as_str);
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
            resolved: record.resolved.as_ref().map(|resolved| DecisionRecord {
                decision: resolved.decision,
                at: utc(resolved.at),
                decided_by: &resolved.decided_by,
                reason: &resolved.reason,
                extra: &resolved.extra,
                part: resolved.part.as_ref(),
                result: resolved.result.map(|digest| digest.to_string()),
                error: &resolved.error,
            }),
            denials: Vec::new(),
            earlier_denials: None,
        }
    }

    /// Adds the denials.
    pub fn with_denials(mut self, denials: &'a [DenialRecord]) -> Self {
        self.denials = denials.iter().map(Denial::new).collect();
        let earlier = denials
            .first()
            .map_or(0, |first| first.number.saturating_sub(1));
        self.earlier_denials = (earlier > 0).then_some(earlier);
        self
    }

    /// Adds the full effects.
    pub fn with_effects(mut self, effects: Option<&'a Effects>) -> Self {
        if let Some(effects) = effects {
            self.entry.effects = Some(EffectsView::All(effects));
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

pub(super) fn workspace(action: &PendingAction) -> Option<String> {
    let path = action.workspace.as_deref()?;
    Some(path.to_string_lossy().into_owned())
}

/// Formats a time in UTC to the millisecond, as in RFC 3339. Returns `None` for times outside of
/// the calendar's range.
pub fn utc(time: SystemTime) -> Option<String> {
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
