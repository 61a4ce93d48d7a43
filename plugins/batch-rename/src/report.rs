//! The texts and details that people and models read.

use std::collections::{HashMap, HashSet};

use airlock_tool::Output;
use schemars::JsonSchema;
use serde::Serialize;

use crate::alike;
use crate::apply::Outcome;
use crate::name::shown;
use crate::nesting;
use crate::plan::{Plan, Planned, Rename};
use crate::select::Selection;
use crate::workspace::{Kind, join, split};

/// The details of a preview and of an apply.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Details {
    /// Old and new paths, relative to the workspace.
    pub(crate) renames: Vec<Rename>,
    /// The number of further renames, if the list of all would be too long.
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

/// The most bytes of details: the host's limit, less the names of fields and escaped characters.
const MAX_DETAILS: usize = 768 << 10;

/// Returns the number of renames that fit in the details.
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

/// Returns the number of bytes of a path in JSON.
fn escaped_bytes(path: &str) -> usize {
    let bytes = |c: char| match c {
        '"' | '\\' => 2,
        '\0'..='\x1f' => 6,
        c => c.len_utf8(),
    };
    path.chars().map(bytes).sum()
}

/// The most renames in a list. A longer list is cut, because a model reads every line of it. The
/// details have more.
const MAX_LISTED: usize = 200;
const MAX_PROBLEMS: usize = 20;

/// The renames of a plan, as they are listed: with their final paths.
pub(crate) struct Listing {
    renames: Vec<Rename>,
    /// True for each rename of a directory.
    is_directory: Vec<bool>,
    /// The notes on some renames, by their index.
    notes: HashMap<usize, String>,
}

impl Listing {
    /// Lists the renames of a plan. `exists` checks if a path exists before anything is renamed.
    pub(crate) fn of(plan: &Plan, exists: impl Fn(&str) -> bool) -> Self {
        let renames = nesting::arrived(&plan.renames);
        let leaving: HashSet<&str> = renames.iter().map(|it| it.from.as_str()).collect();
        let stays = |index: usize, name: &str| {
            let path = join(split(&plan.renames[index].from).0, name);
            !leaving.contains(path.as_str()) && exists(&path)
        };
        let notes = alike::notes(&renames, stays);
        let is_directory = plan.stamps.iter().map(|it| it.kind == Kind::Directory);
        Self {
            is_directory: is_directory.collect(),
            notes,
            renames,
        }
    }

    /// Returns the label of the pending action. Like the other fixed texts, it has no singular
    /// form, so that programs can match it.
    pub(crate) fn label(&self) -> String {
        format!("Batch rename: {}", self.count())
    }

    pub(crate) fn details(&self) -> Details {
        Details::of(self.renames.clone())
    }

    fn count(&self) -> String {
        match (self.directories(), self.renames.len()) {
            (0, files) => format!("{files} files"),
            (directories, all) if directories == all => format!("{directories} directories"),
            (directories, all) => {
                format!("{} files, {directories} directories", all - directories)
            }
        }
    }

    fn directories(&self) -> usize {
        self.is_directory.iter().filter(|it| **it).count()
    }

    /// Returns a line for each rename.
    pub(crate) fn list(&self) -> String {
        let rows = self.renames.iter().zip(&self.is_directory).enumerate();
        let lines = rows.map(|(index, (Rename { from, to }, is_directory))| {
            let slash = if *is_directory { "/" } else { "" };
            let row = format!("{}{slash} -> {}{slash}", shown(from), shown(to));
            match self.notes.get(&index) {
                Some(note) => format!("{row} ({note})"),
                None => row,
            }
        });
        let elsewhere = match detailed(&self.renames) {
            detailed if detailed == self.renames.len() => ", all of them in the details".to_owned(),
            detailed => format!("; the details have the first {detailed}"),
        };
        cut(lines, self.renames.len(), MAX_LISTED, &elsewhere)
    }
}

pub(crate) fn preview(selection: &Selection, planned: &Planned, listing: &Listing) -> Output {
    let mut text = format!(
        "Prepared rename plan for {}.\n\n{}",
        listing.count(),
        listing.list()
    );
    if listing.directories() > 0 {
        text += "\n\nDirectories move with everything in them.";
    }
    let left = planned.unchanged + planned.unmatched;
    if left > 0 {
        text += &format!("\n\nOther selected files, which keep their names: {left}.");
    }
    if !selection.unmatched.is_empty() {
        text += &format!("\n\nNo file matches {}.", quoted(&selection.unmatched));
    }
    Output::text(text).details(listing.details())
}

