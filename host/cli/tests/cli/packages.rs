//! Which packages our projects, documents and messages name. A name that is not ours is somebody
//! else's to fill: who follows a guide, or builds a new project, would install what they put there.

mod names;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::airlock::airlock_in;
use crate::toolchain::root;
use names::{CRATES, GO, MODULES, NPM, PYPI, REGISTRIES, Registry, THEIRS};

impl Registry {
    #[track_caller]
    fn check(&self, package: &str, place: &str) {
        assert!(
            self.ours.contains(&package) || self.others.contains(&package),
            "{place} names `{package}` of {}, which is neither ours nor one that is known here",
            self.name
        );
    }
}

/// Every text of the sources, with its path from their root.
fn texts() -> Vec<(String, String)> {
    let listed = Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(listed.status.success());
    let names = String::from_utf8(listed.stdout).unwrap();
    let read = |name: &str| {
        let text = fs::read_to_string(root().join(name)).ok()?;
        Some((name.to_owned(), text))
    };
    let texts: Vec<_> = names.lines().filter_map(read).collect();
    assert!(texts.len() > 500, "{}", texts.len());
    texts
}

/// What a line installs: the words behind a command that are packages, as far as they are names and
/// nothing to fill in.
fn installed(line: &str, command: &str) -> Vec<String> {
    let mut packages = Vec::new();
    for (at, _) in line.match_indices(command) {
        let before = line[..at].chars().next_back();
        let rest = &line[at + command.len()..];
        if before.is_some_and(|c| c.is_alphanumeric() || c == '-') || !rest.starts_with(' ') {
            continue;
        }
        let mut words = rest.split(' ').filter(|word| !word.is_empty());
        let mut is_value = false;
        for word in &mut words {
            match word {
                // Of what is there already.
                "--no-install" => break,
                "--group" | "--path" | "--target" | "--editable" => is_value = true,
                _ if is_value => is_value = false,
                _ if word.starts_with('-') => {}
                _ => match package(word) {
                    Some(package) => packages.push(package),
                    None => break,
                },
            }
            // What comes next is the package's own.
            if command == "npx" && !packages.is_empty() {
                break;
            }
            if word.contains(['`', ';', ')']) || word.ends_with(['"', ',', '.', ':', '\\']) {
                break;
            }
        }
    }
    packages
}

/// The package that a word names, without a version behind it.
fn package(word: &str) -> Option<String> {
    let word = word.trim_start_matches(['\'', '"']);
    let scope = word.starts_with('@');
    let name = word.strip_prefix('@').unwrap_or(word);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let name: String = name.chars().take_while(|c| is_part(*c)).collect();
    let name = name.trim_end_matches('.');
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        .then(|| format!("{}{name}", if scope { "@" } else { "" }))
}

#[test]
fn what_a_line_installs_is_found() {
    let check = |line: &str, command: &str, expected: &[&str]| {
        assert_eq!(installed(line, command), expected, "{line}");
    };
    check("$ pip install one two==1", "pip install", &["one", "two"]);
    check("with `pip install one`, or two", "pip install", &["one"]);
    check("pip install 'one @ file:///x' two", "pip install", &["one"]);
    check("npm install --save-dev @a/b@^1", "npm install", &["@a/b"]);
    check("npm install {SDK}", "npm install", &[]);
    check("npm install && npm run build", "npm install", &[]);
    check("pip install --group dev", "pip install", &[]);
    check("npx one", "npx", &["one"]);
    check("npx @a/one --list tools/list", "npx", &["@a/one"]);
    check("npx --no-install one", "npx", &[]);
    check("`cargo install --path a/b` puts", "cargo install", &[]);
}

