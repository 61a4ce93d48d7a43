//! TypeScript and JavaScript, built by the SDK's own builder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use airlock_host::wants::About;
use airlock_render::shell;
use anyhow::{Context, anyhow};
use serde::Deserialize;
use serde_json::Value;
use tokio::process::Command;

use super::BuildOutput;
use super::problem::{self, BuilderFailure};
use super::project::{Language, Project};
use super::sdk;
use super::toolchain::{self, Toolchain, failed, missing};
use crate::error::{Error, ErrorKind};

const SDK: &str = "airlock-tool";

/// The builder's path, relative to the project's folder or one above it: in a workspace of several
/// packages, npm installs into the top folder.
const BUILDER: &str = "node_modules/.bin/airlock-ts";

/// The first Node.js version that the SDK's builder supports.
const OLDEST: u32 = 20;

const SITE: &str = "https://nodejs.org";

/// The builder's description of the result.
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

/// The used parts of `package.json`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Package {
    dependencies: BTreeMap<String, Value>,
    dev_dependencies: BTreeMap<String, Value>,
    author: Option<Person>,
    license: Option<Value>,
    homepage: Option<String>,
    description: Option<String>,
}

/// An author: a text, or its parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Person {
    Text(String),
    Parts { name: String, email: Option<String> },
}

impl Package {
    /// Reads the file, which may be missing if `airlock.toml` sets the language.
    fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join("package.json");
        let Ok(text) = std::fs::read(&path) else {
            return Ok(None);
        };
        serde_json::from_slice(&text)
            .with_context(|| format!("{} is not valid", path.display()))
            .map_err(Error::usage)
    }

    fn about(self) -> About {
        let mut about = About::default();
        about.authors = self.author.map(|author| match author {
            Person::Text(text) => text,
            Person::Parts { name, email: None } => name,
            Person::Parts {
                name,
                email: Some(email),
            } => format!("{name} <{email}>"),
        });
        // Old packages have an object or a list here.
        about.licenses = self.license.and_then(|it| it.as_str().map(str::to_owned));
        about.homepage = self.homepage;
        about.description = self.description;
        about
    }
}

pub async fn build(
    project: &Project,
    options: &[OsString],
    toolchain: &Toolchain<'_>,
) -> Result<BuildOutput, Error> {
    check_version(toolchain).await?;
    let builder = find_builder(&project.folder)?;
    let component = project.folder.join("build/generated/tool.wasm");
    let mut command = Command::new(&builder);
    command
        .args(["build", ".", "--json", "--out"])
        .arg(&component);
    command.args(options).current_dir(&project.folder);
    let ended = toolchain
        .run_to_its_end("Building with airlock-ts", &mut command)
        .await?;
    if !ended.succeeded() {
        let failure = BuilderFailure::read(&ended.stdout);
        let problems = failure.map(|failure| failure.problems());
        return Err(problem::tell(
            &problems.unwrap_or_default(),
            &ended.said,
            &ended,
            toolchain,
        ));
    }
    toolchain.pass_on(&ended.said);
    let built: Built = serde_json::from_slice(&ended.stdout)
        .context("can't read the output of `airlock-ts`")
        .map_err(failed)?;
    let component = std::fs::read(&component)
        .context("`airlock-ts` wrote no component")
        .map_err(failed)?;
    let mut about = Package::read(&project.folder)?.unwrap_or_default().about();
    about.name = Some(built.name);
    about.version = built.version;
    Ok(BuildOutput {
        component,
        about: project.info(about, Some((SDK, built.sdk.version))),
    })
}

async fn check_version(toolchain: &Toolchain<'_>) -> Result<(), Error> {
    let install = toolchain::packaged("nodejs npm", "node", SITE);
    let Some(node) = toolchain::find("node") else {
        return Err(missing("Node.js", &install));
    };
    let mut looking = Command::new(node);
    looking.arg("--version");
    let said = toolchain.run("Looking for Node.js", &mut looking).await?;
    let version = String::from_utf8_lossy(&said).trim().to_owned();
    if is_new_enough(&version) {
        Ok(())
    } else {
        Err(failed(anyhow!(
            "Node.js {version} is too old: tools need {OLDEST} or later"
        ))
        .with_advice(format!("a newer one is at {SITE}")))
    }
}

/// Returns whether a version is supported. Versions with unknown names are accepted.
fn is_new_enough(version: &str) -> bool {
    let major = version.trim_start_matches('v').split('.').next();
    let major: Option<u32> = major.and_then(|major| major.parse().ok());
    major.is_none_or(|major| major >= OLDEST)
}

fn find_builder(folder: &Path) -> Result<PathBuf, Error> {
    let mut builders = folder.ancestors().map(|folder| folder.join(BUILDER));
    if let Some(builder) = builders.find(|builder| builder.exists()) {
        return Ok(builder);
    }
    if toolchain::find("npm").is_none() {
        return Err(missing("npm", &toolchain::packaged("npm", "node", SITE)));
    }
    let within = |folder: &Path, command: &str| {
        let folder = shell::quote(&folder.to_string_lossy()).into_owned();
        format!("(cd {folder} && {command})")
    };
    let installed = folder.join("node_modules").join(SDK);
    // npm links to a checkout as it is, and builds nothing there.
    if installed.is_symlink()
        && let Ok(checkout) = installed.canonicalize()
    {
        let error = anyhow!("the SDK in {} is not built", checkout.display());
        let command = within(&checkout, "npm install && npm run build");
        return Err(Error::new(ErrorKind::MissingTool, error)
            .with_advice(format!("to build it: {command}")));
    }
    let command = match names_sdk(folder)? {
        true => "npm install".to_owned(),
        false if sdk::is_kept(folder, Language::TypeScript) => {
            format!("npm install --save-dev ./{}", sdk::NODE_ARCHIVE)
        }
        false => format!("npm install --save-dev {SDK}"),
    };
    Err(missing(
        "the SDK for TypeScript and JavaScript",
        &within(folder, &command),
    ))
}

/// Returns whether `npm install` would install the SDK.
fn names_sdk(folder: &Path) -> Result<bool, Error> {
    let Some(package) = Package::read(folder)? else {
        return Ok(false);
    };
    let named = [&package.dependencies, &package.dev_dependencies];
    Ok(named.iter().any(|packages| packages.contains_key(SDK)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_of_node_are_told_from_new_ones() {
        let check = |version, expected| assert_eq!(is_new_enough(version), expected, "{version}");
        check("v18.19.1", false);
        check("v20.0.0", true);
        check("v24.1.0", true);
        check("nightly", true);
    }

    #[test]
    fn the_sdk_is_looked_for_among_what_a_package_needs() {
        let check = |text: &str, expected: Result<bool, &str>| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("package.json"), text).unwrap();
            match (names_sdk(folder.path()), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(failure), Err(part)) => {
                    let said = failure.to_string();
                    assert!(said.contains(part), "{said}");
                }
                (found, expected) => panic!("{text}: {:?}, not {expected:?}", found.ok()),
            }
        };
        check(
            r#"{"devDependencies": {"airlock-tool": "^0.1.0"}}"#,
            Ok(true),
        );
        check(r#"{"dependencies": {"airlock-tool": "^0.1.0"}}"#, Ok(true));
        check(r#"{"dependencies": {"zod": "^4.0.0"}}"#, Ok(false));
        check("{}", Ok(false));
        check("{", Err("package.json is not valid"));
    }
}
