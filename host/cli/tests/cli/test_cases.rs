//! `airlock test`: cases that an author writes, and reports.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::airlock::{airlock, airlock_in};

/// The outcome of each property of a plugin's only tool.
fn outcome<'a>(object: &'a Value, property: &str) -> &'a Value {
    let properties = object["report"]["tools"][0]["properties"].as_array();
    let found = properties.unwrap().iter().find(|it| it["name"] == property);
    &found.expect("there is this property")["outcome"]
}

#[test]
fn files_and_scripts_keep_everything_strictly_and_their_cases_pass() {
    for (plugin, tools) in [("files", 13), ("scripts", 1)] {
        let cases = format!("../../plugins/{plugin}/airlock-test.toml");
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join(cases);
        let ran = airlock(&[
            "test", plugin, "--strict", "--tries", "24", "--seed", "1", "--json", "--cases",
        ])
        .arg(&cases)
        .run();
        let object = ran.json();
        assert_eq!(
            (ran.code, &object["passed"]),
            (0, &true.into()),
            "{object:#}"
        );
        assert_eq!(object["counts"]["untried"], 0, "{object:#}");
        assert_eq!(object["report"]["tools"].as_array().unwrap().len(), tools);
    }
}

#[test]
fn batch_rename_keeps_everything() {
    let folder = TempDir::new().unwrap();
    write(&folder, "airlock-test.toml", RENAME);
    let cases = folder.path().join("airlock-test.toml");
    let ran = airlock(&["test", "batch-rename", "--seed", "1", "--json", "--cases"])
        .arg(&cases)
        .run();
    let object = ran.json();
    assert_eq!(ran.code, 0, "{object:#}");
    assert_eq!(object["counts"]["cases"], 3);
    for property in [
        "preview-changes-nothing",
        "discard-leaves-nothing",
        "as-rehearsed",
        "fresh-instance",
        "apply-twice",
        "no-crash",
        "limits",
        "output-schema",
    ] {
        assert_eq!(outcome(&object, property), "held", "{property}");
    }
}

const RENAME: &str = r#"
[workspace]
files = { "a.txt" = "A", "b.txt" = "B", "keep.md" = { base64 = "AAEC" } }

[[case]]
name = "renames what matches"
params = { files = ["*.txt"], find = "txt$", replace = "text" }
expect.text = { contains = ["a.txt -> a.text", "2 files"] }
pushed = [{ label = "Batch rename: 2 files", tool = "batch_rename_preview", durable = true }]
changes.created = { "a.text" = "A", "b.text" = { matches = "^B$" } }
changes.removed = ["a.txt", "b.txt"]

[[case.resolve]]
action = "apply"
reason = "fine"
expect.text = { contains = "Renamed 2 files" }

[[case]]
name = "keeps everything when discarded"
tool = "batch_rename_preview"
params = '{"files": ["*"], "find": "k", "replace": "sh"}'
resolve = [{ action = "discard", reason = "no" }]

[[case]]
name = "refuses a bad pattern"
params = { files = ["*"], find = "(", replace = "" }
expect.error = { matches = "(?i)regular expression|regex|pattern" }
pushed = []
"#;

fn write(folder: &TempDir, path: &str, contents: impl AsRef<[u8]>) {
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}

/// A project whose component is the bundled plugin.
fn project(cases: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let component = "bundled/batch_rename.wasm";
    let component = Path::new(env!("CARGO_MANIFEST_DIR")).join(component);
    write(
        &folder,
        "target/wasm32-wasip2/release/it.wasm",
        fs::read(component).unwrap(),
    );
    write(&folder, "airlock-test.toml", cases);
    folder
}

#[test]
fn a_case_that_breaks_shows_what_was_expected_and_what_came() {
    let check = |before: &str, after: &str, expected: &[&str]| {
        assert!(RENAME.contains(before));
        let folder = project(&RENAME.replace(before, after));
        let ran = airlock_in(folder.path(), &["test", "--tries", "0"]).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{ran:#?}");
        assert!(
            ran.stdout.contains("  BROKEN   renames what matches"),
            "{ran:#?}"
        );
        assert!(ran.stdout.contains("Cases: 2 held, 1 broken."), "{ran:#?}");
        for line in expected {
            let line = format!("             │ {line}");
            assert!(
                ran.stdout.lines().any(|it| it == line),
                "{line}\n{}",
                ran.stdout
            );
        }
    };
    check(
        "Renamed 2 files",
        "Renamed 3 files",
        &[
            "- decision 1 (apply)'s text contains \"Renamed 3 files\"",
            "+ decision 1 (apply)'s text:",
        ],
    );
    check(
        "label = \"Batch rename: 2 files\"",
        "label = \"Batch rename: 9 files\"",
        &[
            "  action 1's label:",
            "- Batch rename: 9 files",
            "+ Batch rename: 2 files",
        ],
    );
    check(
        "changes.removed = [\"a.txt\", \"b.txt\"]",
        "changes.removed = [\"a.txt\"]",
        &[
            "expected  no other change of the workspace",
            "came      removed b.txt",
        ],
    );
    check(
        "\"a.text\" = \"A\"",
        "\"a.text\" = \"C\"",
        &["  a.text:", "- C", "+ A"],
    );
    check(
        "find = \"txt$\", replace = \"text\"",
        "find = \"(\", replace = \"text\"",
        &["- the preview succeeds"],
    );
}

#[test]
fn the_example_in_the_help_holds() {
    let help = airlock(&["test", "--help"]).run().stdout;
    let example = help
        .lines()
        .skip_while(|line| !line.starts_with("Cases, in"));
    let example = example
        .skip(1)
        .take_while(|line| !line.starts_with("  expect   "));
    let folder = project(&example.collect::<Vec<_>>().join("\n"));
    write(&folder, "tests/photos/beach.jpeg", "");
    let ran = airlock_in(folder.path(), &["test", "--tries", "0"]).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.contains("Cases: 1 held, 0 broken."), "{ran:#?}");
    let again = "The same again: airlock test . --tries 0 --seed ";
    assert!(ran.stdout.contains(again), "{ran:#?}");
}

