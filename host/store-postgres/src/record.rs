//! Actions as rows.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::actor::DecidedBy;
use airlock_model::digest::Digest;
use airlock_model::effects::EffectsSummary;
use airlock_model::pending::{
    ActionState, BriefAction, CallId, Decision, Interruption, NamedAction, PendingAction,
    SessionId, StackedAction,
};
use airlock_model::store::rows::{self, StateColumns, path_of_bytes};
use airlock_model::store::{ActionRecord, LeaseRecord, ResolvedRecord};
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row, Type};

use super::HostId;
use super::problem::Failure;
use super::text::unescaped;

/// The columns that [`action`] reads, from a table `a`.
macro_rules! action_columns {
    () => {
        concat!("a.details, ", $crate::record::outline_columns!())
    };
}

/// The columns that [`action`] reads, except for the details.
macro_rules! outline_columns {
    () => {
        "a.id, a.label, a.source_tool_name, a.source_is_own_tool, a.has_reject, a.durable, a.plugin, a.plugin_name,
        a.grants, a.workspace, a.workspace_identity, a.pushed_at, a.call, a.expires_at, a.effects"
    };
}

/// The columns that [`brief`] reads besides the state. Only the label may be long.
macro_rules! name_columns {
    () => {
        "a.id, a.label, a.source_tool_name, a.expires_at"
    };
}

/// The additional columns that [`stored`] and [`brief`] read.
macro_rules! state_columns {
    () => {
        "a.state, a.interrupted, a.attempts, a.last_error, a.decision, a.owner,
        coalesce(a.lease_until <= clock_timestamp(), false) AS expired,
        a.owner IS NOT NULL AND NOT EXISTS (
            SELECT FROM airlock.hosts AS h WHERE h.id = a.owner AND h.alive_until > clock_timestamp()
        ) AS orphaned"
    };
}

/// The additional columns that [`record`] reads.
macro_rules! record_columns {
    () => {
        "a.session_id, a.holder, (extract(epoch FROM a.leased_at) * 1000000)::bigint AS leased_at, a.reason, a.extra,
        a.decided_by, a.actor, a.evidence, (extract(epoch FROM a.resolved_at) * 1000000)::bigint AS resolved_at, a.result, a.error, a.part"
    };
}

pub(super) use {action_columns, name_columns, outline_columns, record_columns, state_columns};

/// Reads an action and its state by the server's clock, as the host `reader` sees it: its own
/// volatile actions are never lost.
pub fn stored(row: &PgRow, reader: &HostId) -> Result<StackedAction, Failure> {
    let effects = optional_text(row, "effects")?;
    let effects = effects.map(|effects| {
        EffectsSummary::from_row(&effects).ok_or_else(|| {
            let problem = "can't be read: the column effects holds none; it was changed by hand, or by a newer version";
            Failure::Unreadable(problem.to_owned())
        })
    });
    let columns = StateColumns {
        effects: effects.transpose()?,
        ..columns_of_state(row, reader)?
    };
    Ok(columns.stacked(action(row)?, attempts(row)?))
}

/// Reads an action in brief.
pub fn brief(row: &PgRow, reader: &HostId) -> Result<BriefAction, Failure> {
    let (label, tool) = (text(row, "label")?, text(row, "source_tool_name")?);
    let name = NamedAction::new(text(row, "id")?, label, tool);
    let state = columns_of_state(row, reader)?.state();
    let mut action = BriefAction::new(name, state);
    action.attempts = attempts(row)?;
    action.expires_at = expires_at(row)?;
    Ok(action)
}

