//! `airlock inspect`: what a plugin is, has and gets.

mod fit;
mod misfit;
mod params;
mod table;

use airlock_host::{Limits, Plugin, Policy, ToolDefinition};
use serde_json::json;

use crate::args::InspectArgs;
use crate::facts::Facts;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::load;
use crate::output::Output;
use crate::progress::Progress;
use crate::sanitize;
use crate::style::{BOLD, DIM, NOTE, paint};
use crate::wrap;

const FACTS: Facts = Facts::named_within(8);

pub async fn inspect(args: &InspectArgs, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let loaded = load::load(&args.plugin, Limits::default(), &interrupt, &progress).await;
    let plugin = match loaded {
        Ok(plugin) => plugin,
        Err(failure) => return misfit::explain(&args.plugin, failure, out),
    };
    let policy = Policy::default();
    show(out, &plugin, &policy);
    out.json(&json!({
        "name": plugin.name(),
        "digest": plugin.digest().to_string(),
        "size": plugin.size(),
        "worldVersion": plugin.world_version(),
        // What is loaded was found to fit.
        "fit": {"world": fit::world(), "builtFor": plugin.world_version(), "differences": []},
        "imports": plugin.imports(),
        "grants": {"workspace": policy.workspace, "description": policy.to_string()},
        "tools": plugin.tools().collect::<Vec<_>>(),
        "rejected": plugin.rejected(),
    }));
    Ok(Exit::Done)
}

fn show(out: &mut Output, plugin: &Plugin, policy: &Policy) {
    let columns = wrap::columns();
    let imports = plugin
        .imports()
        .iter()
        .map(|import| sanitize::line(import).into_owned());
    let world = format!("airlock:tool/custom-tool@{}", plugin.world_version());
    out.line(paint(BOLD, sanitize::line(plugin.name())));
    FACTS.show(out, "digest", [plugin.digest().to_string()]);
    FACTS.show(out, "size", [format!("{} bytes", thousands(plugin.size()))]);
    FACTS.show(out, "world", [world]);
    FACTS.show(
        out,
        "granted",
        wrap::wrap(&policy.to_string(), columns - FACTS.indent()),
    );
    FACTS.show(out, "imports", imports);
    for tool in plugin.tools() {
        show_tool(out, tool, columns);
    }
    if !plugin.rejected().is_empty() {
        out.line(format_args!("\n{}", paint(NOTE, "Left out")));
        for rejected in plugin.rejected() {
            let (name, reason) = (
                sanitize::line(&rejected.name),
                sanitize::line(&rejected.reason),
            );
            out.line(format_args!("  \"{name}\": {reason}"));
        }
    }
}

fn show_tool(out: &mut Output, tool: &ToolDefinition, columns: usize) {
    let name = paint(BOLD, sanitize::line(&tool.name));
    out.line(format_args!("\n{name}  {}", sanitize::line(&tool.label)));
    for line in wrap::wrap(&sanitize::text(&tool.description), columns - 2) {
        out.line(format!("  {line}").trim_end());
    }
    let traits = tool.traits.names();
    if !traits.is_empty() {
        out.line(format_args!(
            "  {} {}",
            paint(DIM, "traits:"),
            traits.join(", ")
        ));
    }
    let params = params::of(&tool.parameters);
    if params.is_empty() {
        out.line("  It lists no params.");
        return;
    }
    out.line("");
    for line in table::lines(&params, columns - 2) {
        out.line(format_args!("  {line}"));
    }
}

/// With a comma between each three digits.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy)
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_grouped() {
        let check = |number, expected| assert_eq!(thousands(number), expected);
        check(0, "0");
        check(999, "999");
        check(1000, "1,000");
        check(1234567, "1,234,567");
    }
}
