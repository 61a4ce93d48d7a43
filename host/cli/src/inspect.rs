//! `airlock inspect`: what a plugin, or what stands for one, is, has and gets.

mod params;
mod table;

#[cfg(feature = "ast-edit")]
use airlock_host::NativeProducer;
use airlock_host::{Limits, Plugin, Policy, ToolDefinition};
use serde_json::{Value, json};

use crate::args::InspectArgs;
use crate::facts::Facts;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::load;
use crate::loaded::Loaded;
use crate::output::Output;
use crate::progress::Progress;
use crate::sanitize;
use crate::style::{BOLD, DIM, NOTE, paint};
use crate::wrap;

const FACTS: Facts = Facts::named_within(8);

pub async fn inspect(args: &InspectArgs, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let loaded = load::load(&args.plugin, Limits::default(), &interrupt, &progress).await?;
    let policy = Policy::default();
    out.line(paint(BOLD, sanitize::line(loaded.name())));
    let mut described = match &loaded {
        Loaded::Plugin(plugin) => {
            show_plugin(out, plugin, &policy);
            describe_plugin(plugin, &policy)
        }
        #[cfg(feature = "ast-edit")]
        Loaded::Native(native) => {
            show_native(out, native);
            describe_native(native, &policy)
        }
    };
    show_tools(out, &loaded);
    described["name"] = loaded.name().into();
    described["tools"] = json!(loaded.tools());
    described["rejected"] = json!(loaded.rejected());
    out.json(&described);
    Ok(Exit::Done)
}

fn describe_plugin(plugin: &Plugin, policy: &Policy) -> Value {
    json!({
        "digest": plugin.digest().to_string(),
        "size": plugin.size(),
        "worldVersion": plugin.world_version(),
        "imports": plugin.imports(),
        "grants": {"workspace": policy.workspace, "description": policy.to_string()},
    })
}

fn show_plugin(out: &mut Output, plugin: &Plugin, policy: &Policy) {
    let imports = plugin
        .imports()
        .iter()
        .map(|import| sanitize::line(import).into_owned());
    let world = format!("airlock:tool/custom-tool@{}", plugin.world_version());
    FACTS.show(out, "digest", [plugin.digest().to_string()]);
    FACTS.show(out, "size", [format!("{} bytes", thousands(plugin.size()))]);
    FACTS.show(out, "world", [world]);
    show_grants(out, &policy.to_string());
    FACTS.show(out, "imports", imports);
}

/// What the host's own code is held to, in the words of a policy.
#[cfg(feature = "ast-edit")]
const NATIVE_GRANTS: &str = "workspace: read, and change while applying; nothing else";

#[cfg(feature = "ast-edit")]
fn describe_native(native: &NativeProducer, policy: &Policy) -> Value {
    json!({
        "native": true,
        "digest": native.digest().to_string(),
        "stateVersion": native.state_version(),
        "grants": {"workspace": policy.workspace, "description": NATIVE_GRANTS},
    })
}

#[cfg(feature = "ast-edit")]
fn show_native(out: &mut Output, native: &NativeProducer) {
    FACTS.show(out, "digest", [native.digest().to_string()]);
    let form = format!(
        "part of this program, no plugin; its actions are kept in format {}",
        native.state_version()
    );
    FACTS.show(out, "native", [form]);
    show_grants(out, NATIVE_GRANTS);
}

fn show_grants(out: &mut Output, grants: &str) {
    let lines = wrap::wrap(grants, wrap::columns() - FACTS.indent());
    FACTS.show(out, "granted", lines);
}

fn show_tools(out: &mut Output, loaded: &Loaded) {
    let columns = wrap::columns();
    for tool in loaded.tools() {
        show_tool(out, tool, columns);
    }
    if !loaded.rejected().is_empty() {
        out.line(format_args!("\n{}", paint(NOTE, "Left out")));
        for rejected in loaded.rejected() {
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
