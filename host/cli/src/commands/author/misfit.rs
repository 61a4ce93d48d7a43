//! The report on a component that can't be loaded: its differences from the world.

use std::ffi::OsStr;

use airlock_author::fit::{self, Fit};
use airlock_desk::lock::Locks;
use airlock_desk::plugin::Source;
use airlock_render::{Block, Line, Role};

use crate::bundled::CATALOG;
use crate::commands::inspect::NAMES;
use crate::documents::error::ErrorDocument;
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

/// Shows the differences and the failure itself.
///
/// # Errors
/// The failure, if there is nothing to add.
pub fn explain(
    plugin: &OsStr,
    locks: &Locks,
    failure: Failure,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let Some(fit) = fit_of(plugin, locks, &failure) else {
        return Err(failure);
    };
    if fit.differences.is_empty() {
        return Err(failure);
    }
    out.show(&block(plugin, &fit));
    out.json(&ErrorDocument {
        error: failure.object(),
        fit: Some((&fit).into()),
    });
    Ok(if out.is_json() {
        failure.exit()
    } else {
        failure.report_on_stderr()
    })
}

/// Returns `None` if the failure has another cause.
fn fit_of(plugin: &OsStr, locks: &Locks, failure: &Failure) -> Option<Fit> {
    // If a component's functions have other types than the world's, that only shows when it is
    // asked for its tools.
    if !matches!(failure.kind(), "world-mismatch" | "no-definitions") {
        return None;
    }
    let bytes = Source::find(CATALOG, locks, plugin).ok()?.bytes().ok()??;
    Fit::of(&bytes)
        .inspect_err(|error| tracing::debug!("can't read the component's types: {error}"))
        .ok()
}

fn block(plugin: &OsStr, fit: &Fit) -> Block {
    let name = Line::new().with_role(Role::Title, plugin.to_string_lossy());
    let built_for = match &fit.built_for {
        Some(version) => format!(
            "built for airlock:tool@{version}; this host has {}",
            fit::world()
        ),
        None => format!("not built for it; this host has {}", fit::world()),
    };
    let heading = Line::new().with_role(Role::Note, "Doesn't fit");
    let block = Block::from(name)
        .fact(NAMES, "world", &built_for)
        .line("")
        .line(heading);
    fit.differences.iter().fold(block, |block, difference| {
        let item = Line::from(&*difference.item).indented(2).hanging(2);
        let sides = [
            ("world    ", &difference.world),
            ("component", &difference.component),
        ];
        sides
            .into_iter()
            .fold(block.line(item), |block, (side, has)| {
                let side = Line::new().with_role(Role::Faint, side);
                let has = has.as_deref().unwrap_or("(nothing)");
                block.line(side.with(format!("  {has}")).indented(4).hanging(11))
            })
    })
}
