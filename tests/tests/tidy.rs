//! The invariants of ARCHITECTURE.md that can be read off the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
fn wasmtime_stays_inside_what_runs_guests() {
    const INSIDE: [&str; 7] = [
        "compile",
        "engine",
        "instance",
        "plugin",
        "runtime",
        "workspace",
        "world",
    ];
    for (file, text) in sources("host/core/src") {
        let module = file.split(['/', '.']).next().unwrap();
        if !INSIDE.contains(&module) {
            assert!(!uses(&text, "wasmtime"), "{file}");
        }
    }
}

#[test]
fn bindings_of_the_world_stay_inside_its_versions() {
    for (file, text) in sources("host/core/src") {
        if !file.starts_with("world/") {
            assert!(!uses(&text, "bindgen!"), "{file}");
            assert!(!uses(&text, "exports::airlock"), "{file}");
        }
    }
}

/// From the top down: each uses what stands behind it, and nothing before.
const LAYERS: [&str; 20] = [
    "modules",
    "session",
    "producer",
    "plugin",
    "engine",
    "instance",
    "compile",
    "load_error",
    "world",
    "pushing",
    "workspace",
    "runtime",
    "reserved",
    "secret",
    "lost",
    "listeners",
    "params",
    "tenant",
    "budget",
    "lib",
];

#[test]
fn what_lies_below_in_the_library_knows_nothing_above() {
    for (file, text) in sources("host/core/src") {
        let module = file.split(['/', '.']).next().unwrap();
        let layer = LAYERS.iter().position(|layer| *layer == module);
        let layer = layer.unwrap_or_else(|| panic!("{module} is in no layer"));
        for other in LAYERS[..layer].iter().filter(|_| module != "lib") {
            assert!(
                !uses(&text, &format!("crate::{other}::")),
                "{file} uses {other}"
            );
        }
    }
}

/// The parts of a session from the top down: each uses those in the rows behind its own.
const SESSION: [&[&str]; 6] = [
    &["builder", "deciding", "steering", "together", "undoing"],
    &["decide"],
    &["calling"],
    &["review"],
    &["base"],
    &[
        "approval",
        "cancellable",
        "events",
        "place",
        "reviewing",
        "stack",
        "tools",
        "turns",
    ],
];

/// The modules of a session that a source names, by whatever path.
fn named_parts(file: &str, text: &str) -> BTreeSet<&'static str> {
    let mut paths = vec!["crate::session::"];
    // What `super` means in a file of the folder itself.
    let depth = file.matches('/').count();
    let supers = "super::".repeat(depth + 1);
    paths.push(&supers);
    let mut named = BTreeSet::new();
    for line in text.lines().filter(|it| !it.trim_start().starts_with("//")) {
        for part in SESSION.iter().copied().flatten() {
            let is_named = paths.iter().any(|path| {
                let mut rest = line;
                while let Some(at) = rest.find(path) {
                    let is_whole = !rest[..at].ends_with("super::");
                    rest = &rest[at + path.len()..];
                    let name = rest
                        .split(|c: char| !c.is_alphanumeric() && c != '_')
                        .next();
                    if is_whole && name == Some(part) {
                        return true;
                    }
                }
                false
            });
            if is_named {
                named.insert(*part);
            }
        }
    }
    named
}

