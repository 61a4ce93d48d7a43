//! Lists stored actions.

use airlock_model::pending::{ActionId, BriefAction, CallId, SessionId, StackedAction};
use airlock_model::store::rows::bytes_of_path;
use airlock_model::store::{ActionOutline, ActionRecord, ResolvedQuery, Scope, UnreadableAction};
use rusqlite::{Connection, Params, params};

use super::problem::Problem;
use super::rows::{ActionRow, select, select_all, select_brief, select_outlines};
use super::stack::OPEN;

/// Returns at most `limit` actions on a session's stack, topmost first.
pub(super) fn stack(
    connection: &Connection,
    session: &SessionId,
    limit: usize,
) -> Result<Vec<StackedAction>, Problem> {
    let tail = format!("WHERE a.session = +? AND {OPEN} ORDER BY a.position DESC");
    let mut stacked = Vec::new();
    select(connection, &tail, [session.as_str()], |found| {
        if found.is_pending() {
            stacked.push(found.stored);
        }
        stacked.len() < limit
    })?;
    Ok(stacked)
}

/// Returns the action with this id, if it is on the session's stack.
pub(super) fn stacked(
    connection: &Connection,
    session: &SessionId,
    action: &ActionId,
) -> Result<Option<StackedAction>, Problem> {
    let tail = "WHERE a.id = ? AND a.session = +?";
    let mut only = None;
    select(
        connection,
        tail,
        [action.as_str(), session.as_str()],
        |found| {
            only = Some(found).filter(ActionRow::is_pending);
            false
        },
    )?;
    Ok(only.map(|found| found.stored))
}

/// Returns the lowest action of this call on the session's stack. Only that one is read in full,
/// because each apply asks for it and one call may have pushed thousands.
pub(super) fn lowest_of_call(
    connection: &Connection,
    session: &SessionId,
    call: &CallId,
) -> Result<Option<StackedAction>, Problem> {
    let mut numbers = connection.prepare_cached(
        "SELECT number FROM actions
        WHERE call = ? AND session = +? AND resolved IS NULL ORDER BY position",
    )?;
    let mut numbers = numbers.query([call.as_str(), session.as_str()])?;
    while let Some(row) = numbers.next()? {
        let number: i64 = row.get(0)?;
        let mut found = None;
        select(connection, "WHERE a.number = ?", [number], |it| {
            found = Some(it).filter(ActionRow::is_pending);
            false
        })?;
        if let Some(found) = found {
            return Ok(Some(found.stored));
        }
    }
    Ok(None)
}

/// Returns a brief list of all actions on a session's stack. The topmost one is read in full, to
/// make sure that it is readable.
pub(super) fn stack_briefly(
    connection: &Connection,
    session: &SessionId,
) -> Result<Vec<BriefAction>, Problem> {
    let Some(top) = stack(connection, session, 1)?.pop() else {
        return Ok(Vec::new());
    };
    let tail = format!("WHERE a.session = +? AND {OPEN} ORDER BY a.position DESC");
    let mut listed = Vec::new();
    select_brief(connection, &tail, [session.as_str()], |found| {
        if !listed.is_empty() || *found.id() == top.action.id {
            listed.push(found);
        }
    })?;
    Ok(listed)
}

/// A [`Scope`] that can be sent to another thread.
pub(super) enum Open {
    All,
    OfSession(SessionId),
    OfWorkspace(Vec<u8>),
}

impl Open {
    pub fn of(scope: Scope<'_>) -> Self {
        match scope {
            Scope::All => Open::All,
            Scope::Session(session) => Open::OfSession(session.clone()),
            Scope::Workspace(path) => Open::OfWorkspace(bytes_of_path(path).to_vec()),
        }
    }

    /// Returns the open actions in the scope. There is no index by workspace, because each push
    /// would have to write it: the index of open actions finds the rows to look at.
    pub fn list(&self, connection: &Connection) -> Result<Vec<ActionRecord>, Problem> {
        match self {
            Open::All => {
                let tail = format!("WHERE {OPEN} ORDER BY a.session, a.position DESC");
                records(connection, &tail, [])
            }
            Open::OfSession(session) => {
                let tail = format!("WHERE a.session = +? AND {OPEN} ORDER BY a.position DESC");
                records(connection, &tail, [session.as_str()])
            }
            Open::OfWorkspace(path) => {
                let tail =
                    format!("WHERE a.workspace = ? AND {OPEN} ORDER BY a.session, a.position DESC");
                records(connection, &tail, [path])
            }
        }
    }
}

