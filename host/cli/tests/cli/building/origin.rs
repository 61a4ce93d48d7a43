//! The example of the runtime that Airlock's rules come from: `origin.ts` is that example word for
//! word, but for the package that it imports its types from. It is never edited to stay green.

use std::fs;

use tempfile::TempDir;

use crate::toolchain::{done, root, shell};

const EXAMPLE: &str = include_str!("origin.ts");
const RUN: &str =
    r#"airlock run build/a.wasm batch_rename_preview '{"files": ["a.txt", "b.txt"]}' --json"#;

/// A bundled tool has the same name, which only matters to a session that binds both.
#[test]
fn the_origins_example_is_built_run_and_resolved() {
    let folder = TempDir::new().unwrap();
    let new = format!("airlock new a --lang ts --sdk '{}'", root().display());
    done(shell("ts", folder.path(), &new));
    let project = folder.path().join("a");
    done(shell("ts", &project, "npm install"));
    fs::write(project.join("src/tool.ts"), EXAMPLE).unwrap();

    let built = done(shell("ts", &project, "airlock build --json"));
    assert_eq!(built["tools"][0], "batch_rename_preview", "{built}");

    let run = |decision: &str| done(shell("ts", &project, &format!("{RUN} {decision}")));
    let ran = run("--apply tidy");
    let said = ran["resolved"]["content"][0]["text"].as_str();
    assert_eq!(said, Some("Applied batch rename. Reason: tidy"), "{ran}");
    let ran = run("--discard wrong");
    let said = ran["resolved"]["content"][0]["text"].as_str();
    assert_eq!(said, Some("Discarded batch rename. Reason: wrong"), "{ran}");
}
