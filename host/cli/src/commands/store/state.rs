//! `airlock store stats` and `check`: how much is stored, and whether it is intact.

use std::path::Path;

use airlock_desk::store::{self, Store, StoreOptions, WhenMissing};
use airlock_host::UndoRetention;
use airlock_render::{Block, Line, Role};

use super::bounds;
use crate::commands::context::undo_retention;
use crate::documents::store::{OriginalsStats, StoreCheck, StoreStats};
use crate::failure::{Exit, Failure};
use crate::terminal::output::{Output, on_stderr};
use crate::terminal::{size, time};

/// The most open actions that are read to compute a number that stores don't keep.
const READ: u64 = 5_000;

/// The length of the longest name.
const NAMES: usize = 11;

pub async fn stats(store: &StoreOptions, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(store, WhenMissing::Refuse).await?;
    let stats = store.durable().stats().await?;
    let kept = store.durable().retention().await?;
    let limit = store.durable().byte_limit().await?;
    // All open actions are read to find the unreadable ones.
    let unreadable = match stats.pending + stats.resolving {
        0..=READ => Some(store.durable().unreadable_actions().await?.len()),
        _ => None,
    };
    let location = store.location();
    let originals = originals(&store)?;
    let undo = originals.as_ref().map(undo_text);
    out.json(&StoreStats {
        applied: stats.applied,
        bytes: stats.bytes,
        discarded: stats.discarded,
        interrupted: stats.interrupted,
        limit,
        lost: stats.lost,
        originals,
        pending: stats.pending,
        pending_bytes: stats.pending_bytes,
        plugin_bytes: stats.plugin_bytes,
        plugins: stats.plugins,
        resolving: stats.resolving,
        retention: bounds::word(kept),
        schema: stats.schema,
        sessions: stats.sessions,
        store: location.clone(),
        unreadable,
    });
    let of_those = match (stats.interrupted, stats.lost) {
        (0, 0) => String::new(),
        (interrupted, 0) => format!(", {interrupted} of them interrupted"),
        (0, lost) => format!(", {lost} of them lost"),
        (interrupted, lost) => format!(", {interrupted} of them interrupted and {lost} lost"),
    };
    let plugins = format!("{}, {}", stats.plugins, size::human(stats.plugin_bytes));
    let facts = [
        ("schema", stats.schema.to_string()),
        ("pending", format!("{}{of_those}", stats.pending)),
        ("resolving", stats.resolving.to_string()),
        ("in sessions", stats.sessions.to_string()),
        ("applied", stats.applied.to_string()),
        ("discarded", stats.discarded.to_string()),
        ("retention", bounds::word(kept)),
        ("plugins", plugins),
        ("previews", size::human(stats.pending_bytes)),
        ("size", size::human(stats.bytes)),
        ("limit", limit.map_or("none".to_owned(), size::human)),
    ];
    let title = Block::from(Line::new().with_role(Role::Title, location).hanging(2));
    let mut block = facts.into_iter().fold(title, |block, (name, text)| {
        block.own_fact(NAMES, name, &text)
    });
    if let Some(text) = undo {
        block = block.own_fact(NAMES, "for undo", &text);
    }
    let text = match unreadable {
        Some(0) => None,
        Some(count) => Some(format!(
            "{count}; `airlock store check` shows which, and why"
        )),
        None => Some("`airlock store check` looks for some, and reads everything".to_owned()),
    };
    if let Some(text) = text {
        block = block.own_fact(NAMES, "unreadable", &text);
    }
    out.show(&block);
    Ok(Exit::Done)
}

/// Returns what applies have kept in the current folder.
fn originals(store: &Store) -> Result<Option<OriginalsStats>, Failure> {
    let UndoRetention { time, bytes: limit } = undo_retention(store)?;
    // In a folder that can't be read, nothing was applied by this user.
    let kept = airlock_host::originals(Path::new(".")).unwrap_or_default();
    Ok((!kept.is_empty()).then(|| OriginalsStats {
        applies: kept.len(),
        bytes: kept.iter().map(|it| it.bytes).sum(),
        limit,
        retention: time::option(time),
    }))
}

fn undo_text(originals: &OriginalsStats) -> String {
    let applies = match originals.applies {
        1 => "1 apply".to_owned(),
        several => format!("{several} applies"),
    };
    format!(
        "{applies} in this folder, {}; kept for {} and up to {}",
        size::human(originals.bytes),
        originals.retention,
        size::human(originals.limit)
    )
}

pub async fn check(store: &StoreOptions, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(store, WhenMissing::Refuse).await?;
    let problems = store.durable().check().await?;
    let location = store.location();
    out.json(&StoreCheck {
        problems: &problems,
        store: &location,
    });
    if problems.is_empty() {
        out.line(Line::from(format_args!("{location} has no problems.")).hanging(2));
        return Ok(Exit::Done);
    }
    for problem in &problems {
        out.line(Line::from(problem.as_str()).hanging(2));
    }
    if !out.is_json() {
        let found = match problems.len() {
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        };
        let error = Line::new().with_role(Role::Error, "error:");
        on_stderr(error.with(format!(" {location} has {found}")));
        let hint = Line::new().with_role(Role::Hint, "hint:");
        on_stderr(
            hint.with(" move it away, and restore a backup with `airlock store restore FILE`"),
        );
    }
    Ok(Exit::Failed)
}
