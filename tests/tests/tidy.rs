//! The invariants of ARCHITECTURE.md that can be read off the sources.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every Rust file below `folder`, with its path from there and its text.
fn sources(folder: &str) -> Vec<(String, String)> {
    fn visit(folder: &Path, below: &str, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().display());
            // Not through links: npm's lead to packages.
            if entry.file_type().unwrap().is_dir() {
                visit(&entry.path(), &format!("{name}/"), found);
            } else if name.ends_with(".rs") {
                found.push((name, fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    visit(&root().join(folder), "", &mut found);
    assert!(!found.is_empty(), "{folder}");
    found
}

/// Whether `text` uses `name` outside of comments.
fn uses(text: &str, name: &str) -> bool {
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    code.into_iter().any(|line| line.contains(name))
}

#[test]
fn wasmtime_stays_inside_engine_plugin_instance_and_workspace() {
    for (file, text) in sources("host/core/src") {
        let module = file.split(['/', '.']).next().unwrap();
        if !["engine", "plugin", "instance", "workspace"].contains(&module) {
            assert!(!uses(&text, "wasmtime"), "{file}");
        }
    }
}

#[test]
fn pending_policy_error_and_store_know_nothing_above_them() {
    for (file, text) in sources("host/core/src") {
        let module = file.split(['/', '.']).next().unwrap();
        let above: &[&str] = match module {
            "pending" | "policy" | "digest" | "limits" => &[
                "engine",
                "plugin",
                "instance",
                "session",
                "store",
                "workspace",
                "error",
            ],
            "error" => &[
                "engine",
                "plugin",
                "instance",
                "producer",
                "session",
                "workspace",
            ],
            "store" => &[
                "engine",
                "plugin",
                "instance",
                "producer",
                "session",
                "workspace",
            ],
            "workspace" => &[
                "engine", "plugin", "instance", "producer", "session", "store",
            ],
            "engine" | "plugin" | "instance" => &["producer", "session"],
            "producer" | "pushing" => &["session"],
            "render" => &["engine", "instance", "producer", "session", "workspace"],
            _ => &[],
        };
        for other in above {
            assert!(
                !uses(&text, &format!("crate::{other}::")),
                "{file} uses {other}"
            );
        }
    }
}

#[test]
fn the_library_knows_neither_the_command_line_nor_a_protocol() {
    let manifest = fs::read_to_string(root().join("host/core/Cargo.toml")).unwrap();
    for name in ["clap", "axum", "anyhow", "rmcp", "airlock-cli"] {
        assert!(!manifest.contains(name), "{name}");
    }
}

#[test]
fn the_command_line_prints_blocks() {
    for (file, text) in sources("host/cli/src") {
        for name in ["print!(", "println!("] {
            assert!(!uses(&text, name), "{file} uses {name}");
        }
    }
}

#[test]
fn the_test_kit_knows_no_output() {
    for (file, text) in sources("host/cli/src/test_kit") {
        for name in ["crate::output", "crate::style", "airlock_host::render"] {
            assert!(!uses(&text, name), "{file} uses {name}");
        }
    }
}

#[test]
fn files_have_one_subject_of_at_most_400_lines_before_their_tests() {
    for folder in [
        "host",
        "sdk/rust/src",
        "plugins/batch-rename/src",
        "examples",
        "tests/src",
    ] {
        for (file, text) in sources(folder) {
            let tests = text.find("\n#[cfg(test)]").unwrap_or(text.len());
            let lines = text[..tests].lines().count();
            assert!(lines <= 400, "{folder}/{file} has {lines} lines");
        }
    }
}
