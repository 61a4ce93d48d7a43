//! What is published is whole: it says what it is, and has the licence's text and all that it is
//! compiled of. `tests/check-packages` builds each from its archive alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What cargo says to these arguments.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--locked", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    String::from_utf8(output.stdout).unwrap()
}

/// A crate that is published.
struct Package {
    name: String,
    /// Its manifest, as cargo reads it.
    described: Value,
    folder: PathBuf,
    /// What cargo packs, with paths from the folder.
    files: BTreeSet<PathBuf>,
}

impl Package {
    fn read(&self, file: &Path) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap()
    }
}

fn published() -> Vec<Package> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let all = metadata["packages"].as_array().unwrap().iter();
    let published = all.filter(|package| package["publish"].is_null());
    let packages: Vec<Package> = published
        .map(|package| {
            let name = package["name"].as_str().unwrap();
            let manifest = Path::new(package["manifest_path"].as_str().unwrap());
            let list = ["package", "--list", "--no-verify", "--allow-dirty"];
            let files = cargo(&[&list[..], &["--package", name]].concat());
            Package {
                name: name.to_owned(),
                described: package.clone(),
                folder: manifest.parent().unwrap().to_owned(),
                files: files.lines().map(PathBuf::from).collect(),
            }
        })
        .collect();
    assert!(packages.len() >= 12, "{}", packages.len());
    packages
}

/// Python's package finds it by its name. npm's gets it when it is built, which
/// `tests/check-packages` looks at.
#[test]
fn every_package_has_the_text_of_the_licence() {
    let ours = fs::read_to_string(root().join("LICENSE")).unwrap();
    assert!(ours.contains("Apache License"));
    for package in published() {
        assert!(
            package.files.contains(Path::new("LICENSE")),
            "{}",
            package.name
        );
        assert_eq!(package.read(Path::new("LICENSE")), ours, "{}", package.name);
    }
    let python = fs::read_to_string(root().join("sdk/python/LICENSE")).unwrap();
    assert_eq!(python, ours);
}

/// Of crates.io's list, which takes no others.
const CATEGORIES: [&str; 14] = [
    "api-bindings",
    "command-line-utilities",
    "cryptography",
    "data-structures",
    "database",
    "development-tools",
    "development-tools::build-utils",
    "development-tools::testing",
    "filesystem",
    "os::unix-apis",
    "text-processing",
    "value-formatting",
    "wasm",
    "web-programming::http-client",
];

#[test]
fn every_crate_says_what_it_is() {
    for package in published() {
        let (name, described) = (&package.name, &package.described);
        let texts = |key: &str| -> Vec<&str> {
            let list = described[key].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).collect()
        };
        assert!(described["description"].is_string(), "{name}");
        assert_eq!(described["license"], "Apache-2.0", "{name}");
        assert_eq!(described["readme"], "README.md", "{name}");
        assert!(package.files.contains(Path::new("README.md")), "{name}");
        // Both as crates.io takes them.
        let keywords = texts("keywords");
        assert!((3..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        assert!(keywords.iter().all(|word| word.len() <= 20), "{name}");
        let categories = texts("categories");
        assert!((1..=5).contains(&categories.len()), "{name}");
        for category in categories {
            assert!(CATEGORIES.contains(&category), "{name}: {category}");
        }
    }
}

#[test]
fn packages_for_other_languages_say_what_they_are() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let npm: Value = serde_json::from_str(&read("sdk/ts/package.json")).unwrap();
    assert!(npm["description"].is_string());
    assert_eq!(npm["license"], "Apache-2.0");
    assert!(
        npm["keywords"]
            .as_array()
            .is_some_and(|words| words.len() >= 3)
    );
    let python = read("sdk/python/pyproject.toml");
    for line in [
        "description = \"",
        "license = \"Apache-2.0\"",
        "readme = \"README.md\"",
        "keywords = [\"",
    ] {
        let is_there = python.lines().any(|text| text.starts_with(line));
        assert!(is_there, "{line}");
    }
    // npm's is put in by its name.
    assert!(root().join("sdk/ts/README.md").is_file());
}

#[test]
fn what_a_package_is_compiled_of_is_in_it() {
    let mut seen = 0;
    for package in published() {
        let is_source = |file: &&PathBuf| file.extension().is_some_and(|end| end == "rs");
        for file in package.files.iter().filter(is_source) {
            for (from, path) in paths(&package.read(file)) {
                let from = match from {
                    Begins::AtTheSource => file.parent().unwrap(),
                    Begins::AtTheManifest => Path::new(""),
                };
                let problem = format!("{}: {} reads {path}", package.name, file.display());
                let path = within(&from.join(path)).expect(&problem);
                // What is read may be a folder, or have a part that a macro fills in.
                let is_packed = package.files.iter().any(|file| file.starts_with(&path));
                assert!(is_packed, "{problem}");
                seen += 1;
            }
        }
    }
    assert!(seen > 12, "{seen}");
}

enum Begins {
    AtTheSource,
    AtTheManifest,
}

/// The paths that macros of this source read, as far as they are written out.
fn paths(text: &str) -> Vec<(Begins, &str)> {
    let behind = |mark: &str| -> Vec<&str> {
        let found = text.match_indices(mark);
        found.map(|(at, _)| &text[at + mark.len()..]).collect()
    };
    let literal = |text: &str| text.split_once('"').map_or(0, |(literal, _)| literal.len());
    let mut paths = Vec::new();
    for name in ["include!(\"", "include_bytes!(\"", "include_str!(\""] {
        let found = behind(name).into_iter();
        paths.extend(found.map(|text| (Begins::AtTheSource, &text[..literal(text)])));
    }
    for name in ["bindgen!(", "generate!("] {
        for text in behind(name) {
            let (_, path) = text.split_once("path: \"").expect("bindings of a path");
            paths.push((Begins::AtTheManifest, &path[..literal(path)]));
        }
    }
    // Those that macros put together.
    if text.contains("concat!(") {
        for (at, _) in text.match_indices("\"../") {
            let text = &text[at + 1..];
            paths.push((Begins::AtTheSource, &text[..literal(text)]));
        }
    }
    paths
}

/// A path without its `..`, where it stays below where it begins.
fn within(path: &Path) -> Option<PathBuf> {
    let mut within = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => within.push(name),
            Component::ParentDir if within.pop() => {}
            _ => return None,
        }
    }
    Some(within)
}
