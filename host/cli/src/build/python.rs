//! Python: its SDK has a builder of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio::process::Command;

use super::bench::{self, Bench, failed, missing};
use super::project::Project;
use super::{About, Made};
use crate::failure::Failure;

const SDK: &str = "airlock-sdk";

/// `pyproject.toml`, as far as it counts here.
#[derive(Default, Deserialize)]
struct PyProject {
    #[serde(default)]
    project: Table,
}

#[derive(Default, Deserialize)]
struct Table {
    name: Option<String>,
    version: Option<String>,
}

pub async fn build(
    project: &Project,
    options: &[OsString],
    bench: &Bench<'_>,
) -> Result<Made, Failure> {
    let python = find_python(&project.folder)?;
    let version = sdk_version(&python, project, bench).await?;
    let described = read(&project.folder.join("pyproject.toml"))?.project;
    let component = project.folder.join("build/generated/tool.wasm");
    let folder = component.parent().unwrap_or(&project.folder);
    std::fs::create_dir_all(folder)
        .map_err(|error| failed(format!("could not make {}: {error}", folder.display())))?;

    let mut command = Command::new(&python);
    command.args(["-m", "airlock", "build", "--quiet", "--output"]);
    command
        .arg(&component)
        .args(options)
        .current_dir(&project.folder);
    bench.run("Building with airlock-py", &mut command).await?;
    let component = std::fs::read(&component)
        .map_err(|error| failed(format!("`airlock-py` wrote no component: {error}")))?;
    let manifest = &project.manifest;
    let name = manifest.name.clone().or(described.name);
    Ok(Made {
        component,
        about: About {
            name: name.unwrap_or_else(|| project.folder_name()),
            version: manifest.version.clone().or(described.version),
            sdk: Some((SDK, version)),
        },
    })
}

/// The project's own environment, the one that is active, or any.
fn find_python(folder: &Path) -> Result<PathBuf, Failure> {
    let own = folder.join(".venv/bin/python");
    if own.is_file() {
        return Ok(own);
    }
    ["python3", "python"]
        .into_iter()
        .find_map(bench::find)
        .ok_or_else(|| missing("Python", "see https://www.python.org"))
}

async fn sdk_version(
    python: &Path,
    project: &Project,
    bench: &Bench<'_>,
) -> Result<String, Failure> {
    let look = "\
import importlib.metadata as metadata
try:
    print(metadata.version('airlock-sdk'))
except metadata.PackageNotFoundError:
    pass";
    let mut command = Command::new(python);
    command.args(["-c", look]).current_dir(&project.folder);
    let said = bench.run("Looking for the SDK", &mut command).await?;
    let version = String::from_utf8_lossy(&said).trim().to_owned();
    match version.is_empty() {
        false => Ok(version),
        true => {
            let python = crate::shell::quote(&python.to_string_lossy()).into_owned();
            Err(missing(
                "the SDK for Python",
                &format!("{python} -m pip install airlock-sdk"),
            ))
        }
    }
}

fn read(path: &Path) -> Result<PyProject, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(PyProject::default());
        }
        Err(error) => {
            return Err(failed(format!("can't read {}: {error}", path.display())));
        }
    };
    toml::from_str(&text)
        .map_err(|error| Failure::usage(format!("{} is wrong: {error}", path.display())))
}
