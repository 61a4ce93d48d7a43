//! What is published is whole: it has the licence's text, and all that it is compiled of.

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
                folder: manifest.parent().unwrap().to_owned(),
                files: files.lines().map(PathBuf::from).collect(),
            }
        })
        .collect();
    assert!(packages.len() >= 12, "{}", packages.len());
    packages
}

#[test]
fn copies_are_equal_to_what_they_are_copies_of() {
    let copies = Command::new(root().join("tests/copies"))
        .arg("--check")
        .output()
        .expect("the script runs");
    let problem = String::from_utf8_lossy(&copies.stderr);
    assert!(copies.status.success(), "{problem}");
}

/// Python's and npm's packages put it where it is by its name.
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
    for folder in ["sdk/python", "sdk/ts"] {
        let theirs = fs::read_to_string(root().join(folder).join("LICENSE")).unwrap();
        assert_eq!(theirs, ours, "{folder}");
    }
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
