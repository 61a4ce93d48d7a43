//! Checks whether a component matches the world, and finds the item that doesn't.

use airlock_model::tool::command::CommandTools;
use airlock_model::wants::{About, Wants};

use super::definition;
use crate::compile::outline::Outline;
use crate::world::{TAKEN, WORLD_VERSION, World, is_command, takes};

/// Replaces the version of a name without one.
const UNVERSIONED: &str = "without a version";

const PACKAGE: &str = "airlock:tool/";
const EXPORTS: [&str; 2] = ["tool", "resolver"];
const IMPORTS: [&str; 3] = ["host", "pending-actions", "types"];

/// The interfaces of WASI 0.2 that this host offers; `instance::linker` provides their
/// implementations.
const WASI: [&str; 27] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
];

/// The result of checking a component's outline.
pub(crate) struct Fit {
    pub world: World,
    /// Its imports, sorted.
    pub imports: Vec<String>,
    /// The tools of a program that has its own, and their JSON.
    pub command_tools: Option<(CommandTools, String)>,
    pub about: About,
    pub wants: Option<Wants>,
}

/// Finds the item that doesn't match by its name and version, before anything is compiled. The
/// linker checks the types behind the names.
pub(crate) fn check(mut outline: Outline) -> Result<Fit, String> {
    outline.imports.sort_by(|a, b| a.name.cmp(&b.name));
    let imports = || outline.imports.iter().map(|import| import.name.as_str());
    let exports = || outline.exports.iter().map(String::as_str);
    let versions = || imports().chain(exports()).filter_map(world_version);
    if let Some(other) = versions().find(|version| !takes(version)) {
        return Err(other_world(other));
    }
    let is_program = is_command(exports());
    for wanted in EXPORTS {
        if !is_program && !exports().any(|name| interface_of_world(name) == Some(wanted)) {
            return Err(format!(
                "it doesn't export `{PACKAGE}{wanted}@{WORLD_VERSION}`"
            ));
        }
    }
    for import in imports() {
        if interface_of_world(import).is_some_and(|interface| !IMPORTS.contains(&interface)) {
            return Err(format!("it imports `{import}`, which is not in the world"));
        }
    }
    if let Some(reason) = other_wasi(imports(), outline.is_async) {
        return Err(reason);
    }
    for import in &outline.imports {
        if import.needs_host && !is_offered(&import.name) {
            return Err(not_offered(&import.name));
        }
    }
    let world = if is_program {
        World::Command
    } else {
        let version = versions().next().unwrap_or(WORLD_VERSION).to_owned();
        World::CustomTool { version }
    };
    let command_tools = match outline.command_tools {
        Some(section) => Some((command_tools(&section, &world)?, section)),
        None => None,
    };
    let wants = outline.wants.map(|section| wants(&section)).transpose()?;
    let imports = outline.imports.into_iter().map(|import| import.name);
    Ok(Fit {
        world,
        imports: imports.collect(),
        command_tools,
        about: outline.about,
        wants,
    })
}

fn command_tools(section: &str, world: &World) -> Result<CommandTools, String> {
    let name = CommandTools::SECTION;
    if *world != World::Command {
        return Err(format!(
            "it has the section `{name}`, which is only for programs, and exports its own tools"
        ));
    }
    serde_json::from_str(section).map_err(|error| {
        let error = definition::cut_reason(&error.to_string());
        format!("its section `{name}` is wrong: {error}")
    })
}

fn wants(section: &str) -> Result<Wants, String> {
    Wants::from_json(section).map_err(|error| {
        let error = definition::cut_reason(&error);
        format!("its section `{}` is wrong: {error}", Wants::SECTION)
    })
}

/// Returns the interface, if it is part of the world's own package.
fn interface_of_world(name: &str) -> Option<&str> {
    Some(split(name.strip_prefix(PACKAGE)?).0)
}

/// Returns the version in a name from the world's own package.
fn world_version(name: &str) -> Option<&str> {
    Some(split(name.strip_prefix(PACKAGE)?).1)
}

fn other_world(version: &str) -> String {
    let taken = TAKEN.join(" and ");
    format!(
        "it was built for `airlock:tool@{version}`, and this host takes {taken}; build it again with an SDK for {taken}, or look for a host that takes {version}"
    )
}

/// Returns why a component for a WASI other than 0.2 can't run. Some import nothing from WASI but
/// use features that came with 0.3.
fn other_wasi<'a>(mut imports: impl Iterator<Item = &'a str>, is_async: bool) -> Option<String> {
    let other = imports.find_map(|name| {
        let (_, version) = split(name.strip_prefix("wasi:")?);
        let is_other = !version.starts_with("0.2.") && version != UNVERSIONED;
        is_other.then_some((name, version))
    });
    let (version, sign) = match other {
        Some((name, version)) => {
            let minor = version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
            (minor, format!("it imports `{name}`"))
        }
        None if is_async => (
            "0.3".to_owned(),
            "it has async functions, streams or futures".to_owned(),
        ),
        None => return None,
    };
    Some(format!(
        "it was built for WASI {version} ({sign}), and this host has WASI 0.2; build it again for WASI 0.2, in Rust for the target wasm32-wasip2"
    ))
}

/// Returns whether the host offers an import. Imports of the world's own package were checked
/// before, against [`IMPORTS`]. The linker checks patch versions of WASI.
fn is_offered(import: &str) -> bool {
    if import.starts_with(PACKAGE) {
        return true;
    }
    let (interface, version) = split(import);
    WASI.contains(&interface) && version.starts_with("0.2.")
}

fn not_offered(import: &str) -> String {
    format!("it imports `{import}`, which this host does not offer")
}

fn split(name: &str) -> (&str, &str) {
    name.split_once('@').unwrap_or((name, UNVERSIONED))
}

/// Explains the linker's error for an import that is unknown or has another type.
pub(crate) fn explain_link_error(error: &wasmtime::Error) -> String {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    let text = causes.join(": ");
    match unknown_import(&text) {
        Some(name) => not_offered(name),
        None => text,
    }
}

fn unknown_import(text: &str) -> Option<&str> {
    let (before, _) = text.split_once("matching implementation was not found")?;
    let (_, quoted) = before.split_once('`')?;
    quoted.split_once('`').map(|(name, _)| name)
}
