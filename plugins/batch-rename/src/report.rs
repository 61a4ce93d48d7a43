//! What people and models read.

use airlock_tool::Output;
use schemars::JsonSchema;
use serde::Serialize;

use crate::apply::Outcome;
use crate::name::shown;
use crate::plan::{Plan, Planned, Rename};
use crate::select::Selection;

/// The details of a preview and of an apply.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Details {
    /// Old and new paths, relative to the workspace.
    pub(crate) renames: Vec<Rename>,
    /// How many more there are, where a list of all would be too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) more: Option<usize>,
}

impl Details {
    pub(crate) fn of(mut renames: Vec<Rename>) -> Self {
        let total = renames.len();
        renames.truncate(detailed(&renames));
        let more = total - renames.len();
        Self {
            renames,
            more: (more > 0).then_some(more),
        }
    }
}

/// What the host takes as the details of an action, less the names of fields and what is escaped.
const MAX_DETAILS: usize = 768 << 10;

/// How many of these the details can have.
fn detailed(renames: &[Rename]) -> usize {
    let bytes = |path: &str| escaped_bytes(path) + "{\"from\":\"\",".len();
    let mut room = MAX_DETAILS;
    let fits = |rename: &&Rename| {
        let taken = bytes(&rename.from) + bytes(&rename.to);
        room = room.saturating_sub(taken);
        room > 0
    };
    renames.iter().take_while(fits).count()
}

/// Bytes of a path in JSON.
fn escaped_bytes(path: &str) -> usize {
    let bytes = |c: char| match c {
        '"' | '\\' => 2,
        '\0'..='\x1f' => 6,
        c => c.len_utf8(),
    };
    path.chars().map(bytes).sum()
}

/// A longer list is cut, since a model reads every line of it; the details have the rest.
const MAX_LISTED: usize = 200;
const MAX_PROBLEMS: usize = 20;

/// The pending action in one line. Like the other fixed texts it doesn't bend to a single file:
/// programs may match it.
pub(crate) fn label(renames: &[Rename]) -> String {
    format!("Batch rename: {} files", renames.len())
}

pub(crate) fn preview(selection: &Selection, planned: &Planned) -> Output {
    let Planned {
        renames,
        unchanged,
        unmatched,
    } = planned;
    let mut text = if renames.is_empty() {
        nothing(selection, *unchanged)
    } else {
        let count = renames.len();
        format!(
            "Prepared rename plan for {count} files.\n\n{}",
            list(renames)
        )
    };
    if !renames.is_empty() && unchanged + unmatched > 0 {
        text += &format!(
            "\n\nOther selected files, which keep their names: {}.",
            unchanged + unmatched
        );
    }
    if !selection.unmatched.is_empty() && !selection.files.is_empty() {
        text += &format!("\n\nNo file matches {}.", quoted(&selection.unmatched));
    }
    Output::text(text).details(Details::of(renames.clone()))
}

pub(crate) fn applied(outcome: Outcome, plan: Plan, reason: &str) -> Output {
    let what = match outcome {
        Outcome::Renamed => "Renamed",
        Outcome::AlreadyRenamed => "Nothing was left to do: an earlier attempt has renamed",
    };
    let count = plan.renames.len();
    let list = list(&plan.renames);
    Output::text(format!(
        "Applied batch rename. Reason: {reason}\n\n{what} {count} files:\n{list}"
    ))
    .details(Details::of(plan.renames))
}

pub(crate) fn discarded(reason: &str) -> Output {
    Output::text(format!("Discarded batch rename. Reason: {reason}"))
}

/// A heading, and the problems below it.
pub(crate) fn problems(heading: &str, problems: &[String]) -> String {
    let lines = problems.iter().map(|problem| format!("- {problem}"));
    format!(
        "{heading}\n{}",
        cut(lines, problems.len(), MAX_PROBLEMS, "")
    )
}

