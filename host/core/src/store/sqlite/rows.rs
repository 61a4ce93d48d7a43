//! Rows, as the actions that they are.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rusqlite::Row;

use super::problem::Problem;
use crate::digest::Digest;
use crate::pending::{ActionId, ActionState, Decision, PendingAction, SessionId, StackedAction};
use crate::store::{
    APPLY_INTERRUPTED, ActionRecord, DISCARD_INTERRUPTED, LeaseRecord, ResolvedRecord,
};

/// What [`Found::read`] reads, from `actions a LEFT JOIN details d`.
pub(super) const COLUMNS: &str = "a.number, a.id, a.session, a.state, a.interrupted, a.label,
    a.source_tool_name, a.has_reject, a.durable, a.plugin, a.grants, a.workspace, a.pushed_at,
    a.attempts, a.last_error, a.holder_name, a.claimed_at, a.decision, a.decided_by, a.reason,
    a.extra, a.resolved_at, a.result, a.error, a.token, d.json AS details,
    a.state = 'resolving' AND lease_over(a.holder, a.lease_until) AS lease_over,
    NOT a.durable AND host_gone(a.owner) AS host_gone";

/// An action as it is kept, before it is told what has become of the hosts that it names.
pub(super) struct Found {
    pub number: i64,
    pub session: SessionId,
    pub action: PendingAction,
    pub attempts: u32,
    pub token: i64,
    /// Some apply of it has no known end.
    pub interrupted: bool,
    state: Kept,
    last_error: Option<String>,
    lease: Option<LeaseRecord>,
    resolved: Option<ResolvedRecord>,
    lease_over: bool,
    host_gone: bool,
}

/// What the column `state` says.
enum Kept {
    Pending,
    Resolving,
    Resolved(Decision),
}

impl Found {
    pub fn read(row: &Row<'_>) -> Result<Self, Problem> {
        let state = match row.get_ref("state")?.as_str() {
            Ok("pending") => Kept::Pending,
            Ok("resolving") => Kept::Resolving,
            Ok("applied") => Kept::Resolved(Decision::Apply),
            Ok("discarded") => Kept::Resolved(Decision::Discard),
            _ => return Err(bad("state")),
        };
        let id: String = row.get("id")?;
        let action = PendingAction {
            id: ActionId::from(id),
            label: row.get("label")?,
            source_tool_name: row.get("source_tool_name")?,
            details: json(row, "details")?,
            has_reject: row.get("has_reject")?,
            durable: row.get("durable")?,
            plugin: digest(row, "plugin")?.ok_or_else(|| bad("plugin"))?,
            grants: json(row, "grants")?.ok_or_else(|| bad("grants"))?,
            workspace: workspace(row)?,
            pushed_at: time(row.get("pushed_at")?),
        };
        let decision = match row.get::<_, Option<String>>("decision")?.as_deref() {
            None => None,
            Some("apply") => Some(Decision::Apply),
            Some("discard") => Some(Decision::Discard),
            Some(_) => return Err(bad("decision")),
        };
        let lease = match (row.get("holder_name")?, row.get("claimed_at")?, decision) {
            (Some(holder), Some(since), Some(decision)) => Some(LeaseRecord {
                holder,
                since: time(since),
                decision,
            }),
            _ => None,
        };
        let resolved = match (&state, row.get("resolved_at")?) {
            (Kept::Resolved(decision), Some(at)) => Some(ResolvedRecord {
                decision: *decision,
                at: time(at),
                decided_by: row.get("decided_by")?,
                reason: row.get::<_, Option<String>>("reason")?.unwrap_or_default(),
                extra: json(row, "extra")?,
                result: digest(row, "result")?,
                error: row.get("error")?,
            }),
            _ => None,
        };
        let mut found = Self {
            number: row.get("number")?,
            session: SessionId::from(row.get::<_, String>("session")?),
            action,
            attempts: row.get("attempts")?,
            token: row.get("token")?,
            interrupted: row.get("interrupted")?,
            state,
            last_error: row.get("last_error")?,
            lease,
            resolved,
            lease_over: row.get("lease_over")?,
            host_gone: row.get("host_gone")?,
        };
        found.end_lost_claim();
        Ok(found)
    }

    /// A claim that ran out has ended as if its holder had abandoned it.
    fn end_lost_claim(&mut self) {
        if !self.lease_over {
            return;
        }
        self.state = Kept::Pending;
        match &self.lease {
            Some(lease) if lease.decision == Decision::Discard => {
                if !self.interrupted {
                    self.last_error = Some(DISCARD_INTERRUPTED.to_owned());
                }
            }
            _ => {
                self.interrupted = true;
                self.last_error = Some(APPLY_INTERRUPTED.to_owned());
            }
        }
    }

    pub fn state(&self) -> ActionState {
        match self.state {
            Kept::Resolved(Decision::Apply) => ActionState::Applied,
            Kept::Resolved(Decision::Discard) => ActionState::Discarded,
            Kept::Resolving => ActionState::Resolving,
            Kept::Pending if self.host_gone => ActionState::Lost,
            Kept::Pending if self.interrupted => ActionState::Interrupted,
            Kept::Pending => ActionState::Pending,
        }
    }

    /// Whether it is on the stack, for anybody to claim.
    pub fn is_pending(&self) -> bool {
        matches!(self.state, Kept::Pending)
    }

    pub fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }

    pub fn stacked(self) -> StackedAction {
        StackedAction {
            state: self.state(),
            action: Arc::new(self.action),
            attempts: self.attempts,
            last_error: self.last_error,
        }
    }

    pub fn record(self) -> ActionRecord {
        let state = self.state();
        let shows_lease = matches!(state, ActionState::Resolving | ActionState::Interrupted);
        ActionRecord {
            session: self.session,
            action: self.action,
            state,
            attempts: self.attempts,
            last_error: self.last_error,
            lease: self.lease.filter(|_| shows_lease),
            resolved: self.resolved,
        }
    }
}

fn bad(column: &str) -> Problem {
    Problem::BadRow(format!("an action's {column} can't be read"))
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

/// Milliseconds since 1970, as a row keeps a time.
pub(super) fn millis(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        // A clock that was never set.
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |it| -it),
    }
}

/// A time as a row keeps it. One that this system can't tell is given as 1970.
fn time(millis: i64) -> SystemTime {
    let distance = Duration::from_millis(millis.unsigned_abs());
    let time = match millis >= 0 {
        true => SystemTime::UNIX_EPOCH.checked_add(distance),
        false => SystemTime::UNIX_EPOCH.checked_sub(distance),
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// A path as a row keeps it: on Unix its bytes, which need not be text.
pub(super) fn path_bytes(path: &Path) -> Vec<u8> {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec();
    #[cfg(not(unix))]
    return path.to_string_lossy().into_owned().into_bytes();
}

fn workspace(row: &Row<'_>) -> Result<Option<Arc<Path>>, Problem> {
    let Some(bytes) = row.get::<_, Option<Vec<u8>>>("workspace")? else {
        return Ok(None);
    };
    #[cfg(unix)]
    let path = <std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes);
    #[cfg(not(unix))]
    let path = String::from_utf8(bytes).map_err(|_| bad("workspace"))?;
    Ok(Some(Path::new(&path).into()))
}
