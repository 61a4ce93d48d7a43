//! The paths of a change decide which checks CI runs: `tests/needs-languages`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn script(arguments: &[&str], base: Option<&str>) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(root.join("tests/needs-languages"));
    command.args(arguments).env_remove("AIRLOCK_BASE");
    if let Some(base) = base {
        command.env("AIRLOCK_BASE", base);
    }
    command
}

/// Whether the languages are needed after a change to these paths.
fn needed(paths: &str) -> bool {
    let mut script = script(&["--stdin"], None);
    let mut child = script.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The script stops reading at the first path that matters.
    let _ = stdin.write_all(paths.as_bytes());
    drop(stdin);
    child.wait().unwrap().success()
}

#[test]
fn languages_are_needed_unless_no_changed_path_matters_to_them() {
    for paths in [
        "sdk/rust/src/lib.rs",
        "sdk/go/tool.go",
        "wit/0.1.0/tool.wit",
        "host/author/src/build.rs",
        "host/author/templates/c/tool.c",
        "plugins/batch-rename/src/lib.rs",
        "examples/python/counter/src/counter.py",
        "tests/guests/puppet/src/lib.rs",
        "tests/conformance/cases/files.json",
        "tests/toolchain/guest-tools",
        "tests/run",
        "tests/needs-languages",
        ".ci/run",
        "Cargo.lock",
        "Cargo.toml",
        "README.md",
        "sdk/README.md",
        "host/cli/src/commands/resolve.rs",
        "host/render/src/block.rs",
        "host/cli/tests/cli/guides.rs",
        "host/cli/tests/cli/mistakes/go/unused.go",
        "a/new/folder",
        "host/core/src/lib.rs\nhost/render/src/lib.rs\nsdk/c/airlock.c",
    ] {
        assert!(needed(paths), "{paths:?}");
    }
    for paths in [
        "",
        "ARCHITECTURE.md",
        "host/core/src/session/resolve.rs",
        "host/workspace/src/commit/run.rs\nhost/store-sqlite/src/push.rs\nCHANGELOG.md",
        "tests/tests/host/limits.rs",
        "tests/benches/README.md",
    ] {
        assert!(!needed(paths), "{paths:?}");
    }
}

#[test]
fn languages_are_needed_without_a_known_base() {
    for base in [None, Some(""), Some("no-such-commit")] {
        assert!(script(&[], base).status().unwrap().success(), "{base:?}");
    }
}
