//! How complex real components are, beside the limits.

use std::path::Path;

use airlock_host::compile::{CompileLimits, Complexity};
use airlock_tests::guests_folder;

/// The name of each figure, the limit and the figure.
fn rows(limits: &CompileLimits, complexity: &Complexity) -> [(&'static str, u64, u64); 13] {
    [
        (
            "function_bytes",
            limits.function_bytes,
            complexity.function_bytes,
        ),
        ("locals", limits.locals, complexity.locals),
        ("functions", limits.functions, complexity.functions),
        ("code_bytes", limits.code_bytes, complexity.code_bytes),
        ("depth", limits.depth, complexity.depth),
        ("modules", limits.modules, complexity.modules),
        ("instances", limits.instances, complexity.instances),
        ("types", limits.types, complexity.types),
        ("imports", limits.imports, complexity.imports),
        ("exports", limits.exports, complexity.exports),
        ("tables", limits.tables, complexity.tables),
        ("globals", limits.globals, complexity.globals),
        ("segments", limits.segments, complexity.segments),
    ]
}

#[test]
fn the_limits_are_at_least_twice_what_a_guest_of_any_language_has() {
    let limits = CompileLimits::default();
    for guest in [
        "c/batch-rename",
        "conformance/c",
        "conformance/go",
        "conformance/python",
        "conformance/rust",
        "conformance/ts",
        "go/batch-rename",
        "puppet",
        "python/batch_rename",
        "ts/batch-rename",
    ] {
        let path = guests_folder().join(Path::new(guest).with_extension("wasm"));
        let bytes = std::fs::read(&path).unwrap();
        let complexity = Complexity::of(guest, &bytes).unwrap();
        for (name, limit, figure) in rows(&limits, &complexity) {
            // The table in ARCHITECTURE.md is made from these lines.
            println!("{guest} {name} {figure}");
            assert!(limit >= 2 * figure, "{guest}: {name} {figure} of {limit}");
        }
    }
}