#[test]
fn the_parts_of_a_session_know_only_those_below_them() {
    let row = |part: &str| SESSION.iter().position(|row| row.contains(&part));
    let mut wrong = Vec::new();
    for (file, text) in sources("host/core/src/session") {
        let part = file.split(['/', '.']).next().unwrap();
        let own = row(part).unwrap_or_else(|| panic!("{part} is in no row"));
        let above = named_parts(&file, &text).into_iter();
        let above = above.filter(|other| *other != part && row(other).unwrap() <= own);
        wrong.extend(above.map(|other| format!("{file} uses {other}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let upward = "use super::{Session, SessionInner};\nuse super::decide::Decisions;\n";
    assert_eq!(named_parts("stack.rs", upward), BTreeSet::from(["decide"]));
    let upward = "use super::super::review::Reviews;\nuse super::stale;\n";
    assert_eq!(
        named_parts("place/a.rs", upward),
        BTreeSet::from(["review"])
    );
    let upward = "    crate::session::calling::ToolCall\n";
    assert_eq!(
        named_parts("tools/a.rs", upward),
        BTreeSet::from(["calling"])
    );
}

/// Each package that is compiled with `package`, by its name.
fn dependencies(package: &str, features: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", features])
        .args([
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{lib}",
            "--no-dedupe",
        ])
        .args(["--package", package])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    let names = String::from_utf8(output.stdout).unwrap();
    names.lines().map(str::to_owned).collect()
}

#[test]
fn crates_are_compiled_without_what_they_must_not_know() {
    let engine: &[&str] = &["wasmtime", "wasmtime_wasi", "cranelift_codegen"];
    let databases: &[&str] = &["rusqlite", "libsqlite3_sys", "sqlx", "sqlx_core"];
    let screens: &[&str] = &["anstyle", "anstream", "clap", "indicatif"];
    // What is rendered has colours; whether a terminal takes them is for programs to know.
    let terminals: &[&str] = &["anstream", "clap", "indicatif", "terminal_size"];
    let protocols: &[&str] = &["axum", "hyper", "rmcp"];
    let renderer: &[&str] = &["airlock_render"];
    let desk: &[&str] = &["airlock_desk"];
    let authors: &[&str] = &["airlock_author", "airlock_test_kit", "proptest", "notify"];
    let programs: &[&str] = &["airlock_cli", "airlock_tests"];
    let own: &[&str] = &["airlock_cli", "airlock_tests", "anyhow"];
    for (package, unknown) in [
        (
            "airlock-model",
            vec![engine, databases, screens, protocols, own],
        ),
        (
            "airlock-worker",
            vec![engine, databases, screens, protocols, own, &["tokio"]],
        ),
        (
            "airlock-workspace",
            vec![
                engine,
                databases,
                screens,
                protocols,
                own,
                &["tokio", "airlock_model"],
            ],
        ),
        ("airlock-render", vec![engine, databases, protocols, own]),
        (
            "airlock-ast-edit",
            vec![
                databases,
                screens,
                protocols,
                &["airlock_cli", "airlock_tests", "airlock_render"],
            ],
        ),
        (
            "airlock-store-sqlite",
            vec![engine, screens, protocols, own],
        ),
        (
            "airlock-store-postgres",
            vec![engine, screens, protocols, own],
        ),
        (
            "airlock-host",
            vec![
                databases,
                screens,
                protocols,
                programs,
                // Grammars of programming languages among them.
                &["tree_sitter", "ignore"],
            ],
        ),
        (
            "airlock-rules",
            vec![databases, terminals, protocols, renderer, authors, programs],
        ),
        (
            "airlock-registry",
            vec![
                engine,
                databases,
                screens,
                renderer,
                desk,
                own,
                &["axum", "rmcp", "airlock_host"],
                // One implementation of TLS is compiled, that of the stores.
                &["aws_lc_rs", "native_tls", "openssl"],
            ],
        ),
        (
            "airlock-signature",
            vec![
                engine,
                databases,
                screens,
                protocols,
                renderer,
                desk,
                own,
                // It asks no network, and verifies with one implementation of cryptography.
                &["airlock_host", "reqwest", "rustls", "ring", "sigstore_tuf"],
            ],
        ),
        (
            "airlock-desk",
            // It fetches from registries, and serves nothing.
            vec![terminals, &["axum", "rmcp"], authors, programs],
        ),
        ("airlock-serve", vec![terminals, authors, programs]),
        (
            "airlock-author",
            vec![databases, terminals, protocols, desk, programs],
        ),
        (
            "airlock-test-kit",
            vec![databases, screens, protocols, renderer, desk, programs],
        ),
    ] {
        let known = dependencies(package, "--all-features");
        assert!(
            known.contains("libc") || known.contains("rustix"),
            "{package}: {known:?}"
        );
        for name in unknown.into_iter().flatten() {
            assert!(!known.contains(*name), "{package} is compiled with {name}");
        }
    }
}

#[test]
fn a_small_host_is_compiled_without_what_authors_need() {
    let known = dependencies("airlock-cli", "--no-default-features");
    assert!(known.contains("airlock_desk"), "{known:?}");
    for name in [
        "airlock_author",
        "airlock_test_kit",
        "airlock_store_sqlite",
        "airlock_store_postgres",
        "notify",
        "proptest",
        "quick_junit",
        "wit_bindgen_c",
        "wit_bindgen_go",
    ] {
        assert!(!known.contains(name), "it is compiled with {name}");
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

/// The packages in which modules may allow unsafe code, and all that do.
const UNSAFE: [(&str, &[&str]); 7] = [
    ("host/core", &["src/compile/code.rs"]),
    ("host/store-sqlite", &["src/log_opening.rs"]),
    ("host/worker", &["src/arenas.rs", "src/inherited.rs"]),
    ("host/workspace", &["src/commit/writers.rs"]),
    ("tests/beside/extism-plugin", &[]),
    ("tests/beside/plain", &["src/precompiled.rs"]),
    (
        "tests",
        &["src/precompiled.rs", "tests/counted/statements.rs"],
    ),
];

/// A plugin of another's, whose macro exports functions by their names.
const EXTISM_PLUGIN: &str = "tests/beside/extism-plugin/src/lib.rs";

/// The guests, whose bindings make unsafe functions of what they export.
const GUESTS: &str = "tests/guests/Cargo.toml";

#[test]
fn every_package_forbids_unsafe_code_but_for_modules_that_are_named() {
    let mut packages = 0;
    for manifest in tracked("Cargo.toml") {
        let text = fs::read_to_string(root().join(&manifest)).unwrap();
        let lints = |level: &str| text.contains(&format!("\nunsafe_code = \"{level}\"\n"));
        if text.contains("[workspace.lints.rust]") {
            let level = if manifest == GUESTS { "deny" } else { "forbid" };
            assert!(lints(level), "{manifest}");
        }
        if !text.contains("[package]") {
            continue;
        }
        packages += 1;
        let folder = manifest.trim_end_matches("/Cargo.toml");
        if UNSAFE.iter().any(|(package, _)| *package == folder) {
            assert!(lints("deny"), "{manifest}");
        } else {
            let as_the_workspace = text.contains("\n[lints]\nworkspace = true\n");
            assert!(as_the_workspace || lints("forbid"), "{manifest}");
        }
    }
    assert!(packages > 15, "{packages}");
}

#[test]
fn unsafe_code_is_where_it_is_allowed_by_name_with_a_reason() {
    let named: Vec<String> = UNSAFE
        .iter()
        .flat_map(|(package, files)| files.iter().map(move |file| format!("{package}/{file}")))
        .collect();
    let mut allowed = Vec::new();
    for file in tracked(".rs") {
        // This one has the words, and those are mistakes.
        if file == "tests/tests/tidy.rs" || file.starts_with("host/cli/tests/cli/mistakes/") {
            continue;
        }
        let text = fs::read_to_string(root().join(&file)).unwrap();
        for place in text.match_indices("unsafe_code").map(|(place, _)| place) {
            // #[allow(unsafe_code, reason = "…")] mod NAME;
            let attribute = text[place..].split_once(")]\n").unwrap();
            assert!(attribute.0.contains("reason = "), "{file}");
            if file.starts_with("tests/guests/") {
                let exports = "const _: () = {\n    export!(";
                assert!(attribute.1.starts_with(exports), "{file}");
                continue;
            }
            if file == EXTISM_PLUGIN {
                assert!(attribute.1.contains("#[plugin_fn]"), "{file}");
                continue;
            }
            let module = attribute.1.lines().next().unwrap();
            let module = module.trim_start_matches("pub ").trim_start_matches("mod ");
            let parent = ["/lib.rs", "/main.rs", ".rs"]
                .iter()
                .find_map(|end| file.strip_suffix(end))
                .unwrap();
            allowed.push(format!("{parent}/{}.rs", module.trim_end_matches(';')));
        }
        let is_unsafe = [
            "unsafe {",
            "unsafe fn",
            "unsafe impl",
            "unsafe extern",
            "[unsafe(",
            " unsafe(",
        ]
        .iter()
        .any(|form| uses(&text, form));
        assert_eq!(is_unsafe, named.contains(&file), "{file}");
    }
    allowed.sort();
    assert_eq!(allowed, named);
}

/// The sources whose names end so, as git has them, from the root.
fn tracked(end: &str) -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(listed.status.success());
    let names = String::from_utf8(listed.stdout).unwrap();
    let there = |name: &&str| name.ends_with(end) && root().join(name).exists();
    let files: Vec<String> = names.lines().filter(there).map(str::to_owned).collect();
    assert!(!files.is_empty(), "{end}");
    files
}

/// A newcomer sees the project's parts there, and its documents.
#[test]
fn the_top_level_has_parts_and_documents_alone() {
    let tracked = tracked("");
    let top = tracked.iter().map(|file| file.split('/').next().unwrap());
    let other: BTreeSet<&str> = top
        .filter(|name| !name.starts_with('.') && !name.ends_with(".md"))
        .collect();
    let expected = [
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE",
        "examples",
        "host",
        "plugins",
        "sdk",
        "tests",
        "wit",
    ];
    assert_eq!(other, BTreeSet::from(expected));
}

#[test]
fn what_any_front_door_needs_shows_nothing() {
    for package in ["desk", "serve", "author", "test-kit"] {
        for (file, text) in sources(&format!("host/{package}/src")) {
            for name in [
                "print!(",
                "println!(",
                "io::stdout",
                "io::stderr",
                "io::stdin",
            ] {
                assert!(!uses(&text, name), "{package}: {file} uses {name}");
            }
        }
    }
}

/// From the top down, as above: a command is asked for what it does, and knows nothing of
/// arguments.
const FOLDERS_OF_THE_PROGRAM: [&str; 4] = ["args", "commands", "documents", "terminal"];

#[test]
fn arguments_of_the_program_are_read_in_one_place() {
    for (at, folder) in FOLDERS_OF_THE_PROGRAM.iter().enumerate() {
        for (file, text) in sources(&format!("host/cli/src/{folder}")) {
            for above in &FOLDERS_OF_THE_PROGRAM[..at] {
                assert!(!uses(&text, &format!("crate::{above}")), "{folder}/{file}");
                assert!(!uses(&text, "clap"), "{folder}/{file}");
            }
        }
    }
}

#[test]
fn files_have_one_subject_of_at_most_400_lines_before_their_tests() {
    for folder in [
        "host",
        "sdk/rust/src",
        "plugins/batch-rename/src",
        "plugins/files/src",
        "plugins/scripts/src",
        "examples",
        "tests/beside",
        "tests/src",
    ] {
        for (file, text) in sources(folder) {
            let tests = text.find("\n#[cfg(test)]").unwrap_or(text.len());
            let lines = text[..tests].lines().count();
            assert!(lines <= 400, "{folder}/{file} has {lines} lines");
        }
    }
}

#[test]
fn every_crate_of_the_host_says_what_it_is_for_and_what_it_never_knows() {
    for folder in fs::read_dir(root().join("host")).unwrap() {
        let folder = folder.unwrap().path();
        let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        assert!(readme.starts_with("# airlock-"), "{}", folder.display());
        let says = ["never", "nothing but", "alone"];
        assert!(
            says.iter().any(|word| readme.contains(word)),
            "{}",
            folder.display()
        );
    }
}

/// Tables can't be broken, and code in documentation is rustfmt's.
#[test]
fn comments_are_at_most_100_columns_wide() {
    let mut wide = Vec::new();
    for file in tracked(".rs") {
        let text = fs::read_to_string(root().join(&file)).unwrap();
        let mut code = false;
        for (number, line) in text.lines().enumerate() {
            let comment = line.trim_start();
            if !comment.starts_with("//") {
                code = false;
                continue;
            }
            let said = comment.trim_start_matches(['/', '!']).trim_start();
            code ^= said.starts_with("```");
            let exempt = code || said.starts_with('|') || !said.contains(' ');
            if line.chars().count() > 100 && !exempt {
                wide.push(format!("{file}:{}", number + 1));
            }
        }
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

/// So that a change of one sentence is a change of one line.
#[test]
fn documents_have_a_line_for_each_sentence() {
    let mut found = Vec::new();
    for file in tracked(".md") {
        let text = fs::read_to_string(root().join(&file)).unwrap();
        let mut code = false;
        for (number, line) in text.lines().enumerate() {
            code ^= line.trim_start().starts_with("```");
            let prose = !code && !line.trim_start().starts_with(['|', '#']);
            if prose && has_two_sentences(line) {
                found.push(format!("{file}:{}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Whether one ends and another begins, outside of code, parentheses and a list's bold head.
fn has_two_sentences(line: &str) -> bool {
    let mut depth = 0_usize;
    let mut code = false;
    let kept = line.chars().filter(|character| {
        match character {
            '`' => code = !code,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return !code && depth == 0,
        }
        true
    });
    let kept: String = kept.collect();
    let ends =
        |before: &str| before.ends_with(|last: char| last.is_alphanumeric() || "`)".contains(last));
    kept.match_indices(". ").any(|(at, _)| {
        let next = kept[at + 2..].chars().next();
        ends(&kept[..at]) && next.is_some_and(|next| next.is_uppercase() || next == '`')
    })
}