/// Returns the sessions with open actions, from the index of those. Sessions with unreadable ids
/// are skipped.
pub(super) fn open_sessions(
    connection: &Connection,
    after: Option<&SessionId>,
    most: usize,
) -> Result<Vec<SessionId>, Problem> {
    // No text sorts before the empty text, which is a valid id too.
    let beyond = if after.is_some() { ">" } else { ">=" };
    let select = format!(
        "SELECT DISTINCT a.session FROM actions a
        WHERE {OPEN} AND a.session {beyond} +? ORDER BY a.session"
    );
    let mut statement = connection.prepare_cached(&select)?;
    let mut rows = statement.query([after.map_or("", SessionId::as_str)])?;
    let mut sessions = Vec::new();
    while sessions.len() < most
        && let Some(row) = rows.next()?
    {
        if let Ok(session) = row.get_ref(0)?.as_str() {
            sessions.push(session.into());
        }
    }
    Ok(sessions)
}

pub(super) fn resolved_actions(
    connection: &Connection,
    query: &ResolvedQuery,
) -> Result<Vec<ActionRecord>, Problem> {
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let workspace = query.workspace.as_deref().map(bytes_of_path);
    match (&query.session, workspace) {
        (Some(session), None) => {
            let tail =
                "WHERE a.session = +? AND a.resolved IS NOT NULL ORDER BY a.resolved DESC LIMIT ?";
            records(connection, tail, (session.as_str(), limit))
        }
        (Some(session), Some(workspace)) => {
            let tail = "WHERE a.session = +? AND a.resolved IS NOT NULL AND a.workspace = ?
                ORDER BY a.resolved DESC LIMIT ?";
            records(connection, tail, (session.as_str(), workspace, limit))
        }
        (None, Some(workspace)) => {
            let tail =
                "WHERE a.resolved IS NOT NULL AND a.workspace = ? ORDER BY a.resolved DESC LIMIT ?";
            records(connection, tail, (workspace, limit))
        }
        (None, None) => {
            let tail = "WHERE a.resolved IS NOT NULL ORDER BY a.resolved DESC LIMIT ?";
            records(connection, tail, [limit])
        }
    }
}

/// Returns a page of all actions, from the index of their ids.
pub(super) fn outlines(
    connection: &Connection,
    after: Option<&ActionId>,
    most: usize,
) -> Result<Vec<ActionOutline>, Problem> {
    let mut page = Vec::new();
    if most == 0 {
        return Ok(page);
    }
    // No text sorts before the empty text, which is a valid id too.
    let beyond = if after.is_some() { ">" } else { ">=" };
    let tail = format!("WHERE a.id {beyond} ? ORDER BY a.id");
    let after = after.map_or("", ActionId::as_str);
    select_outlines(connection, &tail, [after], |found| {
        page.push(found);
        page.len() < most
    })?;
    Ok(page)
}

/// Returns the open actions that can't be read.
pub(super) fn unreadable(connection: &Connection) -> Result<Vec<UnreadableAction>, Problem> {
    let mut all = Vec::new();
    let tail = format!("WHERE {OPEN} ORDER BY a.session, a.position DESC");
    select_all(connection, &tail, [], |row| {
        all.extend(row.err());
        true
    })?;
    Ok(all)
}

fn records(
    connection: &Connection,
    tail: &str,
    params: impl Params,
) -> Result<Vec<ActionRecord>, Problem> {
    let mut records = Vec::new();
    select(connection, tail, params, |found| {
        records.push(found.record());
        true
    })?;
    Ok(records)
}

/// Returns ids that begin or end with this text.
pub(super) fn ids_like(
    connection: &Connection,
    part: &str,
    most: usize,
) -> Result<Vec<ActionId>, Problem> {
    let select = "SELECT id FROM actions
        WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1 ORDER BY id DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(select)?;
    let ids = statement.query_map(params![part, most], |row| row.get::<_, String>(0))?;
    let ids = ids.map(|id| Ok(ActionId::from(id?)));
    ids.collect()
}
