//! `airlock show`: all that is known about an action.

use airlock_host::{ActionId, ActionRecord, ActionState, Error, ResolvedRecord};

use crate::args::ShowArgs;
use crate::facts::Facts;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::pending;
use crate::record::Record;
use crate::sanitize;
use crate::store::{self, Store, WhenMissing};
use crate::style::{BOLD, DIM, paint};
use crate::time;

const FACTS: Facts = Facts::named_within(10);

pub async fn show(args: &ShowArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&args.store, WhenMissing::Refuse).await?;
    let record = find(&store, &args.id).await?;
    out.json(&Record::new(&record));
    show_record(out, &record);
    Ok(Exit::Done)
}

/// The action of this id, of whichever session.
pub async fn find(store: &Store, id: &str) -> Result<ActionRecord, Failure> {
    let id = ActionId::from(id);
    match store.durable().find(&id).await? {
        Some(record) => Ok(record),
        None => {
            let kind = Error::UnknownAction(id.clone()).kind();
            let message = format!("there is no action {id} in the store {}", store.location());
            let all = store.command(&["pending", "--all"]);
            let log = store.command(&["log", "--all"]);
            let hint = format!("`{all}` lists those that are pending, and `{log}` those that were");
            Err(Failure::new(Exit::Failed, kind, message).with_hint(hint))
        }
    }
}

fn show_record(out: &mut Output, record: &ActionRecord) {
    let action = &record.action;
    let workspace = match &action.workspace {
        Some(path) => path.to_string_lossy().into_owned(),
        None => "none".to_owned(),
    };
    out.line(paint(BOLD, sanitize::line(&action.label)));
    let mut fact =
        |name: &str, text: &str| FACTS.show(out, name, [sanitize::line(text).into_owned()]);
    fact("id", action.id.as_str());
    fact("tool", &action.source_tool_name);
    fact("session", record.session.as_str());
    fact("workspace", &workspace);
    fact("previewed", &time::moment(action.pushed_at));
    fact("plugin", &action.plugin.to_string());
    fact("granted", &action.grants.to_string());
    fact(
        "kept",
        match action.durable {
            true => "durable: it can be applied by any process",
            false => "volatile: only the process that previewed it can apply it",
        },
    );
    fact("attempts", &record.attempts.to_string());
    show_state(out, record);
    if let Some(resolved) = &record.resolved {
        show_resolved(out, resolved);
    }
    if let Some(details) = &action.details {
        out.line(format_args!("  {}", paint(DIM, "details")));
        let details = serde_json::to_string_pretty(details).unwrap_or_default();
        for line in sanitize::text(&details).lines() {
            out.line(format_args!("    {line}"));
        }
    }
}

fn show_state(out: &mut Output, record: &ActionRecord) {
    let standing = match record.state {
        ActionState::Pending => record.state.to_string(),
        _ => pending::standing(record).unwrap_or_else(|| record.state.to_string()),
    };
    FACTS.show(out, "state", [standing]);
    // What else is known of an interrupted one is that it was.
    if let (ActionState::Pending | ActionState::Resolving, Some(error)) =
        (record.state, &record.last_error)
    {
        FACTS.show(out, "last error", [sanitize::line(error).into_owned()]);
    }
    if let (ActionState::Interrupted, Some(lease)) = (record.state, &record.lease) {
        let holder = sanitize::line(&lease.holder);
        let begun = time::moment(lease.since);
        FACTS.show(out, "begun", [format!("{begun}, by {holder}")]);
    }
}

fn show_resolved(out: &mut Output, resolved: &ResolvedRecord) {
    let mut fact =
        |name: &str, text: &str| FACTS.show(out, name, [sanitize::line(text).into_owned()]);
    fact(resolved.decision.past(), &time::moment(resolved.at));
    fact(
        "by",
        resolved
            .decided_by
            .as_deref()
            .unwrap_or("somebody who gave no name"),
    );
    fact("reason", &resolved.reason);
    if let Some(extra) = &resolved.extra {
        fact("extra", &serde_json::to_string(extra).unwrap_or_default());
    }
    if let Some(result) = &resolved.result {
        fact("result", &result.to_string());
    }
    if let Some(error) = &resolved.error {
        fact("error", error);
    }
}
