//! Whether a component fits the world, and if not, which item doesn't.

use wasmtime::component::Component;

/// The version of the package `airlock:tool` that this host implements.
pub const WORLD_VERSION: &str = "0.1.0";

const PACKAGE: &str = "airlock:tool/";
const EXPORTS: [&str; 2] = ["tool", "resolver"];
const IMPORTS: [&str; 3] = ["host", "pending-actions", "types"];

/// What the component's type says about it.
pub(super) struct Fit {
    /// The version of the package that it was built for.
    pub version: String,
    /// What it imports, sorted.
    pub imports: Vec<String>,
}

/// Finds the item that doesn't fit by its name and version; whether the types behind the names fit is for the linker.
pub(super) fn check(engine: &wasmtime::Engine, component: &Component) -> Result<Fit, String> {
    let component_type = component.component_type();
    let exports: Vec<&str> = component_type
        .exports(engine)
        .map(|(name, _)| name)
        .collect();
    let mut imports: Vec<String> = component_type
        .imports(engine)
        .map(|(name, _)| name.to_owned())
        .collect();
    imports.sort();
    for wanted in EXPORTS {
        find_export(&exports, wanted)?;
    }
    for import in &imports {
        check_import(import)?;
    }
    let version = exports.iter().find_map(|name| {
        let (_, version) = name.strip_prefix(PACKAGE)?.split_once('@')?;
        Some(version.to_owned())
    });
    Ok(Fit {
        version: version.unwrap_or_else(|| WORLD_VERSION.to_owned()),
        imports,
    })
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
        Some(name) => format!("it imports `{name}`, which this host does not offer"),
        None => text,
    }
}

fn unknown_import(text: &str) -> Option<&str> {
    let (before, _) = text.split_once("matching implementation was not found")?;
    let (_, quoted) = before.split_once('`')?;
    quoted.split_once('`').map(|(name, _)| name)
}
