//! `airlock store retention`: how long decisions are kept.

use std::time::Duration;

use airlock_desk::store::{self, WhenMissing};
use serde_json::json;

use crate::args::{Retention, RetentionArgs};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::time;

pub async fn show_or_set(args: &RetentionArgs, out: &mut Output) -> Result<Exit, Failure> {
    let missing = match args.retention {
        Some(_) => WhenMissing::Make,
        None => WhenMissing::Refuse,
    };
    let store = store::open(args.store.named(), missing).await?;
    if let Some(retention) = args.retention {
        let kept = match retention {
            Retention::Forever => None,
            Retention::For(age) => Some(age),
        };
        store.durable().set_retention(kept).await?;
    }
    let kept = store.durable().retention().await?;
    let seconds = kept.map(|kept| kept.as_secs());
    out.json(&json!({"retention": word(kept), "seconds": seconds}));
    out.line(match kept {
        Some(kept) => format!("Decisions are kept for {}.", time::option(kept)),
        None => "Decisions are kept for ever.".to_owned(),
    });
    Ok(Exit::Done)
}

/// As the command takes it.
pub fn word(retention: Option<Duration>) -> String {
    match retention {
        Some(kept) => time::option(kept),
        None => "forever".to_owned(),
    }
}
