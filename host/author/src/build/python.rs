//! Python, built by the SDK's own builder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use airlock_host::wants::About;
use airlock_render::shell;
use anyhow::Context;
use serde::Deserialize;
use tokio::process::Command;

use super::BuildOutput;
use super::manifest::joined;
use super::manifest::read_if_there;
use super::problem::{self, BuilderFailure};
use super::project::{Language, Project};
use super::sdk;
use super::toolchain::{self, Toolchain, failed, missing};
use crate::error::Error;

const SDK: &str = "airlock-tool";

/// The Python of a project's virtual environment.
const OWN: &str = ".venv/bin/python";

/// The used parts of `pyproject.toml`.
#[derive(Default, Deserialize)]
struct PyProject {
    #[serde(default)]
    project: Table,
    #[serde(default, rename = "dependency-groups")]
    groups: BTreeMap<String, Vec<toml::Value>>,
}

#[derive(Default, Deserialize)]
struct Table {
    name: Option<String>,
    version: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
    #[serde(default)]
    authors: Vec<Person>,
    license: Option<License>,
    #[serde(default)]
    urls: BTreeMap<String, String>,
    description: Option<String>,
}

#[derive(Deserialize)]
struct Person {
    name: Option<String>,
    email: Option<String>,
}

/// A licence: an SPDX expression, or in the old form a text or a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum License {
    Expression(String),
    Old { text: Option<String> },
}

impl Table {
    fn about(self) -> About {
        let authors = self.authors.into_iter().filter_map(|it| match it {
            Person {
                name: Some(name),
                email: Some(email),
            } => Some(format!("{name} <{email}>")),
            Person { name, email } => name.or(email),
        });
        let mut about = About::default();
        about.authors = joined(&authors.collect::<Vec<_>>());
        about.licenses = match self.license {
            Some(License::Expression(text)) => Some(text),
            // A whole licence is not an expression.
            Some(License::Old { text }) => text.filter(|it| it.lines().count() == 1),
            None => None,
        };
        // The names of addresses ignore case and punctuation.
        let is_homepage = |label: &str| {
            label
                .replace(['-', ' ', '_'], "")
                .eq_ignore_ascii_case("homepage")
        };
        let mut urls = self.urls.into_iter();
        about.homepage = urls
            .find(|(label, _)| is_homepage(label))
            .map(|(_, url)| url);
        about.name = self.name;
        about.version = self.version;
        about.description = self.description;
        about
    }
}

impl PyProject {
    /// Returns the project's requirement of the SDK, possibly with a version or a checkout.
    fn sdk(&self) -> &str {
        let grouped = self.groups.values().flatten();
        let named = self.project.dependencies.iter().map(String::as_str);
        named
            .chain(grouped.filter_map(|requirement| requirement.as_str()))
            .find(|requirement| is_sdk(requirement))
            .unwrap_or(SDK)
    }
}

/// Returns whether a requirement, which may include a version or a URL, is the SDK.
fn is_sdk(requirement: &str) -> bool {
    let behind = requirement.trim_start().strip_prefix(SDK);
    let goes_on = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    behind.is_some_and(|behind| !behind.starts_with(goes_on))
}

pub async fn build(
    project: &Project,
    options: &[OsString],
    toolchain: &Toolchain<'_>,
) -> Result<BuildOutput, Error> {
    let python = find_python(&project.folder)?;
    let described = read(&project.folder.join("pyproject.toml"))?;
    let Some(version) = sdk_version(&python, project, toolchain).await? else {
        let sdk = if sdk::is_kept(&project.folder, Language::Python) {
            project.folder.join(sdk::FOLDER).display().to_string()
        } else {
            described.sdk().to_owned()
        };
        let command = install_command(&project.folder, &python, &sdk);
        return Err(missing("the SDK for Python", &command));
    };
    let described = described.project;
    let component = project.folder.join("build/generated/tool.wasm");
    let folder = component.parent().unwrap_or(&project.folder);
    std::fs::create_dir_all(folder)
        .with_context(|| format!("could not make {}", folder.display()))
        .map_err(failed)?;

    let mut command = Command::new(&python);
    command.args(["-m", "airlock_tool", "build", "--json", "--output"]);
    command
        .arg(&component)
        .args(options)
        .current_dir(&project.folder);
    let ended = toolchain
        .run_to_its_end("Building with airlock-py", &mut command)
        .await?;
    if !ended.succeeded() {
        let failure = BuilderFailure::read(&ended.stdout);
        let (problems, trace) = match failure {
            Some(failure) => (failure.problems(), failure.trace),
            None => (Vec::new(), ended.said.clone()),
        };
        return Err(problem::tell(&problems, &trace, &ended, toolchain));
    }
    toolchain.pass_on(&ended.said);
    let component = std::fs::read(&component)
        .context("`airlock-py` wrote no component")
        .map_err(failed)?;
    Ok(BuildOutput {
        component,
        about: project.info(described.about(), Some((SDK, version))),
    })
}

