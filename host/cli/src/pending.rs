//! `airlock pending`: what waits for a decision.

use airlock_host::{ActionRecord, ActionState, LeaseRecord, PendingAction, SessionId};
use serde_json::json;

use crate::args::PendingArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::record::Entry;
use crate::sanitize;
use crate::session;
use crate::store::{self, Store, WhenMissing};
use crate::style::{BOLD, DIM, NOTE, paint};
use crate::time;

pub async fn list(args: &PendingArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&args.store, WhenMissing::Refuse).await?;
    let session = (!args.all).then(|| session::id(&args.session));
    let open = store.durable().open_actions(session.as_ref()).await?;
    let entries: Vec<_> = open.iter().map(Entry::new).collect();
    out.json(&json!({ "pending": entries }));
    match (&session, open.as_slice()) {
        (None, []) => out.line("Nothing is pending."),
        (Some(session), []) => show_that_there_is_none(out, session, &store).await?,
        (Some(_), open) => show_actions(out, open),
        (None, open) => show_sessions(out, open),
    }
    Ok(Exit::Done)
}

async fn show_that_there_is_none(
    out: &mut Output,
    session: &SessionId,
    store: &Store,
) -> Result<(), Failure> {
    let session = sanitize::line(session.as_str());
    out.line(format_args!("Nothing is pending in the session {session}."));
    // Not asked of the statistics, which count what was resolved too.
    let open = store.durable().open_actions(None).await?;
    let all = store.command(&["pending", "--all"]);
    match open.len() {
        0 => {}
        1 => out.line(format_args!("In another session 1 action is: `{all}`")),
        count => out.line(format_args!(
            "In other sessions {count} actions are: `{all}`"
        )),
    }
    Ok(())
}

fn show_sessions(out: &mut Output, open: &[ActionRecord]) {
    let sessions = open.chunk_by(|one, next| one.session == next.session);
    for (index, actions) in sessions.enumerate() {
        if index > 0 {
            out.line("");
        }
        let session = sanitize::line(actions[0].session.as_str());
        out.line(paint(DIM, format_args!("In the session {session}:")));
        show_actions(out, actions);
    }
}

fn show_actions(out: &mut Output, actions: &[ActionRecord]) {
    for record in actions {
        let action = &record.action;
        let origin = origin(action, &[time::ago(action.pushed_at)]);
        out.line(paint(BOLD, sanitize::line(&action.label)));
        out.line(format_args!("  {}", paint(DIM, origin)));
        if let Some(standing) = standing(record) {
            out.line(format_args!("  {standing}"));
        }
    }
}

/// Which tool an action is from, and what it goes by: in a line, with what else is to be said in between.
pub fn origin(action: &PendingAction, more: &[String]) -> String {
    let lifetime = if action.durable {
        "durable"
    } else {
        "volatile"
    };
    let tool = sanitize::line(&action.source_tool_name);
    let more: String = more.iter().map(|more| format!("{more}, ")).collect();
    let id = sanitize::line(action.id.as_str());
    format!("from {tool}, {lifetime}, {more}id {id}")
}

/// Where an action stands, if it isn't simply pending: in a line.
pub fn standing(record: &ActionRecord) -> Option<String> {
    let because = |error: &Option<String>| match error {
        Some(error) => format!(": {}", sanitize::line(error)),
        None => String::new(),
    };
    let state = paint(NOTE, record.state);
    let error = because(&record.last_error);
    match record.state {
        ActionState::Pending if record.attempts > 0 || record.last_error.is_some() => {
            Some(format!("{}{error}", tried(record.attempts)))
        }
        ActionState::Interrupted => Some(format!("{state} in attempt {}{error}", record.attempts)),
        ActionState::Lost => Some(format!(
            "{state}: its preview was in the memory of a process that has ended; it can only be discarded"
        )),
        ActionState::Resolving => Some(match &record.lease {
            Some(lease) => format!("{state}: {}", held(lease)),
            None => state,
        }),
        ActionState::Pending | ActionState::Applied | ActionState::Discarded => None,
    }
}

fn tried(attempts: u32) -> String {
    match attempts {
        0 => "the last try to discard it failed".to_owned(),
        1 => "tried once".to_owned(),
        count => format!("tried {count} times, the last time"),
    }
}

/// Who is carrying out what.
pub fn held(lease: &LeaseRecord) -> String {
    let holder = sanitize::line(&lease.holder);
    let since = time::ago(lease.since);
    format!("being {} by {holder}, begun {since}", lease.decision.past())
}
