//! Reads actions from rows.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::actor::DecidedBy;
use airlock_model::digest::Digest;
use airlock_model::effects::EffectsSummary;
use airlock_model::pending::{
    ActionState, BriefAction, CallId, Decision, Interruption, NamedAction, PendingAction,
    SessionId, StackedAction,
};
use airlock_model::store::rows::{StateColumns, path_of_bytes, record};
use airlock_model::store::{
    ActionOutline, ActionRecord, LeaseRecord, ResolvedRecord, UnreadableAction,
};
use rusqlite::{Connection, Params, Row};

use super::problem::Problem;

/// The columns that [`ActionRow::read`] reads from `actions a`. It uses no join, because SQLite
/// would plan one again for each bound value.
macro_rules! columns {
    ($details:literal) => {
        concat!(
            "a.number, a.id, a.session, a.state, a.interrupted, a.label,
    a.source_tool_name, a.source_is_own_tool, a.has_reject, a.durable, a.plugin, a.grants, a.workspace,
    a.workspace_identity, a.pushed_at, a.call, a.expires_at, a.effects,
    a.attempts, a.last_error, a.holder_name, a.claimed_at, a.decision, a.actor,
    a.decided_by, a.evidence, a.reason, a.extra, a.resolved_at, a.result, a.error, a.part, a.token,
    coalesce(a.plugin_name, (SELECT name FROM plugins WHERE digest = a.plugin), '') AS plugin_name,
    a.state = 'resolving' AND lease_over(a.holder, a.lease_until) AS lease_over,
    NOT a.durable AND host_gone(a.owner) AS host_gone,
    ",
            $details,
            " AS details"
        )
    };
}

const COLUMNS: &str =
    columns!("coalesce(a.details, (SELECT json FROM large_details WHERE action = a.number))");

/// The columns that [`outline`] reads. The number of the last denial counts those before it.
const OUTLINE_COLUMNS: &str = concat!(
    columns!("NULL"),
    ", coalesce((SELECT max(number) FROM denials WHERE action = a.number), 0) AS denials"
);

/// An action, with the columns that are needed to change it.
pub(super) struct ActionRow {
    pub number: i64,
    pub session: SessionId,
    pub token: i64,
    pub stored: StackedAction,
    lease: Option<LeaseRecord>,
    resolved: Option<ResolvedRecord>,
}

impl ActionRow {
    fn read(row: &Row<'_>) -> Result<Self, Problem> {
        let written = written(row)?;
        let mut action = PendingAction::new(
            row.get::<_, String>("id")?,
            row.get::<_, String>("label")?,
            digest(row, "plugin")?.ok_or_else(|| bad("plugin"))?,
            row.get::<_, String>("plugin_name")?,
            json(row, "grants")?.ok_or_else(|| bad("grants"))?,
            time(row.get("pushed_at")?),
        );
        action.source_tool_name = row.get("source_tool_name")?;
        action.source_is_own_tool = row.get("source_is_own_tool")?;
        action.details = json(row, "details")?;
        action.has_reject = row.get("has_reject")?;
        action.durable = row.get("durable")?;
        let workspace: Option<Vec<u8>> = row.get("workspace")?;
        action.workspace = workspace.map(|bytes| path_of_bytes(&bytes));
        action.workspace_identity = json(row, "workspace_identity")?.map(Arc::new);
        action.call = row.get::<_, Option<String>>("call")?.map(CallId::from);
        action.expires_at = row.get::<_, Option<i64>>("expires_at")?.map(time);
        let decision = decision(row)?;
        let lease = match (row.get("holder_name")?, row.get("claimed_at")?, decision) {
            (Some(holder), Some(since), Some(decision)) => {
                Some(LeaseRecord::new(holder, time(since), decision))
            }
            _ => None,
        };
        let end = match written {
            ActionState::Applied => Some(Decision::Apply),
            ActionState::Discarded => Some(Decision::Discard),
            _ => None,
        };
        let resolved = match (end, row.get("resolved_at")?) {
            (Some(decision), Some(at)) => {
                let by = decided_by(row)?;
                let mut resolved = ResolvedRecord::new(decision, time(at), by);
                resolved.reason = row.get::<_, Option<String>>("reason")?.unwrap_or_default();
                resolved.extra = json(row, "extra")?;
                resolved.part = json(row, "part")?;
                resolved.result = digest(row, "result")?;
                resolved.error = row.get("error")?;
                Some(resolved)
            }
            _ => None,
        };
        let effects: Option<String> = row.get("effects")?;
        let effects =
            effects.map(|effects| EffectsSummary::from_row(&effects).ok_or(bad("effects")));
        let columns = StateColumns {
            effects: effects.transpose()?,
            written,
            decision,
            interruption: interruption(row)?,
            last_error: row.get("last_error")?,
            lease_over: row.get("lease_over")?,
            host_gone: row.get("host_gone")?,
        };
        Ok(Self {
            number: row.get("number")?,
            session: SessionId::from(row.get::<_, String>("session")?),
            token: row.get("token")?,
            stored: columns.stacked(action, row.get("attempts")?),
            lease,
            resolved,
        })
    }