/// Finds the Python of the project's environment, of the active one, or any.
fn find_python(folder: &Path) -> Result<PathBuf, Error> {
    let own = folder.join(OWN);
    if own.is_file() {
        return Ok(own);
    }
    ["python3", "python"]
        .into_iter()
        .find_map(toolchain::find)
        .ok_or_else(|| {
            let install = toolchain::packaged("python3-venv", "python", "https://www.python.org");
            missing("Python", &install)
        })
}

/// Returns the command that installs the SDK into the environment of this Python, or else into a
/// new one of the project: many systems don't allow packages next to their own.
fn install_command(folder: &Path, python: &Path, sdk: &str) -> String {
    let python = python.to_string_lossy();
    let is_own = *python == folder.join(OWN).to_string_lossy();
    let is_active = std::env::var_os("VIRTUAL_ENV").is_some_and(|active| !active.is_empty());
    if is_own || is_active {
        return shell::join([&*python, "-m", "pip", "install", sdk]);
    }
    let make = shell::join([&*python, "-m", "venv", ".venv"]);
    let install = shell::join([OWN, "-m", "pip", "install", sdk]);
    let folder = folder.to_string_lossy();
    format!("(cd {} && {make} && {install})", shell::quote(&folder))
}

/// Returns the SDK's version in this Python, if it is installed.
async fn sdk_version(
    python: &Path,
    project: &Project,
    toolchain: &Toolchain<'_>,
) -> Result<Option<String>, Error> {
    let look = "\
import importlib.metadata as metadata
try:
    print(metadata.version('airlock-tool'))
except metadata.PackageNotFoundError:
    pass";
    let mut command = Command::new(python);
    command.args(["-c", look]).current_dir(&project.folder);
    let said = toolchain.run("Looking for the SDK", &mut command).await?;
    let version = String::from_utf8_lossy(&said).trim().to_owned();
    Ok(Some(version).filter(|version| !version.is_empty()))
}

fn read(path: &Path) -> Result<PyProject, Error> {
    let Some(text) = read_if_there(path).map_err(failed)? else {
        return Ok(PyProject::default());
    };
    toml::from_str(&text)
        .with_context(|| format!("{} is not valid", path.display()))
        .map_err(Error::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sdk_is_installed_as_the_project_names_it() {
        let check = |text: &str, expected: &str| {
            let described: PyProject = toml::from_str(text).unwrap();
            assert_eq!(described.sdk(), expected, "{text}");
        };
        check("", "airlock-tool");
        check(
            "[project]\ndependencies = [\"airlock-tool-extra\", \"airlock-tool>=0.1\"]",
            "airlock-tool>=0.1",
        );
        check(
            "[dependency-groups]\ndev = [{ include-group = \"a\" }, \"airlock-tool @ file:///sdk\"]",
            "airlock-tool @ file:///sdk",
        );
    }

    #[test]
    fn the_command_installs_into_the_projects_environment() {
        let folder = Path::new("/my tools");
        let own = install_command(folder, &folder.join(OWN), "airlock-tool");
        assert_eq!(
            own,
            "'/my tools/.venv/bin/python' -m pip install airlock-tool"
        );
    }
}
