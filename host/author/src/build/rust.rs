//! Rust: cargo builds the component directly.

mod paths;
mod problems;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use airlock_host::wants::About;
use anyhow::{Context, anyhow};
use serde::Deserialize;
use tokio::process::Command;

use super::manifest::joined;
use super::problem;
use super::project::Project;
use super::toolchain::{self, Toolchain, failed, missing};
use super::{BuildOutput, ProjectInfo};
use crate::error::Error;

const TARGET: &str = "wasm32-wasip2";
const SDK: &str = "airlock-tool";

/// The used parts of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    #[serde(default)]
    authors: Vec<String>,
    license: Option<String>,
    homepage: Option<String>,
    repository: Option<String>,
    description: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

impl Package {
    fn about(&self) -> About {
        let mut about = About::default();
        about.name = Some(self.name.clone());
        about.version = Some(self.version.clone());
        about.authors = joined(&self.authors);
        about.licenses = self.license.clone();
        about.homepage = self.homepage.clone().or_else(|| self.repository.clone());
        about.description = self.description.clone();
        about
    }
}

#[derive(Deserialize)]
struct Target {
    crate_types: Vec<String>,
}

impl Target {
    fn makes_components(&self) -> bool {
        self.crate_types.iter().any(|name| name == "cdylib")
    }
}

/// A JSON message of `cargo build`.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact {
        manifest_path: PathBuf,
        target: Target,
        filenames: Vec<PathBuf>,
    },
    #[serde(other)]
    Other,
}

pub async fn build(
    project: &Project,
    options: &[OsString],
    toolchain: &Toolchain<'_>,
) -> Result<BuildOutput, Error> {
    if toolchain::find("cargo").is_none() {
        let install = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh";
        return Err(missing("cargo, Rust's builder,", install));
    }
    check_target(project, toolchain).await?;
    let manifest = project.folder.join("Cargo.toml");
    let metadata = metadata(project, options, toolchain).await?;
    let about = about(project, &manifest, &metadata)?;

    let mut cargo = cargo(project, "build");
    cargo.args(["--release", "--quiet", "--target", TARGET]);
    cargo.args(["--message-format", "json"]);
    cargo.args(options);
    let flags = flags(project, &metadata, toolchain).await?;
    paths::add(&mut cargo, &flags, &project.folder);
    let ended = toolchain
        .run_to_its_end("Compiling with cargo", &mut cargo)
        .await?;
    let diagnostics = problems::diagnostics(&ended.stdout);
    let rendered = problems::rendered(&diagnostics);
    if !ended.succeeded() {
        let found = problems::of(&diagnostics, &ended.said);
        let trace = format!("{rendered}\n{}", ended.said);
        return Err(problem::tell(&found, trace.trim_start(), &ended, toolchain));
    }
    toolchain.pass_on(&ended.said);
    toolchain.pass_on(&rendered);
    let component = component_of(&manifest, &ended.stdout)
        .ok_or_else(|| failed(anyhow!("cargo built no component")).with_advice(CDYLIB))?;
    let component = std::fs::read(&component)
        .with_context(|| format!("can't read {}", component.display()))
        .map_err(failed)?;
    Ok(BuildOutput { component, about })
}

const CDYLIB: &str =
    "a tool's Cargo.toml has a library of this type: [lib] crate-type = [\"cdylib\"]";

/// Returns a command that runs in the project's folder, so that its toolchain and configuration
/// apply.
fn cargo(project: &Project, command: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.arg(command).current_dir(&project.folder);
    cargo
}

async fn check_target(project: &Project, toolchain: &Toolchain<'_>) -> Result<(), Error> {
    let args = ["--print", "target-libdir", "--target", TARGET];
    let libraries = rustc(project, &args, toolchain).await?;
    let present = std::fs::read_dir(libraries.trim())
        .into_iter()
        .flatten()
        .flatten()
        .any(|file| file.file_name().to_string_lossy().starts_with("libstd-"));
    if present {
        Ok(())
    } else {
        Err(missing(
            "Rust's standard library for WebAssembly",
            "rustup target add wasm32-wasip2",
        ))
    }
}

/// Options that decide whether cargo may change its lock file and use the network. They must apply
/// to the first command too.
const LOCKING: [&str; 3] = ["--locked", "--offline", "--frozen"];

async fn metadata(
    project: &Project,
    options: &[OsString],
    toolchain: &Toolchain<'_>,
) -> Result<Metadata, Error> {
    let mut cargo = cargo(project, "metadata");
    cargo.args(["--format-version", "1", "--quiet"]);
    cargo.args(["--filter-platform", TARGET]);
    cargo.args(
        options
            .iter()
            .filter(|option| LOCKING.iter().any(|it| option == it)),
    );
    let metadata = toolchain.run("Reading Cargo.toml", &mut cargo).await?;
    serde_json::from_slice(&metadata)
        .context("can't read the output of `cargo metadata`")
        .map_err(failed)
}

async fn flags(
    project: &Project,
    metadata: &Metadata,
    toolchain: &Toolchain<'_>,
) -> Result<Vec<String>, Error> {
    let sysroot = rustc(project, &["--print", "sysroot"], toolchain).await?;
    let version = rustc(project, &["--version", "--verbose"], toolchain).await?;
    let (sysroot, commit) = (Path::new(sysroot.trim()), paths::commit(&version));
    Ok(paths::flags(metadata, sysroot, commit))
}

/// Runs the compiler for information about itself, in the project's folder like cargo.
async fn rustc(
    project: &Project,
    args: &[&str],
    toolchain: &Toolchain<'_>,
) -> Result<String, Error> {
    let mut rustc = Command::new("rustc");
    rustc.args(args).current_dir(&project.folder);
    let said = toolchain.run("Looking at the compiler", &mut rustc).await?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

fn about(project: &Project, manifest: &Path, metadata: &Metadata) -> Result<ProjectInfo, Error> {
    let same = |path: &Path| path == manifest || path.canonicalize().is_ok_and(|p| p == manifest);
    let package = metadata
        .packages
        .iter()
        .find(|package| same(&package.manifest_path));
    let Some(package) = package else {
        let error = anyhow!("{} is a workspace without a package", manifest.display());
        return Err(Error::usage(error).with_advice("build one of its members: airlock build DIR"));
    };
    if !package.targets.iter().any(Target::makes_components) {
        let error = anyhow!("the package {} builds no component", package.name);
        return Err(Error::usage(error).with_advice(CDYLIB));
    }
    let sdk = metadata.packages.iter().find(|package| package.name == SDK);
    let sdk = sdk.map(|sdk| (SDK, sdk.version.clone()));
    Ok(project.info(package.about(), sdk))
}

/// Returns the file that cargo built from the package's library.
fn component_of(manifest: &Path, said: &[u8]) -> Option<PathBuf> {
    said.split(|byte| *byte == b'\n').find_map(|line| {
        let Ok(Message::CompilerArtifact {
            manifest_path,
            target,
            filenames,
        }) = serde_json::from_slice(line)
        else {
            return None;
        };
        let same = manifest_path.canonicalize().is_ok_and(|p| p == manifest);
        let is_component = |file: &PathBuf| file.extension().is_some_and(|end| end == "wasm");
        if same && target.makes_components() {
            filenames.into_iter().find(is_component)
        } else {
            None
        }
    })
}
