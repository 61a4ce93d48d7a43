//! Keeps paths of the author's machine out of a component: panic messages include source paths,
//! even those of dependencies.

use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::{Metadata, TARGET};

/// The separator of flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: char = '\x1f';

/// A source of compiler flags. Cargo uses only the first source that has any.
#[derive(Debug, PartialEq, Eq)]
enum FlagSource {
    /// The environment, with its flags.
    Environment(Vec<String>),
    /// `target.wasm32-wasip2.rustflags` in cargo's configuration.
    Target,
    /// `build.rustflags` of its configuration.
    Build,
}

/// Makes cargo pass these flags to the compiler, in addition to the author's flags.
pub fn add(cargo: &mut Command, flags: &[String], project: &Path) {
    let place = FlagSource::find(project, |name| std::env::var(name).ok());
    // TOML has the same syntax as JSON for a list of strings.
    let list = || serde_json::Value::from(flags).to_string();
    match place {
        FlagSource::Environment(wanted) => {
            let all = [&wanted, flags].concat();
            cargo.env("CARGO_ENCODED_RUSTFLAGS", all.join(&SEPARATOR.to_string()))
        }
        FlagSource::Target => {
            cargo.args(["--config", &format!("target.{TARGET}.rustflags={}", list())])
        }
        FlagSource::Build => cargo.args(["--config", &format!("build.rustflags={}", list())]),
    };
}

/// Returns flags that rename the folders of dependencies, the project, the target folder and the
/// standard library. The last one that matches applies.
pub fn flags(metadata: &Metadata, sysroot: &Path, commit: &str) -> Vec<String> {
    let library = sysroot.join("lib/rustlib/src/rust");
    let packages = metadata.packages.iter().filter_map(|package| {
        let folder = package.manifest_path.parent()?;
        let name = format!("/cargo/{}-{}", package.name, package.version);
        Some((folder.to_owned(), name))
    });
    let others = [
        // This is the folder's name in a standard library without installed sources.
        (library, format!("/rustc/{commit}")),
        (metadata.workspace_root.clone(), "/project".to_owned()),
        (metadata.target_directory.clone(), "/target".to_owned()),
    ];
    let mut names: Vec<(PathBuf, String)> = packages.chain(others).collect();
    // If a folder lies in another one, the inner one applies.
    names.sort_by_key(|(folder, _)| folder.components().count());
    names
        .iter()
        .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()))
        .collect()
}

impl FlagSource {
    fn find(project: &Path, variable: impl Fn(&str) -> Option<String>) -> Self {
        if let Some(flags) = variable("CARGO_ENCODED_RUSTFLAGS") {
            let flags = flags.split(SEPARATOR).filter(|flag| !flag.is_empty());
            return FlagSource::Environment(flags.map(str::to_owned).collect());
        }
        if let Some(flags) = variable("RUSTFLAGS").filter(|flags| !flags.trim().is_empty()) {
            return FlagSource::Environment(flags.split_whitespace().map(str::to_owned).collect());
        }
        let in_environment = variable("CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS").is_some();
        let home = variable("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cargo")));
        let folders = project.ancestors().map(|folder| folder.join(".cargo"));
        let mut files = folders
            .chain(home)
            .flat_map(|folder| [folder.join("config.toml"), folder.join("config")]);
        if in_environment || files.any(|file| has_flags_for_the_target(&file)) {
            FlagSource::Target
        } else {
            FlagSource::Build
        }
    }
}

/// Returns whether a configuration has flags for this target, or for a set of targets that may
/// include it.
fn has_flags_for_the_target(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // Cargo itself reports a configuration that is wrong.
    let config: toml::Table = toml::from_str(&text).unwrap_or_default();
    let targets = config.get("target").and_then(|targets| targets.as_table());
    targets.into_iter().flatten().any(|(name, target)| {
        let is_meant = name == TARGET || name.starts_with("cfg(");
        is_meant && target.get("rustflags").is_some()
    })
}

/// Returns the commit in the output of `rustc --version --verbose`.
pub fn commit(said: &str) -> &str {
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "));
    line.unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_flags_stay() {
        let check = |variables: &[(&str, &str)], config: &str, expected: FlagSource| {
            let project = tempfile::tempdir().unwrap();
            let folder = project.path().join("tools/rename");
            std::fs::create_dir_all(project.path().join(".cargo")).unwrap();
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(project.path().join(".cargo/config.toml"), config).unwrap();
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name)?;
                Some(found.1.to_owned())
            };
            let found = FlagSource::find(&folder, variable);
            assert_eq!(found, expected, "{variables:?} {config}");
        };
        let environment = |flags: &[&str]| {
            FlagSource::Environment(flags.iter().map(|it| (*it).to_owned()).collect())
        };
        check(&[], "", FlagSource::Build);
        check(&[], "[build]\nrustflags = [\"--cfg=a\"]", FlagSource::Build);
        check(
            &[],
            "[target.wasm32-wasip2]\nrustflags = [\"--cfg=a\"]",
            FlagSource::Target,
        );
        check(
            &[],
            "[target.'cfg(all())']\nrustflags = [\"--cfg=a\"]",
            FlagSource::Target,
        );
        check(
            &[],
            "[target.x86_64-unknown-linux-gnu]\nrustflags = [\"--cfg=a\"]",
            FlagSource::Build,
        );
        check(&[], "not TOML", FlagSource::Build);
        check(
            &[("CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS", "-v")],
            "",
            FlagSource::Target,
        );
        check(&[("RUSTFLAGS", " ")], "", FlagSource::Build);
        check(
            &[("RUSTFLAGS", "--cfg a")],
            "",
            environment(&["--cfg", "a"]),
        );
        let encoded = ("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1fa b");
        check(
            &[encoded, ("RUSTFLAGS", "c")],
            "",
            environment(&["--cfg", "a b"]),
        );
    }

    #[test]
    fn every_folder_gets_a_name_and_the_inner_one_counts() {
        let metadata = serde_json::json!({
            "workspace_root": "/home/ada/tools",
            "target_directory": "/home/ada/tools/target",
            "packages": [
                {"name": "serde", "version": "1.0.1", "manifest_path": "/home/ada/.cargo/registry/src/x/serde-1.0.1/Cargo.toml", "targets": []},
                {"name": "rename", "version": "0.1.0", "manifest_path": "/home/ada/tools/rename/Cargo.toml", "targets": []},
            ],
        });
        let metadata: Metadata = serde_json::from_value(metadata).unwrap();
        let commit = commit("rustc 1.95.0\nbinary: rustc\ncommit-hash: abc\nhost: x\n");
        assert_eq!(
            flags(&metadata, Path::new("/usr"), commit),
            [
                "--remap-path-prefix=/home/ada/tools=/project",
                "--remap-path-prefix=/home/ada/tools/rename=/cargo/rename-0.1.0",
                "--remap-path-prefix=/home/ada/tools/target=/target",
                "--remap-path-prefix=/usr/lib/rustlib/src/rust=/rustc/abc",
                "--remap-path-prefix=/home/ada/.cargo/registry/src/x/serde-1.0.1=/cargo/serde-1.0.1",
            ]
        );
    }
}
