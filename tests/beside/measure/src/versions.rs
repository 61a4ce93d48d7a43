//! Which version of everything was measured, as the lock file and the programs themselves say.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use serde::Deserialize;

use crate::library::output;
use crate::place::Place;

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Lock {
    fn read() -> anyhow::Result<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
        Ok(toml::from_str(&fs::read_to_string(path)?)?)
    }

    /// The version that `by` has of `name`, or the only one.
    fn version(&self, name: &str, by: Option<&str>) -> anyhow::Result<&str> {
        let missing = || format!("{name} is not in the lock file");
        let named = |package: &&Package| package.name == name;
        let Some(by) = by else {
            return Ok(&self
                .package
                .iter()
                .find(named)
                .with_context(missing)?
                .version);
        };
        let by = self.package.iter().find(|package| package.name == by);
        let by = by.with_context(missing)?;
        // `NAME`, or `NAME VERSION` where there are several.
        let mut words = by.dependencies.iter().map(|it| it.split(' '));
        let words = words.find_map(|mut words| (words.next() == Some(name)).then_some(words));
        match words.with_context(missing)?.next() {
            Some(version) => Ok(version),
            None => self.version(name, None),
        }
    }
}

/// One sentence each.
pub fn all(place: &Place) -> anyhow::Result<Vec<String>> {
    let lock = Lock::read()?;
    let of = |name, by| lock.version(name, by);
    let said = |command: &mut Command| -> anyhow::Result<String> {
        Ok(output(place, command)?.trim().to_owned())
    };
    let code = "import importlib.metadata, platform; \
                print(importlib.metadata.version('mcp'), platform.python_version())";
    let python = said(place.command(&place.python).args(["-c", code]))?;
    let (mcp, python) = python.split_once(' ').context("it prints two")?;
    let airlock = said(place.command(&place.airlock).arg("--version"))?;
    let rustc = said(place.command("rustc").arg("--version"))?;
    Ok(vec![
        format!(
            "{airlock} with wasmtime {}; extism {} with wasmtime {}; wasmtime {}; rmcp {}, which is also every server's client; mcp {mcp} on Python {python}; {rustc}.",
            of("wasmtime", Some("airlock-host"))?,
            of("extism", None)?,
            of("wasmtime", Some("extism"))?,
            of("wasmtime", Some("beside-plain"))?,
            of("rmcp", None)?,
        ),
        format!(
            "The component has {}, the plugin for Extism {}.",
            kilobytes(&place.component)?,
            kilobytes(&place.plugin)?,
        ),
    ])
}

fn kilobytes(path: &Path) -> anyhow::Result<String> {
    Ok(format!("{:.0} KB", fs::metadata(path)?.len() as f64 / 1e3))
}
