//! Whether a component fits the world, and if not, which item doesn't.

use super::compile::outline::Outline;

/// The version of the package `airlock:tool` that this host implements.
pub const WORLD_VERSION: &str = "0.1.0";

const PACKAGE: &str = "airlock:tool/";
const EXPORTS: [&str; 2] = ["tool", "resolver"];
const IMPORTS: [&str; 3] = ["host", "pending-actions", "types"];

/// The interfaces of WASI 0.2 that this host offers; `instance::linker` has what is behind them.
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

/// What the component's outline says about it.
pub(super) struct Fit {
    /// The version of the package that it was built for.
    pub version: String,
    /// What it imports, sorted.
    pub imports: Vec<String>,
}

/// Finds the item that doesn't fit by its name and version, before anything is compiled; whether the types behind the names fit is for the linker.
pub(super) fn check(mut outline: Outline) -> Result<Fit, String> {
    let exports: Vec<&str> = outline.exports.iter().map(String::as_str).collect();
    outline.imports.sort_by(|a, b| a.name.cmp(&b.name));
    for wanted in EXPORTS {
        find_export(&exports, wanted)?;
    }
    for import in &outline.imports {
        check_import(&import.name)?;
    }
    for import in &outline.imports {
        if import.needs_host && !is_offered(&import.name) {
            return Err(not_offered(&import.name));
        }
    }
    let version = exports.iter().find_map(|name| {
        let (_, version) = name.strip_prefix(PACKAGE)?.split_once('@')?;
        Some(version.to_owned())
    });
    Ok(Fit {
        version: version.unwrap_or_else(|| WORLD_VERSION.to_owned()),
        imports: outline
            .imports
            .into_iter()
            .map(|import| import.name)
            .collect(),
    })
}

/// Of the world's own package only what [`check_import`] knows is left here. Patches of a version of WASI are the linker's to tell.
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

fn find_export(exports: &[&str], wanted: &str) -> Result<(), String> {
    let found = exports.iter().find_map(|name| {
        let (interface, version) = split(name.strip_prefix(PACKAGE)?);
        (interface == wanted).then_some((name, version))
    });
    match found {
        Some((_, version)) if is_compatible(version) => Ok(()),
        Some((name, _)) => Err(format!(
            "it exports `{name}`, and this host calls `{PACKAGE}{wanted}@{WORLD_VERSION}`"
        )),
        None => Err(format!(
            "it doesn't export `{PACKAGE}{wanted}@{WORLD_VERSION}`"
        )),
    }
}

fn check_import(import: &str) -> Result<(), String> {
    let Some(rest) = import.strip_prefix(PACKAGE) else {
        return Ok(());
    };
    let (interface, version) = split(rest);
    if !IMPORTS.contains(&interface) {
        return Err(format!("it imports `{import}`, which is not in the world"));
    }
    if !is_compatible(version) {
        return Err(format!(
            "it imports `{import}`, and this host offers `{PACKAGE}{interface}@{WORLD_VERSION}`"
        ));
    }
    Ok(())
}

fn split(name: &str) -> (&str, &str) {
    name.split_once('@').unwrap_or((name, "without a version"))
}

/// Before 1.0 a minor version may change anything, and a patch nothing.
fn is_compatible(version: &str) -> bool {
    version
        .strip_prefix("0.1.")
        .is_some_and(|patch| patch.parse::<u32>().is_ok())
}

/// What the linker says when a component imports something unknown, or with another type, in our words.
pub(super) fn explain_link_error(error: &wasmtime::Error) -> String {
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
