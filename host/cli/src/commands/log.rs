//! `airlock log`: what was decided.

use airlock_desk::record::{Log, Record};
use airlock_desk::session::SessionChoice;
use airlock_desk::store::{self, Named, WhenMissing};
use airlock_host::store::ResolvedQuery;
use airlock_render::{Block, Line, Role};

use crate::commands::context::chosen;
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;
use crate::terminal::time;

/// The arguments of the command.
pub struct Request {
    /// None for all sessions.
    pub session: Option<SessionChoice>,
    /// How many to show at most, the latest first.
    pub limit: usize,
    pub store: Named,
}

pub async fn list(request: &Request, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&request.store, WhenMissing::Refuse).await?;
    let mut session = request.session.as_ref().map(|choice| choice.id(&store));
    let mut query = ResolvedQuery {
        session: session.clone(),
        limit: request.limit,
    };
    let mut resolved = store.durable().resolved_actions(&query).await?;
    if let (Some(choice), true) = (&request.session, resolved.is_empty()) {
        session = Some(chosen(choice, &store).await?.id(&store));
        query.session.clone_from(&session);
        resolved = store.durable().resolved_actions(&query).await?;
    }
    out.json(&Log {
        log: resolved.iter().map(Record::new).collect(),
    });
    match (&session, resolved.as_slice()) {
        (None, []) => out.line("Nothing has been decided yet."),
        (Some(session), []) => {
            let all = store.command(&["log", "--all"]);
            out.line(
                Line::from(format!(
                    "Nothing has been decided yet in the session {session}; "
                ))
                .with_role(Role::Command, format!("`{all}`"))
                .with(" shows the decisions of all.")
                .hanging(2),
            );
        }
        (_, resolved) => {
            for record in resolved {
                out.show(&Block::audit(record, time::moment));
                if request.session.is_none() {
                    let session = format!("session {}", record.session);
                    let session = Line::new().with_role(Role::Faint, session);
                    out.line(session.indented(2).hanging(2));
                }
            }
        }
    }
    Ok(Exit::Done)
}
