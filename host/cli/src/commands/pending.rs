//! `airlock pending`: what waits for a decision.

use std::ffi::OsString;

use airlock_desk::record::{Entry, Pending, Unreadable};
use airlock_desk::session::SessionChoice;
use airlock_desk::store::{self, Store, WhenMissing};
use airlock_host::pending::SessionId;
use airlock_host::store::{ActionRecord, UnreadableAction};
use airlock_render::{Block, Line, Role};

use crate::failure::{Exit, Failure};
use crate::terminal::output::{Output, show_on_stderr};
use crate::terminal::time;

/// The arguments of the command.
pub struct Request {
    /// None for all sessions.
    pub session: Option<SessionChoice>,
    pub store: Option<OsString>,
}

pub async fn list(request: &Request, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(request.store.as_deref(), WhenMissing::Refuse).await?;
    let session = request.session.as_ref().map(|choice| choice.id(&store));
    let open = store.durable().open_actions(session.as_ref()).await?;
    let unreadable = store.unreadable(session.as_ref()).await?;
    out.json(&Pending {
        pending: open.iter().map(Entry::new).collect(),
        unreadable: unreadable.iter().map(Unreadable::new).collect(),
    });
    match (&session, open.as_slice()) {
        (None, []) => out.line("Nothing is pending."),
        (Some(session), []) => show_that_there_is_none(out, session, &store).await?,
        (Some(_), open) => show_actions(out, open),
        (None, open) => show_sessions(out, open),
    }
    if !out.is_json() {
        warn_of(&unreadable);
    }
    Ok(Exit::Done)
}

fn warn_of(unreadable: &[UnreadableAction]) {
    for action in unreadable {
        let text = format!("action {} is left out: {}", action.id, action.problem);
        show_on_stderr(&Block::new().own_named(Role::Error, "warning:", &text, 2));
    }
}

async fn show_that_there_is_none(
    out: &mut Output,
    session: &SessionId,
    store: &Store,
) -> Result<(), Failure> {
    out.line(format_args!("Nothing is pending in the session {session}."));
    // Not asked of the statistics, which count what was resolved too.
    let open = store.durable().open_actions(None).await?;
    let told = match open.len() {
        0 => return Ok(()),
        1 => "1 more action is pending in another session: ".to_owned(),
        count => format!("{count} more actions are pending in other sessions: "),
    };
    let all = store.command(&["pending", "--all"]);
    out.line(Line::from(told).with_role(Role::Command, format!("`{all}`")));
    Ok(())
}

fn show_sessions(out: &mut Output, open: &[ActionRecord]) {
    let sessions = open.chunk_by(|one, next| one.session == next.session);
    for (index, actions) in sessions.enumerate() {
        if index > 0 {
            out.line("");
        }
        let session = format!("In the session {}:", actions[0].session);
        out.line(Line::new().with_role(Role::Faint, session));
        show_actions(out, actions);
    }
}

fn show_actions(out: &mut Output, actions: &[ActionRecord]) {
    for record in actions {
        out.show(&Block::open(record, time::ago));
        let place = record.action.workspace_identity.as_deref();
        if let Some(place) = place.filter(|place| !place.machine.is_this()) {
            let elsewhere = format!(
                "  previewed on the machine {}, and applied there",
                place.machine.name
            );
            out.line(Line::new().with_role(Role::Faint, elsewhere));
        }
    }
}