/// Returns the preview of a plan that renames nothing.
pub(crate) fn nothing(selection: &Selection, planned: &Planned) -> Output {
    let why = match selection.files.len() {
        0 => format!("no file matches {}", quoted(&selection.unmatched)),
        files if planned.unchanged == 0 => {
            format!("`find` matches none of the names (files selected: {files})")
        }
        _ => "every name that `find` matches stays as it is".to_owned(),
    };
    let mut text = format!("Nothing to rename: {why}.");
    if !selection.unmatched.is_empty() && !selection.files.is_empty() {
        text += &format!("\n\nNo file matches {}.", quoted(&selection.unmatched));
    }
    Output::text(text).details(Details::of(Vec::new()))
}

pub(crate) fn applied(outcome: Outcome, plan: &Plan, reason: &str) -> Output {
    let what = match outcome {
        Outcome::Renamed => "Renamed",
        Outcome::AlreadyRenamed => "Nothing was left to do: an earlier attempt has renamed",
    };
    let listing = Listing::of(plan, |_| false);
    Output::text(format!(
        "Applied batch rename. Reason: {reason}\n\n{what} {}:\n{}",
        listing.count(),
        listing.list()
    ))
    .details(listing.details())
}

pub(crate) fn discarded(reason: &str) -> Output {
    Output::text(format!("Discarded batch rename. Reason: {reason}"))
}

/// Returns a heading, and the problems below it.
pub(crate) fn problems(heading: &str, problems: &[String]) -> String {
    let lines = problems.iter().map(|problem| format!("- {problem}"));
    format!(
        "{heading}\n{}",
        cut(lines, problems.len(), MAX_PROBLEMS, "")
    )
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
    use crate::workspace::Stamp;

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

    fn listing(renames: Vec<Rename>, kind: impl Fn(usize) -> Kind) -> Listing {
        let stamps = (0..renames.len()).map(|it| Stamp::of_kind(kind(it)));
        let stamps = stamps.collect();
        Listing::of(&Plan { renames, stamps }, |_| false)
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
                let output = match count {
                    0 => nothing(&selection, &planned),
                    _ => preview(
                        &selection,
                        &planned,
                        &listing(renames(count), |_| Kind::File),
                    ),
                };
                assert_eq!(text(&output), expected);
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
        let files = listing(renames(3), |_| Kind::File);
        assert_eq!(files.label(), "Batch rename: 3 files");
        let plan = Plan {
            renames: renames(1),
            stamps: vec![Stamp::of_kind(Kind::File)],
        };
        let output = applied(Outcome::Renamed, &plan, "tidy");
        assert_eq!(
            text(&output),
            "Applied batch rename. Reason: tidy\n\nRenamed 1 files:\na1 -> b1"
        );
        assert_eq!(text(&discarded("no")), "Discarded batch rename. Reason: no");
    }

    #[test]
    fn a_long_list_is_cut() {
        let listed = listing(renames(MAX_LISTED + 5), |_| Kind::File).list();
        assert!(
            listed.ends_with("a200 -> b200\n… and 5 more, all of them in the details"),
            "{listed}"
        );
    }

    #[test]
    fn directories_are_listed_as_such_with_the_paths_in_the_end() {
        let renames = crate::plan::tests::renames("a>b a/x>a/y");
        let directories_first = |index| match index {
            0 => Kind::Directory,
            _ => Kind::File,
        };
        let listing = listing(renames, directories_first);
        assert_eq!(listing.label(), "Batch rename: 1 files, 1 directories");
        assert_eq!(listing.list(), "a/ -> b/\na/x -> b/y");
        assert_eq!(listing.details().renames[1].to, "b/y");
        let output = preview(
            &Selection::default(),
            &Planned {
                renames: Vec::new(),
                unchanged: 0,
                unmatched: 0,
            },
            &listing,
        );
        let end = "\n\nDirectories move with everything in them.";
        assert!(text(&output).ends_with(end), "{}", text(&output));
    }

    #[test]
    fn a_row_that_looks_like_another_says_so() {
        let renames = crate::plan::tests::renames("e\u{301}>\u{e9}");
        let listed = listing(renames, |_| Kind::File).list();
        let note = " (looks the same, but is in NFC then)";
        assert!(listed.ends_with(note), "{listed}");
    }
}
