//! `airlock store prune`: forgetting what is old.

use airlock_desk::store::{self, WhenMissing};
use serde_json::json;

use crate::args::PruneArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::time;

pub async fn prune(args: &PruneArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(args.store.named(), WhenMissing::Refuse).await?;
    let age = match args.older_than {
        Some(age) => age,
        None => store.durable().retention().await?.ok_or_else(|| {
            Failure::usage(
                "this store keeps decisions for ever, so it must be said which ones to forget",
            )
            .with_hint(
                "for example: `--older-than 30d`; `airlock store retention 30d` sets it for good",
            )
        })?,
    };
    let pruned = store.durable().prune(age).await?;
    out.json(&json!({
        "olderThan": time::option(age),
        "actions": pruned.actions,
        "plugins": pruned.plugins,
    }));
    out.line(format_args!(
        "Forgot {} older than {}, and {}.",
        counted(pruned.actions, "decision"),
        time::option(age),
        counted(pruned.plugins, "plugin"),
    ));
    Ok(Exit::Done)
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