#[test]
fn cases_that_can_not_be_read_are_a_mistake_of_usage() {
    let check = |cases: &str, expected: &str| {
        let folder = project(cases);
        let ran = airlock_in(folder.path(), &["test", "--json"]).run();
        let (kind, message, hint) = ran.error();
        assert_eq!((ran.code, kind.as_str()), (2, "invalid-cases"), "{message}");
        assert!(message.contains(expected), "{expected} in {message}");
        assert_eq!(hint, "`airlock test --help` has the format");
    };
    check("[[case]]\nname = 'a'\ntols = 'b'", "unknown field `tols`");
    check("[[case]\n", "line 1");
    check(
        "[[case]]\nname = 'a'\ntool = 'rename'",
        "case `a`: there is no tool `rename`; there are: batch_rename_preview",
    );
    check(
        "[[case]]\nname = 'a'\nexpect = { error = 'x', text = 'y' }",
        "case `a`: it expects both an error and a result",
    );
    check(
        "[[case]]\nname = 'a'\n[[case]]\nname = 'a'",
        "two cases are called `a`",
    );
    check("[workspace]\nfolder = 'missing'", "missing");
    check(
        "[workspace]\nfiles = { '../a' = '' }",
        "`../a` is not a path inside of the workspace",
    );
    check(
        "[[case]]\nname = 'a'\nparams = '[1]'",
        "expected a table, or a JSON object",
    );
    check(
        "[[case]]\nname = 'a'\nexpect.text = { matches = '(' }",
        "expect.text",
    );
}

#[test]
fn an_authors_files_are_never_touched() {
    let folder = project(
        r#"
        workspace.folder = "photos"
        [[case]]
        name = "renames in a copy"
        params = { files = ["**/*"], find = "^", replace = "new-" }
        resolve = [{ action = "apply" }]
        changes.created = { "new-a.jpeg" = "a", "deep/new-b.jpeg" = "b" }
        changes.removed = ["a.jpeg", "deep/b.jpeg"]
        "#,
    );
    write(&folder, "photos/a.jpeg", "a");
    write(&folder, "photos/deep/b.jpeg", "b");
    let ran = airlock_in(folder.path(), &["test", "--tries", "8"]).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(
        below(folder.path()),
        [
            "airlock-test.toml",
            "photos/a.jpeg",
            "photos/deep/b.jpeg",
            "target/wasm32-wasip2/release/it.wasm"
        ]
        .map(str::to_owned)
        .into()
    );
}

fn below(folder: &Path) -> BTreeSet<String> {
    fn visit(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(root, &path, found)
            } else {
                let below = path.strip_prefix(root).unwrap();
                found.insert(below.to_str().unwrap().to_owned());
            }
        }
    }
    let mut found = BTreeSet::new();
    visit(folder, folder, &mut found);
    found
}

#[test]
fn the_report_is_written_for_build_servers() {
    let folder = project(&RENAME.replace("Renamed 2 files", "Renamed 3 files"));
    let args = ["test", "--tries", "4", "--junit", "report.xml"];
    let ran = airlock_in(folder.path(), &args).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    let xml = fs::read_to_string(folder.path().join("report.xml")).unwrap();
    for part in [
        "<testsuite name=\"cases\" tests=\"3\"",
        "failures=\"1\"",
        "<testcase name=\"renames what matches\" classname=\"batch_rename_preview\"",
        "<testcase name=\"no-crash\" classname=\"batch_rename_preview\"",
        "<testcase name=\"definitions\" classname=\"it\"",
        "<skipped message=\"it doesn&apos;t claim to be read-only\"",
        "contains &quot;Renamed 3 files&quot;",
    ] {
        assert!(xml.contains(part), "{part} in {xml}");
    }
}
