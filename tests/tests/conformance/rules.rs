//! Whether the tests are there that RULES.md names.

use std::fs;
use std::path::{Path, PathBuf};

use crate::case::Case;

/// Checks that every row names a test, and that each test is there.
///
/// # Errors
/// Each row that names none, and each name of none.
pub fn check(page: &str, cases: &[(String, Case)]) -> Result<(), String> {
    let rows = rows(page);
    if rows.is_empty() {
        return Err("there are no rows".to_owned());
    }
    let problems: Vec<String> = rows.iter().flat_map(|row| row.problems(cases)).collect();
    match problems.as_slice() {
        [] => Ok(()),
        problems => Err(problems.join("\n")),
    }
}

pub struct Row<'a> {
    pub rule: &'a str,
    pub tests: Vec<&'a str>,
}

/// All rows of the page.
pub fn rows(page: &str) -> Vec<Row<'_>> {
    page.lines().filter_map(Row::read).collect()
}

impl<'a> Row<'a> {
    /// A line of a table, but for its head.
    fn read(line: &'a str) -> Option<Self> {
        let (rule, tests) = line.strip_prefix('|')?.split_once('|')?;
        let rule = rule.trim();
        if rule == "rule" || rule == "---" {
            return None;
        }
        // What is between backticks.
        let tests = tests.split('`').skip(1).step_by(2).collect();
        Some(Self { rule, tests })
    }

    fn problems(&self, cases: &[(String, Case)]) -> Vec<String> {
        if self.tests.is_empty() {
            return vec![format!("no test holds: {}", self.rule)];
        }
        let missing = self.tests.iter().filter(|test| !exists(test, cases));
        missing
            .map(|test| format!("there is no test {test}, which would hold: {}", self.rule))
            .collect()
    }
}

fn exists(test: &str, cases: &[(String, Case)]) -> bool {
    let Some((target, path)) = test.split_once("::") else {
        return false;
    };
    if target == "conformance" {
        return cases
            .iter()
            .any(|(file, case)| format!("{file}::{}", case.name) == path);
    }
    let (modules, name) = path.rsplit_once("::").unwrap_or(("main", path));
    let folder = folder(target);
    let file = folder.join(modules.replace("::", "/")).with_extension("rs");
    let Ok(text) = fs::read_to_string(&file) else {
        return false;
    };
    is_test(&text, name) || is_in_a_suite(&file, &text, name)
}

/// Where a target has its modules.
fn folder(target: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match target {
        "core" | "model" | "render" => root.join("host").join(target).join("src"),
        "cli" => root.join("host/cli/tests/cli"),
        "store" => root.join("tests/store-suite/tests/store"),
        target => root.join("tests/tests").join(target),
    }
}

/// A function with an attribute above it that makes a test of it.
fn is_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_function = |line: &str| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        let rest = line
            .strip_prefix("fn ")
            .and_then(|line| line.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('('))
    };
    let is_marked = |above: &[&str]| {
        let attributes = above.iter().rev().take_while(|line| line.starts_with("#["));
        attributes
            .into_iter()
            .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    };
    (0..lines.len()).any(|at| is_function(lines[at]) && is_marked(&lines[..at]))
}

/// A function that is made a test for each kind of store, by the list in the module above.
fn is_in_a_suite(file: &Path, text: &str, name: &str) -> bool {
    let module = file.file_stem().unwrap_or_default().display();
    let listed = format!("{module}::{name},");
    let above = file.parent().map(|folder| folder.with_extension("rs"));
    let above = above.and_then(|above| fs::read_to_string(above).ok());
    text.contains(&format!("fn {name}<B: Backend>()"))
        && above.is_some_and(|above| above.contains(&listed))
}
