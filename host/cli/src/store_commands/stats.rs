//! `airlock store stats`: how much is kept.

use serde_json::json;

use crate::args::StatsArgs;
use crate::facts::Facts;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::sanitize;
use crate::size;
use crate::store::{self, WhenMissing};
use crate::style::{BOLD, paint};

use super::retention;

const FACTS: Facts = Facts::named_within(11);

pub async fn show(args: &StatsArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&args.store, WhenMissing::Refuse).await?;
    let stats = store.durable().stats().await?;
    let kept = store.durable().retention().await?;
    let location = store.location();
    out.json(&json!({
        "store": location,
        "schema": stats.schema,
        "sessions": stats.sessions,
        "pending": stats.pending,
        "interrupted": stats.interrupted,
        "lost": stats.lost,
        "resolving": stats.resolving,
        "applied": stats.applied,
        "discarded": stats.discarded,
        "retention": retention::word(kept),
        "plugins": stats.plugins,
        "pluginBytes": stats.plugin_bytes,
        "bytes": stats.bytes,
    }));
    out.line(paint(BOLD, sanitize::line(&location)));
    let of_those = match (stats.interrupted, stats.lost) {
        (0, 0) => String::new(),
        (interrupted, 0) => format!(", {interrupted} of them interrupted"),
        (0, lost) => format!(", {lost} of them lost"),
        (interrupted, lost) => format!(", {interrupted} of them interrupted and {lost} lost"),
    };
    let mut fact = |name: &str, text: String| FACTS.show(out, name, [text]);
    fact("schema", stats.schema.to_string());
    fact("pending", format!("{}{of_those}", stats.pending));
    fact("resolving", stats.resolving.to_string());
    fact("in sessions", stats.sessions.to_string());
    fact("applied", stats.applied.to_string());
    fact("discarded", stats.discarded.to_string());
    fact("retention", retention::word(kept));
    fact(
        "plugins",
        format!("{}, {}", stats.plugins, size::human(stats.plugin_bytes)),
    );
    fact("size", size::human(stats.bytes));
    Ok(Exit::Done)
}
