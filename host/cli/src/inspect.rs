//! `airlock inspect`: what a plugin is, has and gets.

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
use crate::size::thousands;
use crate::style::{BOLD, DIM, NOTE, paint};
use crate::wrap;

const FACTS: Facts = Facts::named_within(8);

pub async fn inspect(args: &InspectArgs, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let plugin = load::load(&args.plugin, Limits::default(), &interrupt, &progress).await?;
    let policy = Policy::default();
    show(out, &plugin, &policy);
    out.json(&json!({
        "name": plugin.name(),
        "digest": plugin.digest().to_string(),
        "size": plugin.size(),
        "worldVersion": plugin.world_version(),
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