/// Reads the state without the effects.
fn columns_of_state(row: &PgRow, reader: &HostId) -> Result<StateColumns, Failure> {
    let written = match get(row, "state")? {
        "applied" => ActionState::Applied,
        "discarded" => ActionState::Discarded,
        "resolving" => ActionState::Resolving,
        _ => ActionState::Pending,
    };
    let owner: Option<&[u8]> = get(row, "owner")?;
    Ok(StateColumns {
        effects: None,
        written,
        decision: optional_decision(row)?,
        interruption: interruption(row)?,
        last_error: optional_text(row, "last_error")?,
        lease_over: get(row, "expired")?,
        host_gone: get(row, "orphaned")? && owner != Some(reader.as_slice()),
    })
}

fn interruption(row: &PgRow) -> Result<Interruption, Failure> {
    let number: i16 = get(row, "interrupted")?;
    Interruption::from_number(number.into())
        .ok_or_else(|| Failure::Unreadable("has no known interruption".to_owned()))
}

fn attempts(row: &PgRow) -> Result<u32, Failure> {
    Ok(get::<i32>(row, "attempts")?.unsigned_abs())
}

fn expires_at(row: &PgRow) -> Result<Option<SystemTime>, Failure> {
    Ok(get::<Option<i64>>(row, "expires_at")?.map(time_of_nanos))
}

/// Returns bytes that were split into pieces, in order. A null value means no pieces.
pub fn pieces(row: &PgRow, column: &str) -> Result<Vec<Arc<[u8]>>, Failure> {
    let pieces: Option<Vec<Vec<u8>>> = get(row, column)?;
    Ok(pieces.into_iter().flatten().map(Arc::from).collect())
}

/// Reads an action with details for operators.
pub fn record(row: &PgRow, reader: &HostId) -> Result<ActionRecord, Failure> {
    let stored = stored(row, reader)?;
    let session = SessionId::from(text(row, "session_id")?);
    let resolved = match stored.state {
        ActionState::Applied => Some(resolved(row, Decision::Apply)?),
        ActionState::Discarded => Some(resolved(row, Decision::Discard)?),
        _ => None,
    };
    Ok(rows::record(stored, session, lease(row)?, resolved))
}

fn lease(row: &PgRow) -> Result<Option<LeaseRecord>, Failure> {
    let holder = optional_text(row, "holder")?;
    let since: Option<i64> = get(row, "leased_at")?;
    Ok(match (holder, since, optional_decision(row)?) {
        (Some(holder), Some(since), Some(decision)) => {
            Some(LeaseRecord::new(holder, time_of_micros(since), decision))
        }
        _ => None,
    })
}

fn resolved(row: &PgRow, decision: Decision) -> Result<ResolvedRecord, Failure> {
    let at: Option<i64> = get(row, "resolved_at")?;
    let result: Option<String> = get(row, "result")?;
    let at = time_of_micros(at.unwrap_or_default());
    let mut resolved = ResolvedRecord::new(decision, at, decided_by(row)?);
    resolved.reason = optional_text(row, "reason")?.unwrap_or_default();
    resolved.extra = optional_json(row, "extra")?;
    resolved.part = optional_json(row, "part")?;
    resolved.result = result.map(|digest| parsed_digest(&digest)).transpose()?;
    resolved.error = optional_text(row, "error")?;
    Ok(resolved)
}

fn decided_by(row: &PgRow) -> Result<DecidedBy, Failure> {
    let (actor, evidence) = (get(row, "actor")?, get(row, "evidence")?);
    DecidedBy::from_columns(actor, optional_text(row, "decided_by")?, evidence)
        .map_err(|column| Failure::Unreadable(format!("has no known {column}")))
}

/// Reads an action as it was pushed.
pub fn action(row: &PgRow) -> Result<PendingAction, Failure> {
    let plugin: &str = get(row, "plugin")?;
    let workspace: Option<&[u8]> = get(row, "workspace")?;
    let mut action = PendingAction::new(
        text(row, "id")?,
        text(row, "label")?,
        parsed_digest(plugin)?,
        optional_text(row, "plugin_name")?.unwrap_or_default(),
        json(row, "grants")?,
        time_of_nanos(get(row, "pushed_at")?),
    );
    action.source_tool_name = text(row, "source_tool_name")?;
    action.source_is_own_tool = get(row, "source_is_own_tool")?;
    action.details = optional_json(row, "details")?;
    action.has_reject = get(row, "has_reject")?;
    action.durable = get(row, "durable")?;
    action.workspace = workspace.map(path_of_bytes);
    action.workspace_identity = optional_json(row, "workspace_identity")?.map(Arc::new);
    action.call = optional_text(row, "call")?.map(CallId::from);
    action.expires_at = expires_at(row)?;
    Ok(action)
}

