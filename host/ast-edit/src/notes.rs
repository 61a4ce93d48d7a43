//! The text of a preview in addition to its diffs: one line of counts, then the places.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::code::rewrite::Reason;
use crate::plan::counted;
use crate::search::{Places, Results};

/// The most files or places of each kind that are named.
pub(crate) const NAMED: usize = 20;

/// Returns the counts in the first line of a preview, after those of the replacements.
pub(crate) fn headline(results: &Results, left_by_limit: usize) -> String {
    let reasons = [
        (left_by_limit, "beyond `limit`"),
        (
            results.nested,
            "inside another (call again after this is applied)",
        ),
        (results.left_for(Reason::SyntaxError), "near a syntax error"),
        (
            results.left_for(Reason::MoreThanPattern),
            "with code that `pat` doesn't have",
        ),
        (
            results.left_for(Reason::Meaning),
            "whose replacement would change the meaning",
        ),
        (
            results.left_for(Reason::NoCode),
            "whose replacement would be a syntax error",
        ),
    ];
    let searched = counted(results.searched as usize, "file");
    let mut line = format!("{searched} searched.");
    let left: usize = reasons.iter().map(|(count, _)| count).sum();
    if left > 0 {
        let reasons = reasons.iter().filter(|(count, _)| *count > 0);
        let reasons: Vec<String> = reasons
            .map(|(count, reason)| format!("{count} {reason}"))
            .collect();
        line.push_str(&format!(
            " {} left: {}.",
            counted(left, "match"),
            reasons.join(", ")
        ));
    }
    if results.comments.count > 0 {
        line.push_str(&format!(
            " {} would be removed.",
            counted(results.comments.count, "comment")
        ));
    }
    line
}

/// Adds details for programs, which only the caller of the preview gets.
pub(crate) fn add_results(details: &mut Value, results: &Results, left_by_limit: usize) {
    details["searchedFiles"] = results.searched.into();
    details["leftByLimit"] = left_by_limit.into();
    details["leftInside"] = results.nested.into();
    details["leftByErrors"] = results.left_for(Reason::SyntaxError).into();
    details["leftByMoreCode"] = results.left_for(Reason::MoreThanPattern).into();
    details["leftByMeaning"] = results.left_for(Reason::Meaning).into();
    details["leftAsNoCode"] = results.left_for(Reason::NoCode).into();
    details["removedComments"] = results.comments.count.into();
    let skipped = results.skipped.iter().take(NAMED);
    details["skipped"] = skipped
        .map(|(path, reason)| json!({"path": path, "reason": reason}))
        .collect();
    let errors = results.errors.iter().take(NAMED);
    details["syntaxErrors"] = errors
        .map(|(path, errors)| json!({"path": path, "line": errors.line}))
        .collect();
}

/// Returns further notes, one per line.
pub(crate) fn notes(results: &Results) -> String {
    let mut notes = String::new();
    let mut note = |text: String| {
        notes.push('\n');
        notes.push_str(&text);
    };
    let errors = results.errors.iter();
    let places: Vec<String> = errors
        .map(|(path, errors)| format!("{path}:{}", errors.line))
        .collect();
    if !places.is_empty() {
        note(format!(
            "Syntax errors in {}, the first of each at {}.",
            counted(places.len(), "file"),
            listed(&places)
        ));
    }
    for (reason, places) in &results.left {
        note(unchanged_places(*reason, places, results));
    }
    if results.comments.count > 0 {
        note(format!(
            "Inside replaced code, and removed with it: {}, at {}.",
            counted(results.comments.count, "comment"),
            listed(&lines(&results.comments.by_file))
        ));
    }
    let broken = results.matched.iter().filter_map(|matched| {
        let line = matched.breaks?;
        Some(format!("{}:{line}", matched.path.display()))
    });
    let broken: Vec<String> = broken.collect();
    if !broken.is_empty() {
        note(format!(
            "The replacements would add a syntax error in {}: {}.",
            counted(broken.len(), "file"),
            listed(&broken)
        ));
    }
    for (path, reason) in results.skipped.iter().take(NAMED) {
        note(format!("Not searched: {path:?}, {reason}."));
    }
    let more = results.skipped.len().saturating_sub(NAMED);
    if more > 0 {
        note(format!("Not searched: {}.", counted(more, "more file")));
    }
    if !results.left_out.is_empty() {
        let folders = results.left_out.iter();
        let folders: Vec<String> = folders.map(|folder| folder.display().to_string()).collect();
        note(format!(
            "Left out, as folders of dependencies or builds: {}; name one in `paths` to search it.",
            listed(&folders)
        ));
    }
    notes
}

/// Describes the places of matches that are left unchanged, and the reason.
fn unchanged_places(reason: Reason, places: &Places, results: &Results) -> String {
    let (why, advice) = match reason {
        Reason::SyntaxError => ("being in, beside or around a syntax error".to_owned(), ""),
        Reason::MoreThanPattern => {
            let words: Vec<String> = results
                .words
                .iter()
                .map(|word| format!("`{word}`"))
                .collect();
            (
                format!(
                    "having code that `pat` doesn't have, such as {}",
                    listed(&words)
                ),
                "; write it in `pat` and `out` to match it",
            )
        }
        Reason::NoCode => (
            "since the replacement would be a syntax error there".to_owned(),
            "",
        ),
        Reason::Meaning => (
            "since the replacement would change the meaning of that code".to_owned(),
            "",
        ),
    };
    format!(
        "Left as they are, {why}: {}, at {}{advice}.",
        counted(places.count, "match"),
        listed(&lines(&places.by_file))
    )
}

fn lines(by_file: &BTreeMap<String, Vec<usize>>) -> Vec<String> {
    let files = by_file.iter();
    let lines =
        files.flat_map(|(path, lines)| lines.iter().map(move |line| format!("{path}:{line}")));
    lines.collect()
}

/// Returns the first places, and the number of the others.
fn listed(places: &[String]) -> String {
    let more = places.len().saturating_sub(NAMED);
    let first = places[..places.len() - more].join(", ");
    match more {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
