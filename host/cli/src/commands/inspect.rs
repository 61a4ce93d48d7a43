//! `airlock inspect`: shows a plugin's properties, tools and grants.

mod native;

use std::ffi::OsStr;
use std::fmt::Display;
use std::path::PathBuf;

use airlock_desk::configuration::{Given, OperatorFiles, Settings};
use airlock_desk::plugin::{Loaded, Source};
use airlock_host::load::WORLD_VERSION;
use airlock_host::tool::{ToolDefinition, portable};
use airlock_host::{Limits, Plugin, Policy};
use airlock_render::{Block, Line, Role};

use crate::bundled::CATALOG;
#[cfg(feature = "author")]
use crate::commands::author::misfit;
use crate::commands::install::describing::signers;
use crate::commands::params::{self, table};
use crate::documents::plugins::{Fit, Grants, Inspection, PluginFacts};
use crate::failure::{Exit, Failure};
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;
use crate::terminal::size::thousands;

/// The length of the longest fact's name.
pub const NAMES: usize = 8;

pub async fn inspect(
    named: &OsStr,
    config: Option<PathBuf>,
    limits: Limits,
    verbose: u8,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let files = OperatorFiles::new(config);
    let locks = files.locks().map_err(airlock_desk::Error::from)?;
    let loaded = load::load(named, &locks, limits, &interrupt, &progress).await;
    let loaded = match loaded {
        Ok(loaded) => loaded,
        #[cfg(feature = "author")]
        Err(failure) => return misfit::explain(named, &locks, failure, out),
        #[cfg(not(feature = "author"))]
        Err(failure) => return Err(failure),
    };
    let settings = Settings::read(&files, &Given::default(), CATALOG);
    let settings = settings.map_err(airlock_desk::Error::from)?;
    let policy = match &loaded {
        Loaded::Plugin(plugin) => plugin.effective_policy(settings.policy(&loaded, named)),
        Loaded::Native(_) => settings.policy(&loaded, named),
    };
    let installed = match Source::find(CATALOG, &locks, named) {
        Ok(Source::Installed(installed)) => Some(installed.entry),
        _ => None,
    };
    let title = Line::new().with_role(Role::Title, loaded.name());
    let (mut facts, about) = match &loaded {
        Loaded::Plugin(plugin) => (
            facts_of_plugin(plugin, &policy),
            describe_plugin(plugin, &policy),
        ),
        Loaded::Native(native) => (native::facts(native), native::describe(native, &policy)),
    };
    facts.extend(installed.as_ref().map(|it| ("signers", signers(it))));
    let block = facts
        .into_iter()
        .fold(Block::from(title), |block, (name, text)| match name {
            "digest" | "size" | "world" | "imports" | "native" | "signers" => {
                block.own_fact(NAMES, name, &text)
            }
            "granted" if !policy.limits_paths() => block.own_fact(NAMES, name, &text),
            // The publisher wrote it, or patterns in it.
            _ => block.fact(NAMES, name, &text),
        });
    out.show(&with_tools(block, &loaded));
    out.json(&Inspection {
        about,
        name: loaded.name(),
        tools: loaded.tools(),
        rejected: loaded.rejected(),
        signers: installed.as_ref().map(|it| &*it.signed_by),
    });
    Ok(Exit::Done)
}

/// Named facts.
type Facts = Vec<(&'static str, String)>;

/// Returns the full name of the world of tools.
fn world(version: impl Display) -> String {
    format!("airlock:tool/custom-tool@{version}")
}

fn facts_of_plugin(plugin: &Plugin, policy: &Policy) -> Facts {
    let about = plugin
        .about()
        .facts()
        .filter_map(|(name, fact)| match name {
            // The title is the name that the operator uses.
            "name" => None,
            "description" => Some(("about", fact.to_owned())),
            name => Some((name, fact.to_owned())),
        });
    let mut facts: Facts = about.collect();
    facts.extend([
        ("digest", plugin.digest().to_string()),
        ("size", format!("{} bytes", thousands(plugin.size()))),
        ("world", plugin.world().to_string()),
    ]);
    let wants = plugin
        .wants()
        .map_or(WANTS_UNSAID.to_owned(), ToString::to_string);
    facts.push(("wants", wants));
    facts.push(("granted", policy.to_string()));
    if !policy.denied.is_empty() {
        facts.push(("denied", policy.denied.join("; ")));
    }
    facts.push(("imports", plugin.imports().join("\n")));
    facts
}

/// Said of a component without a manifest of its wants.
const WANTS_UNSAID: &str = "not said; only the grants limit it";

fn describe_plugin<'a>(plugin: &'a Plugin, policy: &Policy) -> PluginFacts<'a> {
    PluginFacts {
        digest: plugin.digest().to_string(),
        // A loaded plugin fits.
        fit: Some(Fit {
            built_for: plugin.world().version(),
            differences: Vec::new(),
            world: world(WORLD_VERSION),
        }),
        grants: Grants {
            denied: policy.denied.clone(),
            description: policy.to_string(),
            workspace: policy.workspace,
        },
        metadata: Some(plugin.about()),
        wants: plugin.wants(),
        imports: Some(plugin.imports()),
        native: None,
        size: Some(plugin.size()),
        state_version: None,
        world_version: plugin.world().version(),
    }
}

fn with_tools(block: Block, loaded: &Loaded) -> Block {
    let block = loaded.tools().into_iter().fold(block, |block, tool| {
        let block = block.line("").block(of_tool(tool));
        lost_by_clients(tool).iter().fold(block, |block, lost| {
            let text = format!("MCP clients don't get {lost}");
            block.own_named(Role::Note, "note:", &text, 2)
        })
    });
    if loaded.rejected().is_empty() {
        return block;
    }
    let heading = Line::new().with_role(Role::Note, "Left out");
    let block = block.line("").line(heading);
    loaded.rejected().iter().fold(block, |block, rejected| {
        let line = Line::from("\"")
            .with_quoted(Role::Plain, &*rejected.name)
            .with("\": ")
            .with_quoted(Role::Plain, &*rejected.reason);
        block.line(line.indented(2).hanging(2))
    })
}

/// Returns the parts of a tool's params schema that MCP clients don't get, because they refuse such
/// schemas.
pub fn lost_by_clients(tool: &ToolDefinition) -> Vec<String> {
    portable::params(&tool.parameters).lost
}

/// Describes a tool. All of it is the plugin's own text.
fn of_tool(tool: &ToolDefinition) -> Block {
    let name = Line::new().with_role(Role::Title, &*tool.name);
    let mut block = Block::from(name.with(format!("  {}", tool.label)).hanging(2))
        .block(Block::new().text(&tool.description).indented(2));
    let traits = tool.traits.names();
    if !traits.is_empty() {
        let name = Line::new().with_role(Role::Faint, "traits:");
        block = block.line(name.with(format!(" {}", traits.join(", "))).indented(2));
    }
    let params = params::of(&tool.parameters.value());
    let block = if params.is_empty() {
        block.line(Line::from("It lists no params.").indented(2))
    } else {
        let rows: Vec<table::Row<'_>> = params.iter().map(table::Row::of).collect();
        block.line("").block(table::of("param", &rows).indented(2))
    };
    block.quoted()
}
