//! How large components are, in each language: what an SDK adds, each of its authors ships, and
//! each host compiles. `tests/sizes.txt` has the sizes; `UPDATE_EXPECT=1` before the test writes it
//! anew.

use std::fs;
use std::path::{Path, PathBuf};

use airlock_tests::recorded::{self, Numbers, Tolerated};

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

const BUNDLED: [&str; 3] = ["bundled/batch_rename", "bundled/files", "bundled/scripts"];

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
fn sizes() -> Numbers {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    let guest = |name: &str| target.join("guests").join(format!("{name}.wasm"));
    let bundled = |name: &str| root().join("host/cli").join(format!("{name}.wasm"));
    let built = BUILT.iter().map(|name| (*name, guest(name)));
    let bundled = BUNDLED.iter().map(|name| (*name, bundled(name)));
    built
        .chain(bundled)
        .map(|(name, path)| (name.to_owned(), size(&path)))
        .collect()
}

#[test]
fn no_component_has_changed_its_size_unannounced() {
    let tolerated = Tolerated {
        percent: 10,
        always: 0,
        less_is_told: true,
    };
    recorded::check(
        &root().join("tests/sizes.txt"),
        "Bytes of each component. Written by tests/tests/sizes.rs, with `UPDATE_EXPECT=1`.",
        &sizes(),
        tolerated,
    );
}
