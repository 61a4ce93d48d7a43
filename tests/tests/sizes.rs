//! How large components are, in each language: what an SDK adds, each of its authors ships, and
//! each host compiles. `tests/sizes.txt` has the sizes; `UPDATE_EXPECT=1` before the test writes it
//! anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A component may differ by this many percent from what was recorded.
const TOLERATED: u64 = 10;

/// The components, below `target/guests`: the conformance suite's tool in every language, and the
/// examples that have the same job in several.
const BUILT: [&str; 19] = [
    "c/batch-rename",
    "c/counter",
    "c/failures",
    "conformance/c",
    "conformance/go",
    "conformance/python",
    "conformance/rust",
    "conformance/ts",
    "go/batch-rename",
    "go/counter",
    "go/failures",
    "python/batch_rename",
    "python/counter",
    "python/failures",
    "rust/replace-text",
    "sdk_tools",
    "ts/batch-rename",
    "ts/counter",
    "ts/failures",
];

const BUNDLED: &str = "bundled/batch_rename";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn size(path: &Path) -> u64 {
    let metadata = fs::metadata(path);
    let found = metadata.unwrap_or_else(|error| {
        panic!("{}: {error}: run tests/build-guests", path.display());
    });
    found.len()
}

/// What there is now, in bytes.
fn sizes() -> BTreeMap<String, u64> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    let guest = |name: &str| target.join("guests").join(format!("{name}.wasm"));
    let bundled = root().join("host/cli").join(format!("{BUNDLED}.wasm"));
    BUILT
        .iter()
        .map(|name| ((*name).to_owned(), size(&guest(name))))
        .chain([(BUNDLED.to_owned(), size(&bundled))])
        .collect()
}

fn recorded(text: &str) -> BTreeMap<String, u64> {
    let row = |line: &str| {
        let (name, bytes) = line.split_once(' ').expect("a name and a number");
        (name.to_owned(), bytes.trim().parse().expect("a number"))
    };
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(row).collect()
}

fn table(sizes: &BTreeMap<String, u64>) -> String {
    let mut text =
        "# Bytes of each component. Written by tests/tests/sizes.rs, with `UPDATE_EXPECT=1`.\n"
            .to_owned();
    for (name, bytes) in sizes {
        writeln!(text, "{name} {bytes}").unwrap();
    }
    text
}

/// What differs by more than is tolerated, or is there on one side alone.
fn differences(recorded: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>) -> Vec<String> {
    let changed = now.iter().filter_map(|(name, bytes)| {
        let Some(before) = recorded.get(name) else {
            return Some(format!("{name} is not recorded"));
        };
        let differs = bytes.abs_diff(*before) * 100 > before * TOLERATED;
        differs.then(|| format!("{name} had {before} bytes and has {bytes}"))
    });
    let gone = recorded.keys().filter(|name| !now.contains_key(*name));
    changed
        .chain(gone.map(|name| format!("{name} is recorded and not built")))
        .collect()
}

#[test]
fn no_component_has_changed_its_size_unannounced() {
    let file = root().join("tests/sizes.txt");
    let now = sizes();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, table(&now)).unwrap();
    }
    let recorded = recorded(&fs::read_to_string(&file).unwrap());
    let differences = differences(&recorded, &now);
    assert!(
        differences.is_empty(),
        "by more than {TOLERATED}%:\n{}\nif that is meant, UPDATE_EXPECT=1 records it",
        differences.join("\n")
    );
}

#[test]
fn growth_and_what_is_not_recorded_are_told() {
    let of = |rows: &[(&str, u64)]| {
        let owned = rows
            .iter()
            .map(|(name, bytes)| ((*name).to_owned(), *bytes));
        owned.collect::<BTreeMap<_, _>>()
    };
    let before = of(&[("a", 1000), ("b", 1000), ("c", 1000), ("gone", 1)]);
    assert_eq!(recorded(&table(&before)), before);
    let now = of(&[("a", 1100), ("b", 1101), ("c", 899), ("new", 1)]);
    assert_eq!(
        differences(&before, &now),
        [
            "b had 1000 bytes and has 1101",
            "c had 1000 bytes and has 899",
            "new is not recorded",
            "gone is recorded and not built",
        ]
    );
}
