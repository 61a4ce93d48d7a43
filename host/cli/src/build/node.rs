//! TypeScript and JavaScript: their SDK has a builder of its own.

use std::ffi::OsString;

use serde::Deserialize;
use tokio::process::Command;

use super::bench::{self, Bench, failed, missing};
use super::project::Project;
use super::{About, Made};
use crate::failure::Failure;

const SDK: &str = "airlock-sdk";

/// From the project's folder, where npm puts what it installs.
const BUILDER: &str = "node_modules/.bin/airlock-ts";

/// What the builder says of what it built.
#[derive(Deserialize)]
struct Built {
    name: String,
    version: Option<String>,
    sdk: Sdk,
}

#[derive(Deserialize)]
struct Sdk {
    version: String,
}

pub async fn build(
    project: &Project,
    options: &[OsString],
    bench: &Bench<'_>,
) -> Result<Made, Failure> {
    if bench::find("node").is_none() {
        return Err(missing("Node.js", "see https://nodejs.org"));
    }
    let builder = project.folder.join(BUILDER);
    if !builder.exists() {
        let folder = crate::shell::quote(&project.folder.to_string_lossy()).into_owned();
        return Err(missing(
            "the SDK for TypeScript and JavaScript",
            &format!("(cd {folder} && npm install)"),
        ));
    }
    let component = project.folder.join("build/generated/tool.wasm");
    let mut command = Command::new(&builder);
    command
        .args(["build", ".", "--json", "--out"])
        .arg(&component);
    command.args(options).current_dir(&project.folder);
    let said = bench.run("Building with airlock-ts", &mut command).await?;
    let built: Built = serde_json::from_slice(&said)
        .map_err(|error| failed(format!("can't read what `airlock-ts` says: {error}")))?;
    let component = std::fs::read(&component)
        .map_err(|error| failed(format!("`airlock-ts` wrote no component: {error}")))?;
    let manifest = &project.manifest;
    Ok(Made {
        component,
        about: About {
            name: manifest.name.clone().unwrap_or(built.name),
            version: manifest.version.clone().or(built.version),
            sdk: Some((SDK, built.sdk.version)),
        },
    })
}