fn nothing(selection: &Selection, unchanged: usize) -> String {
    let why = match selection.files.len() {
        0 => format!("no file matches {}", quoted(&selection.unmatched)),
        files if unchanged == 0 => {
            format!("`find` matches none of the names (files selected: {files})")
        }
        _ => "every name that `find` matches stays as it is".to_owned(),
    };
    format!("Nothing to rename: {why}.")
}

fn list(renames: &[Rename]) -> String {
    let lines = renames
        .iter()
        .map(|Rename { from, to }| format!("{} -> {}", shown(from), shown(to)));
    let elsewhere = match detailed(renames) {
        detailed if detailed == renames.len() => ", all of them in the details".to_owned(),
        detailed => format!("; the details have the first {detailed}"),
    };
    cut(lines, renames.len(), MAX_LISTED, &elsewhere)
}

fn cut(lines: impl Iterator<Item = String>, total: usize, most: usize, elsewhere: &str) -> String {
    let mut text = lines.take(most).collect::<Vec<_>>().join("\n");
    if total > most {
        text += &format!("\n… and {} more{elsewhere}", total - most);
    }
    text
}

fn quoted(patterns: &[String]) -> String {
    patterns
        .iter()
        .map(|pattern| format!("`{}`", shown(pattern)))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use airlock_tool::Content;

    use super::*;

    fn text(output: &Output) -> &str {
        match output.content() {
            [Content::Text(text)] => text,
            other => panic!("one text expected, not {other:?}"),
        }
    }

    fn renames(count: usize) -> Vec<Rename> {
        (1..=count)
            .map(|n| Rename {
                from: format!("a{n}"),
                to: format!("b{n}"),
            })
            .collect()
    }

    #[test]
    fn a_preview_lists_what_would_happen_and_what_would_not() {
        let check =
            |files: &[&str], unmatched: &[&str], count, left: (usize, usize), expected: &str| {
                let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect();
                let selection = Selection {
                    files: owned(files),
                    unmatched: owned(unmatched),
                };
                let planned = Planned {
                    renames: renames(count),
                    unchanged: left.0,
                    unmatched: left.1,
                };
                assert_eq!(text(&preview(&selection, &planned)), expected);
            };
        let prepared = "Prepared rename plan for 2 files.\n\na1 -> b1\na2 -> b2";
        check(&["a1", "a2"], &[], 2, (0, 0), prepared);
        let left = format!(
            "{prepared}\n\nOther selected files, which keep their names: 3.\n\nNo file matches `*.x`."
        );
        check(&["a1", "a2", "c", "d", "e"], &["*.x"], 2, (1, 2), &left);
        check(
            &[],
            &["*.x", "*.y"],
            0,
            (0, 0),
            "Nothing to rename: no file matches `*.x`, `*.y`.",
        );
        check(
            &["c"],
            &[],
            0,
            (0, 1),
            "Nothing to rename: `find` matches none of the names (files selected: 1).",
        );
        check(
            &["c"],
            &[],
            0,
            (1, 0),
            "Nothing to rename: every name that `find` matches stays as it is.",
        );
    }

    #[test]
    fn the_fixed_texts_are_the_contracts() {
        assert_eq!(label(&renames(3)), "Batch rename: 3 files");
        let plan = Plan {
            renames: renames(1),
            stamps: Vec::new(),
        };
        let output = applied(Outcome::Renamed, plan, "tidy");
        assert_eq!(
            text(&output),
            "Applied batch rename. Reason: tidy\n\nRenamed 1 files:\na1 -> b1"
        );
        assert_eq!(text(&discarded("no")), "Discarded batch rename. Reason: no");
    }

    #[test]
    fn a_long_list_is_cut() {
        let listed = list(&renames(MAX_LISTED + 5));
        assert!(
            listed.ends_with("a200 -> b200\n… and 5 more, all of them in the details"),
            "{listed}"
        );
    }
}
