//! `airlock log`: what was decided.

use airlock_desk::record::{Log, Record};
use airlock_desk::store::{self, WhenMissing};
use airlock_host::ResolvedQuery;
use airlock_render::{Block, Line, Role};

use crate::args::LogArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::time;

pub async fn list(args: &LogArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(args.store.named(), WhenMissing::Refuse).await?;
    let session = (!args.all).then(|| args.session.choice().id(&store));
    let query = ResolvedQuery {
        session: session.clone(),
        limit: args.limit as usize,
    };
    let resolved = store.durable().resolved_actions(&query).await?;
    out.json(&Log {
        log: resolved.iter().map(Record::new).collect(),
    });
    match (&session, resolved.as_slice()) {
        (None, []) => out.line("Nothing was decided yet."),
        (Some(session), []) => {
            let all = store.command(&["log", "--all"]);
            out.line(
                Line::from(format!(
                    "Nothing was decided yet in the session {session}; "
                ))
                .with_role(Role::Command, format!("`{all}`"))
                .with(" shows the decisions of all."),
            );
        }
        (_, resolved) => {
            for record in resolved {
                out.show(&Block::audit(record, time::moment));
                if args.all {
                    let session = format!("session {}", record.session);
                    out.line(Line::new().with_role(Role::Faint, session).indented(2));
                }
            }
        }
    }
    Ok(Exit::Done)
}
