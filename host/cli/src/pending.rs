//! `airlock pending`: what waits for a decision.

use airlock_host::render::{Block, Line, Role};
use airlock_host::{ActionRecord, SessionId};

use crate::args::PendingArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::record::{Entry, Pending};
use crate::session;
use crate::store::{self, Store, WhenMissing};
use crate::time;

pub async fn list(args: &PendingArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&args.store, WhenMissing::Refuse).await?;
    let session = (!args.all).then(|| session::id(&args.session));
    let open = store.durable().open_actions(session.as_ref()).await?;
    out.json(&Pending {
        pending: open.iter().map(Entry::new).collect(),
    });
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
    out.line(format_args!("Nothing is pending in the session {session}."));
    // Not asked of the statistics, which count what was resolved too.
    let open = store.durable().open_actions(None).await?;
    let told = match open.len() {
        0 => return Ok(()),
        1 => "In another session 1 action is: ".to_owned(),
        count => format!("In other sessions {count} actions are: "),
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
    }
}
