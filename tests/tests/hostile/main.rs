//! Whatever a plugin does, its host goes on: the corpus of `tests/src/hostile.rs`, each row in a
//! process of its own, looked at from outside.
//!
//! `AIRLOCK_HOSTILE_ROW` runs the one row of that name, `AIRLOCK_HOSTILE_ROUNDS` runs each so many
//! times. `UPDATE_EXPECT=1` writes the table anew. With `--nocapture`, what was seen of each is
//! printed.

mod process;
mod site;

use std::path::Path;

use airlock_tests::asked;
use airlock_tests::hostile::{self, Ends, Grants, OF_FILES, Row};
use process::{Measurements, Worker};
use site::Site;

/// Runs the rows of a group, one after the other, and tells of all that are not as they should be.
#[track_caller]
fn check(group: &str) {
    check_with(group, Grants::Default);
}

#[track_caller]
fn check_with(group: &str, grants: Grants) {
    let only: Option<String> = asked("AIRLOCK_HOSTILE_ROW");
    let rounds = asked("AIRLOCK_HOSTILE_ROUNDS").unwrap_or(1);
    let rows = hostile::group(group).rows.into_iter();
    let rows = rows.filter(|row| only.as_deref().is_none_or(|only| only == row.name));
    let mut problems = Vec::new();
    for row in rows {
        for _ in 0..rounds {
            let found = problems_of(&row, grants);
            problems.extend(
                found
                    .into_iter()
                    .map(|found| format!("{}: {found}", row.name)),
            );
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn problems_of(row: &Row, grants: Grants) -> Vec<String> {
    let site = Site::new(row);
    let seen = match Worker::run(row, &site, grants) {
        Ok(seen) => seen,
        Err(problem) => return vec![problem],
    };
    println!("{}: {seen}", row.name);
    let mut problems = seen.beyond(&row.bounds);
    let may_change = grants == Grants::Default && !row.only_previews();
    problems.extend(match grants {
        Grants::Default => other_end(row.ends, &seen),
        Grants::Narrow => read_anyway(&seen),
    });
    problems.extend(site.disturbed(may_change));
    problems
}

/// What a plugin read that it was not granted.
fn read_anyway(seen: &Measurements) -> Option<String> {
    let text = seen.ended["text"].as_str().unwrap_or_default();
    let read = [site::SECRET, "ok alpha", "ok beta", "ok file"];
    let found = read.into_iter().find(|read| text.contains(read))?;
    Some(format!("it read {found:?}, which it was not granted"))
}

fn other_end(expected: Ends, seen: &Measurements) -> Option<String> {
    let kind = seen.ended["kind"].as_str();
    let text = seen.ended["text"].as_str().unwrap_or_default();
    let is_right = match (expected, kind) {
        (Ends::Result(says) | Ends::ResultOrTime(says), None) => text.contains(says),
        (Ends::ResultOrTime(_), Some("limit")) => text.contains("the limit for a call"),
        (Ends::ErrorOf(kinds, says), Some(kind)) => kinds.contains(&kind) && text.contains(says),
        (Ends::ResultOrError(_), None) => true,
        (Ends::ResultOrError(expected), Some(kind)) => expected.contains(&kind),
        (Ends::Error(expected, says), Some(kind)) => expected == kind && text.contains(says),
        _ => false,
    };
    let secret = text.contains(site::SECRET);
    let text: String = text.chars().take(300).collect();
    let other = format!("expected {expected:?}, and it ended with {kind:?}: {text}");
    match (is_right, secret) {
        (_, true) => Some(format!("it read what is outside: {text}")),
        (false, _) => Some(other),
        (true, false) => None,
    }
}

#[test]
fn computing() {
    check("computing");
}

#[test]
fn asking() {
    check("asking");
}

#[test]
fn holding() {
    check("holding");
}

#[test]
fn greed() {
    check("greed");
}

#[test]
fn files() {
    check("files");
}

#[test]
fn paths() {
    check("paths");
}

#[test]
fn pushing() {
    check("pushing");
}

#[test]
fn components() {
    check("components");
}

#[test]
fn swapping() {
    check("swapping");
}

#[test]
fn storing() {
    check("storing");
}

#[test]
fn applying() {
    check("applying");
}

#[test]
fn json() {
    check("json");
}

#[test]
fn schemas() {
    check("schemas");
}

#[test]
fn compiling() {
    check("compiling");
}

#[test]
fn editing() {
    check("editing");
}

#[test]
fn nothing_gets_past_grants_that_stop_one_step_short() {
    for group in OF_FILES {
        check_with(group, Grants::Narrow);
    }
}

#[test]
fn there_are_a_hundred_behaviours_and_no_two_have_one_name() {
    let rows = hostile::GROUPS
        .iter()
        .flat_map(|name| hostile::group(name).rows);
    let mut names: Vec<&str> = rows.map(|row| row.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count >= 100, "{count}");
}

#[test]
fn the_tests_of_the_program_that_the_table_names_are_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/cli/tests/cli");
    for tried in hostile::tried() {
        let path = folder.join(tried.file).with_extension("rs");
        let text = std::fs::read_to_string(path).expect("the file is there");
        let function = format!("#[test]\nfn {}() {{", tried.test);
        assert!(text.contains(&function), "{}::{}", tried.file, tried.test);
    }
}

#[test]
fn the_table_is_what_the_corpus_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile/README.md");
    let table = hostile::table();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &table).expect("it can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == table,
        "{} is old: UPDATE_EXPECT=1 writes it anew",
        path.display()
    );
}