#[test]
fn texts_install_what_is_ours_or_known() {
    let mut seen = 0;
    for (file, text) in texts() {
        // This one has commands that install nothing.
        if file.ends_with("tests/cli/packages.rs") {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            for registry in REGISTRIES {
                for command in registry.commands {
                    for package in installed(line, command) {
                        registry.check(&package, &format!("{file}:{}", index + 1));
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// What stands in the templates, and what is filled in.
#[test]
fn new_projects_depend_on_what_is_ours_or_known() {
    for (language, manifest, registry) in [
        ("rust", "Cargo.toml", &CRATES),
        ("ts", "package.json", &NPM),
        ("js", "package.json", &NPM),
        ("python", "pyproject.toml", &PYPI),
        ("go", "go.mod", &GO),
    ] {
        let folder = TempDir::new().unwrap();
        let ran = airlock_in(folder.path(), &["new", "a", "--lang", language]).run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        let text = fs::read_to_string(folder.path().join("a").join(manifest)).unwrap();
        let packages = dependencies(manifest, &text);
        // Python's is a folder that pip is given, and which no manifest names.
        let names_sdk = packages.contains(&"airlock-tool".to_owned());
        assert_eq!(names_sdk, language != "python", "{text}");
        for package in packages {
            registry.check(
                &package,
                &format!("{manifest} of a new project in {language}"),
            );
        }
    }
}

#[test]
fn manifests_depend_on_what_is_ours_or_known() {
    let mut seen = 0;
    for (file, text) in texts() {
        let name = Path::new(&file).file_name().unwrap().to_str().unwrap();
        let registry = match name {
            "Cargo.toml" => &CRATES,
            "package.json" => &NPM,
            "pyproject.toml" => &PYPI,
            "go.mod" => &GO,
            _ => continue,
        };
        for package in dependencies(name, &text) {
            // What else Rust's depend on is in the lock files, and `cargo deny` looks at it.
            let own = ["airlock-tests", "airlock-store-suite"].contains(&package.as_str());
            if name == "Cargo.toml" && (own || !package.starts_with("airlock")) {
                continue;
            }
            registry.check(&package, &file);
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

/// The packages that a manifest names, of whichever kind of dependency.
fn dependencies(manifest: &str, text: &str) -> Vec<String> {
    let named = |table: &Value| -> Vec<String> {
        let entries = table.as_object().into_iter().flatten();
        entries.map(|(name, _)| name.clone()).collect()
    };
    let required = |list: &Value| -> Vec<String> {
        let requirements = list.as_array().into_iter().flatten();
        requirements
            .filter_map(|text| package(text.as_str()?))
            .collect()
    };
    match manifest {
        "Cargo.toml" => {
            let described: Value = toml::from_str(text).unwrap();
            let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
            [&described, &described["workspace"]]
                .into_iter()
                .flat_map(|of| kinds.map(|kind| named(&of[kind])))
                .flatten()
                .collect()
        }
        "package.json" => {
            let described: Value = serde_json::from_str(text).unwrap();
            let kinds = [
                "dependencies",
                "devDependencies",
                "peerDependencies",
                "optionalDependencies",
            ];
            kinds
                .iter()
                .flat_map(|kind| named(&described[kind]))
                .collect()
        }
        "pyproject.toml" => {
            let described: Value = toml::from_str(text).unwrap();
            let groups = described["dependency-groups"].as_object();
            let mut packages = required(&described["project"]["dependencies"]);
            packages.extend(required(&described["build-system"]["requires"]));
            packages.extend(
                groups
                    .into_iter()
                    .flatten()
                    .flat_map(|(_, list)| required(list)),
            );
            packages
        }
        _ => text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("require "))
            .filter_map(package)
            .collect(),
    }
}

#[test]
fn what_is_imported_is_ours() {
    let mut seen = 0;
    for (file, text) in texts() {
        let name = Path::new(&file).file_name().unwrap().to_str().unwrap();
        let is_read = [".md", ".rs", ".py", ".ts", ".js", ".go"]
            .iter()
            .any(|end| name.ends_with(end));
        if !is_read || file.ends_with("tests/cli/packages.rs") {
            continue;
        }
        for line in text.lines() {
            let line = line.trim_start_matches(|c: char| "/!# ".contains(c));
            let Some(module) = imported(line) else {
                continue;
            };
            // The bindings of the world, which are a module of whoever makes them.
            if name.ends_with(".rs") && line.starts_with("use airlock::tool::") {
                continue;
            }
            seen += 1;
            assert!(MODULES.contains(&module), "{file} imports {module}: {line}");
        }
    }
    assert!(seen > 300, "{seen}");
}

/// The module of ours, or with a name like those of ours, that a line in Rust or Python imports.
fn imported(line: &str) -> Option<&str> {
    let rest = ["use ", "import ", "from "]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let module = &rest[..end.unwrap_or(rest.len())];
    module.starts_with("airlock").then_some(module)
}

#[test]
fn names_of_others_stand_nowhere() {
    for (file, text) in texts() {
        // Which tells whose they are.
        if file == "RELEASING.md" {
            continue;
        }
        for (first, second) in THEIRS {
            let name = format!("{first}{second}");
            assert!(!text.contains(&name), "{file} has {name}");
        }
    }
}