    /// Returns whether the action is on the stack and can be claimed.
    pub fn is_pending(&self) -> bool {
        self.stored.state.is_pending()
    }

    pub fn record(self) -> ActionRecord {
        record(self.stored, self.session, self.lease, self.resolved)
    }
}

/// The columns that [`brief`] reads. Except for the label, none of them, and none before them in
/// the row, may be long.
const BRIEF_COLUMNS: &str = "a.id, a.label, a.source_tool_name, a.state, a.interrupted, a.attempts,
    a.decision, a.expires_at,
    a.state = 'resolving' AND lease_over(a.holder, a.lease_until) AS lease_over,
    NOT a.durable AND host_gone(a.owner) AS host_gone";

fn brief(row: &Row<'_>) -> Result<BriefAction, Problem> {
    let id: String = row.get("id")?;
    let name = NamedAction::new(id, row.get("label")?, row.get("source_tool_name")?);
    let mut columns = StateColumns {
        effects: None,
        written: written(row)?,
        decision: decision(row)?,
        interruption: interruption(row)?,
        last_error: None,
        lease_over: row.get("lease_over")?,
        host_gone: row.get("host_gone")?,
    };
    let mut action = BriefAction::new(name, columns.state());
    action.attempts = row.get("attempts")?;
    action.expires_at = row.get::<_, Option<i64>>("expires_at")?.map(time);
    Ok(action)
}

fn interruption(row: &Row<'_>) -> Result<Interruption, Problem> {
    Interruption::from_number(row.get("interrupted")?).ok_or_else(|| bad("interrupted"))
}

/// Reads the state that was written, which is never one that is concluded from other columns.
fn written(row: &Row<'_>) -> Result<ActionState, Problem> {
    let word = row.get_ref("state")?.as_str().ok();
    let mut known = ActionState::ALL.into_iter();
    let written = known.find(|it| Some(it.as_str()) == word);
    written.ok_or_else(|| bad("state"))
}

fn decision(row: &Row<'_>) -> Result<Option<Decision>, Problem> {
    match row.get::<_, Option<String>>("decision")? {
        Some(word) => Decision::parse(&word)
            .map(Some)
            .ok_or_else(|| bad("decision")),
        None => Ok(None),
    }
}

/// Selects the pending ones of these actions in brief. Unreadable ones are skipped, as in
/// [`select`].
pub(super) fn select_brief(
    connection: &Connection,
    tail: &str,
    params: impl Params,
    mut found: impl FnMut(BriefAction),
) -> Result<(), Problem> {
    let columns = (BRIEF_COLUMNS, brief as Read<BriefAction>);
    select_columns(connection, columns, tail, params, |row| {
        match row {
            Ok(action) if action.state.is_pending() => found(action),
            Ok(_) => {}
            Err(unreadable) => tell_left_out(&unreadable),
        }
        true
    })
}

fn outline(row: &Row<'_>) -> Result<ActionOutline, Problem> {
    let denials: i64 = row.get("denials")?;
    let record = ActionRow::read(row)?.record();
    Ok(ActionOutline::new(record, denials.unsigned_abs()))
}

/// Selects outlines like [`select`].
pub(super) fn select_outlines(
    connection: &Connection,
    tail: &str,
    params: impl Params,
    mut wants_more: impl FnMut(ActionOutline) -> bool,
) -> Result<(), Problem> {
    let columns = (OUTLINE_COLUMNS, outline as Read<ActionOutline>);
    select_columns(connection, columns, tail, params, |row| match row {
        Ok(found) => wants_more(found),
        Err(unreadable) => {
            tell_left_out(&unreadable);
            true
        }
    })
}

