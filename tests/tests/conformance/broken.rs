//! Whether the patches still fit with which `tests/conformance/break-rules` breaks rules.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::rules;

/// Checks that each patch applies to the sources, and names a rule and tests that hold it.
///
/// # Errors
/// Each patch with what is wrong with it.
pub fn check(folder: &Path) -> Result<(), String> {
    let page = fs::read_to_string(folder.join("RULES.md")).expect("the rules");
    let rows = rules::rows(&page);
    let patches = fs::read_dir(folder.join("broken")).expect("the patches");
    let mut patches: Vec<_> = patches.map(|entry| entry.unwrap().path()).collect();
    patches.sort();
    assert!(!patches.is_empty(), "there are no patches");
    let problems: Vec<String> = patches
        .iter()
        .filter_map(|patch| Some(format!("{}: {}", patch.display(), problem(patch, &rows)?)))
        .collect();
    match problems.as_slice() {
        [] => Ok(()),
        problems => Err(problems.join("\n")),
    }
}

fn problem(patch: &Path, rows: &[rules::Row<'_>]) -> Option<String> {
    let text = fs::read_to_string(patch).expect("a patch");
    let name = patch.file_stem().unwrap_or_default().display();
    let said = |key: &str| -> Vec<&str> {
        let head = text.lines().take_while(|line| !line.starts_with("---"));
        head.filter_map(|line| line.strip_prefix(key)).collect()
    };
    let (rule, tests) = (said("Rule: "), said("Test: "));
    let [rule] = rule.as_slice() else {
        return Some("it names no rule, or several".to_owned());
    };
    let Some(row) = rows.iter().find(|row| row.rule == *rule) else {
        return Some(format!("RULES.md has no such rule: {rule}"));
    };
    if tests.is_empty() {
        return Some("it names no test".to_owned());
    }
    if let Some(test) = tests.iter().find(|test| !row.tests.contains(test)) {
        return Some(format!("{test} is not what RULES.md has its rule held by"));
    }
    if !text.contains(&format!("broken(\"{name}\")")) {
        return Some("it doesn't ask whether it is meant, by its own name".to_owned());
    }
    let applied = Command::new("git")
        .args(["apply", "--check"])
        .arg(patch)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .expect("git");
    if applied.status.success() {
        None
    } else {
        Some(String::from_utf8_lossy(&applied.stderr).into_owned())
    }
}