/// Reads a column.
pub fn get<'r, T: Decode<'r, Postgres> + Type<Postgres>>(
    row: &'r PgRow,
    column: &str,
) -> Result<T, Failure> {
    row.try_get(column).map_err(|error| {
        Failure::Unreadable(format!(
            "can't be read: the column {column}: {error}; it was changed by hand, or by a newer version"
        ))
    })
}

/// Reads a text in which NUL characters may be escaped.
pub fn text(row: &PgRow, column: &str) -> Result<String, Failure> {
    Ok(unescaped(get(row, column)?))
}

pub fn optional_text(row: &PgRow, column: &str) -> Result<Option<String>, Failure> {
    Ok(get::<Option<String>>(row, column)?.map(unescaped))
}

fn json<T: DeserializeOwned>(row: &PgRow, column: &str) -> Result<T, Failure> {
    let text: &str = get(row, column)?;
    serde_json::from_str(text).map_err(|error| {
        Failure::Unreadable(format!(
            "can't be read: the column {column} holds {text:?}: {error}; it was changed by hand, or by a newer version"
        ))
    })
}

fn optional_json<T: DeserializeOwned>(row: &PgRow, column: &str) -> Result<Option<T>, Failure> {
    match get::<Option<&str>>(row, column)? {
        Some(_) => json(row, column).map(Some),
        None => Ok(None),
    }
}

fn parsed_digest(text: &str) -> Result<Digest, Failure> {
    text.parse()
        .map_err(|error| Failure::Unreadable(format!("can't be read: {error}")))
}

/// Reads the decision of a claim, if there is one.
fn optional_decision(row: &PgRow) -> Result<Option<Decision>, Failure> {
    Ok(match get::<Option<&str>>(row, "decision")? {
        Some("apply") => Some(Decision::Apply),
        Some(_) => Some(Decision::Discard),
        None => None,
    })
}

pub fn time_of_micros(micros: i64) -> SystemTime {
    time_of_nanos(micros.saturating_mul(1000))
}

pub fn time_of_nanos(nanos: i64) -> SystemTime {
    let distance = Duration::from_nanos(nanos.unsigned_abs());
    let time = match nanos {
        0.. => SystemTime::UNIX_EPOCH.checked_add(distance),
        _ => SystemTime::UNIX_EPOCH.checked_sub(distance),
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Returns the nanoseconds since 1970, saturating for times more than three centuries away.
pub fn nanos_of_time(time: SystemTime) -> i64 {
    let nanos = |distance: Duration| i64::try_from(distance.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => nanos(since),
        Err(before) => -nanos(before.duration()),
    }
}

/// Returns the microseconds of an interval: at most a thousand years, because the server's range
/// of times is limited.
pub fn micros(time: Duration) -> i64 {
    const MAX_TIME: Duration = Duration::from_secs(1000 * 31_557_600);
    time.min(MAX_TIME).as_micros() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_to_the_nanosecond_also_those_before_1970() {
        let epoch = SystemTime::UNIX_EPOCH;
        for time in [
            epoch,
            epoch + Duration::new(1_760_000_000, 123_456_789),
            epoch - Duration::new(3, 1),
        ] {
            assert_eq!(time_of_nanos(nanos_of_time(time)), time);
        }
        let far = epoch + Duration::from_secs(u64::from(u32::MAX) * 8);
        assert_eq!(nanos_of_time(far), i64::MAX);
    }
}