/// Passes on one action after another, as long as more are wanted. Unreadable ones are skipped, so
/// that they don't hide the others.
pub(super) fn select(
    connection: &Connection,
    tail: &str,
    params: impl Params,
    mut wants_more: impl FnMut(ActionRow) -> bool,
) -> Result<(), Problem> {
    select_all(connection, tail, params, |row| match row {
        Ok(found) => wants_more(found),
        Err(unreadable) => {
            tell_left_out(&unreadable);
            true
        }
    })
}

fn tell_left_out(unreadable: &UnreadableAction) {
    let UnreadableAction { id, problem, .. } = unreadable;
    tracing::warn!("the action {id} is left out: {problem}");
}

/// Selects actions like [`select`], including unreadable ones.
pub(super) fn select_all(
    connection: &Connection,
    tail: &str,
    params: impl Params,
    wants_more: impl FnMut(Result<ActionRow, UnreadableAction>) -> bool,
) -> Result<(), Problem> {
    let columns = (COLUMNS, ActionRow::read as Read<ActionRow>);
    select_columns(connection, columns, tail, params, wants_more)
}

/// A function that reads a row.
type Read<T> = fn(&Row<'_>) -> Result<T, Problem>;

/// Selects these columns and reads each row with a function.
fn select_columns<T>(
    connection: &Connection,
    columns: (&str, Read<T>),
    tail: &str,
    params: impl Params,
    mut wants_more: impl FnMut(Result<T, UnreadableAction>) -> bool,
) -> Result<(), Problem> {
    let (columns, read) = columns;
    let select = format!("SELECT {columns} FROM actions a {tail}");
    let mut statement = connection.prepare_cached(&select)?;
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        let found = match read(row) {
            Ok(found) => Ok(found),
            Err(problem) => Err(unreadable(row, problem)?),
        };
        if !wants_more(found) {
            break;
        }
    }
    Ok(())
}

/// Returns the problem if it is in the row alone. Any other error is a problem of the file.
fn unreadable(row: &Row<'_>, problem: Problem) -> Result<UnreadableAction, Problem> {
    let problem = match problem {
        Problem::BadRow(what) => what,
        Problem::Sqlite(error) if error.sqlite_error_code().is_none() => error.to_string(),
        other => return Err(other),
    };
    let text = |column| row.get::<_, String>(column).unwrap_or_default();
    Ok(UnreadableAction::new(
        text("id").into(),
        text("session").into(),
        format!("{problem}; it was changed by hand, or pushed by a newer version"),
    ))
}

fn decided_by(row: &Row<'_>) -> Result<DecidedBy, Problem> {
    let text = |column| row.get::<_, Option<String>>(column);
    let (actor, name, evidence) = (text("actor")?, text("decided_by")?, text("evidence")?);
    DecidedBy::from_columns(actor.as_deref(), name, evidence.as_deref()).map_err(bad)
}

fn bad(column: &str) -> Problem {
    Problem::BadRow(format!("its {column} can't be read"))
}

fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<Option<T>, Problem> {
    match row.get::<_, Option<String>>(column)? {
        Some(text) => Ok(Some(serde_json::from_str(&text).map_err(|_| bad(column))?)),
        None => Ok(None),
    }
}

fn digest(row: &Row<'_>, column: &str) -> Result<Option<Digest>, Problem> {
    Ok(row
        .get::<_, Option<[u8; 32]>>(column)?
        .map(Digest::from_bytes))
}

/// Returns the milliseconds since 1970, as stored in rows.
pub(super) fn millis(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        // The clock is before 1970, so it was probably never set.
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |it| -it),
    }
}

/// Converts a stored time. A time that this system can't represent becomes 1970.
pub(super) fn time(millis: i64) -> SystemTime {
    let distance = Duration::from_millis(millis.unsigned_abs());
    let time = if millis >= 0 {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_kept_to_the_millisecond_also_one_before_1970() {
        for kept in [-86_400_001, -1, 0, 1, 1_795_311_296_789] {
            assert_eq!(millis(time(kept)), kept);
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_millis(1);
        assert_eq!(millis(before), -1);
    }
}
