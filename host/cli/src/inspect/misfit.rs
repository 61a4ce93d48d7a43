//! What is shown of a component that can't be loaded: how it differs from the world.

use std::ffi::OsStr;

use serde_json::json;

use super::FACTS;
use super::fit::{self, Fit};
use crate::failure::{Exit, Failure};
use crate::load;
use crate::output::Output;
use crate::sanitize;
use crate::style::{BOLD, DIM, NOTE, paint};

/// Shows the differences, and the failure itself.
///
/// # Errors
/// The failure, where there is nothing to add.
pub fn explain(plugin: &OsStr, failure: Failure, out: &mut Output) -> Result<Exit, Failure> {
    let Some(fit) = fit_of(plugin, &failure) else {
        return Err(failure);
    };
    if fit.differences.is_empty() {
        return Err(failure);
    }
    show(out, plugin, &fit);
    out.json(&json!({"error": failure.to_json(), "fit": fit}));
    Ok(match out.is_json() {
        true => failure.exit(),
        false => failure.report_on_stderr(),
    })
}

/// None where the failure has nothing to do with it.
fn fit_of(plugin: &OsStr, failure: &Failure) -> Option<Fit> {
    // A component whose functions have other types than the world's is first found out when it is asked for its tools.
    if !matches!(failure.kind(), "world-mismatch" | "no-definitions") {
        return None;
    }
    let bytes = load::bytes(plugin)?;
    Fit::of(&bytes)
        .inspect_err(|error| tracing::debug!("can't read the component's types: {error}"))
        .ok()
}

fn show(out: &mut Output, plugin: &OsStr, fit: &Fit) {
    let name = plugin.to_string_lossy();
    out.line(paint(BOLD, sanitize::line(&name)));
    let built_for = match &fit.built_for {
        Some(version) => format!(
            "built for airlock:tool@{}; this host has {}",
            sanitize::line(version),
            fit::world()
        ),
        None => format!("not built for it; this host has {}", fit::world()),
    };
    FACTS.show(out, "world", [built_for]);
    out.line(format_args!("\n{}", paint(NOTE, "Doesn't fit")));
    for difference in &fit.differences {
        out.line(format_args!("  {}", sanitize::line(&difference.item)));
        for (side, has) in [
            ("world    ", &difference.world),
            ("component", &difference.component),
        ] {
            let has = has.as_deref().unwrap_or("(nothing)");
            let side = paint(DIM, side);
            out.line(format_args!("    {side}  {}", sanitize::line(has)));
        }
    }
}
