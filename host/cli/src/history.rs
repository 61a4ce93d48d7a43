//! `airlock log`: what was decided.

use airlock_host::{ActionRecord, ResolvedQuery};
use serde_json::json;

use crate::args::LogArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::record::Record;
use crate::sanitize;
use crate::session;
use crate::store::{self, WhenMissing};
use crate::style::{BOLD, DIM, NOTE, paint};
use crate::time;

pub async fn list(args: &LogArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&args.store, WhenMissing::Refuse).await?;
    let session = (!args.all).then(|| session::id(&args.session));
    let query = ResolvedQuery {
        session: session.clone(),
        limit: args.limit as usize,
    };
    let resolved = store.durable().resolved_actions(&query).await?;
    let records: Vec<_> = resolved.iter().map(Record::new).collect();
    out.json(&json!({ "log": records }));
    match (&session, resolved.as_slice()) {
        (None, []) => out.line("Nothing was decided yet."),
        (Some(session), []) => {
            let (session, all) = (
                sanitize::line(session.as_str()),
                store.command(&["log", "--all"]),
            );
            out.line(format_args!(
                "Nothing was decided yet in the session {session}; `{all}` shows the decisions of all."
            ));
        }
        (_, resolved) => {
            for record in resolved {
                show(out, record, args.all);
            }
        }
    }
    Ok(Exit::Done)
}

fn show(out: &mut Output, record: &ActionRecord, with_session: bool) {
    let Some(resolved) = &record.resolved else {
        return;
    };
    let label = paint(BOLD, sanitize::line(&record.action.label));
    let decided = resolved.decision.past();
    let by = match &resolved.decided_by {
        Some(by) => format!(" by {}", sanitize::line(by)),
        None => String::new(),
    };
    let at = time::moment(resolved.at);
    out.line(label);
    out.line(format_args!("  {decided}{by}, {at}"));
    out.line(format_args!(
        "  reason: {}",
        sanitize::line(&resolved.reason)
    ));
    if let Some(error) = &resolved.error {
        out.line(format_args!(
            "  {} {}",
            paint(NOTE, "the tool failed:"),
            sanitize::line(error)
        ));
    }
    let id = sanitize::line(record.action.id.as_str());
    let origin = match with_session {
        true => format!(
            "id {id}, session {}",
            sanitize::line(record.session.as_str())
        ),
        false => format!("id {id}"),
    };
    out.line(format_args!("  {}", paint(DIM, origin)));
}
