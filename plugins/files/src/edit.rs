//! Replaces texts in a file, as a caller expects to find them.

use std::ops::Range;

use crate::closest;
use crate::hunk::{Hunk, Lines, Place, numbers};
use crate::params::Edit;
use crate::path::shown;
use crate::plan::{MAX_NEW_BYTES, too_large};
use crate::text::{Change, Text};
use crate::tolerance::{Tolerance, carry, fold};

/// Makes the edits, each in what the one before it left. Returns notes for the preview.
///
/// # Errors
/// Returns a message for the caller if an edit has no place, or more than one.
pub(crate) fn edit(text: &mut Text, path: &str, edits: &[Edit]) -> Result<Vec<String>, String> {
    let path = &shown(path);
    let mut notes = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let place = |problem: String| match edits.len() {
            1 => problem,
            _ => format!("Edit {} of {}: {problem}", index + 1, edits.len()),
        };
        let old = edit.old_text.replace("\r\n", "\n");
        let new = edit.new_text.replace("\r\n", "\n");
        let found = find(text.body(), &old, &new);
        check(edit, &old, &new, path, text.body(), &found).map_err(place)?;
        if found.changes.len() == most(&new) {
            return Err(too_large());
        }
        if let Some(note) = found.tolerance.note() {
            notes.push(place(format!(
                "`old_text` was found in spite of different {note}."
            )));
        }
        text.replace(&found.changes.concat());
    }
    Ok(notes)
}

/// The places of an old text.
struct Found {
    tolerance: Tolerance,
    /// The changes at each place.
    changes: Vec<Vec<Change>>,
    /// The indexes of the lines at which the places begin, counting those that overlap.
    lines: Vec<usize>,
}

fn find(body: &str, old: &str, new: &str) -> Found {
    let nothing = Found {
        tolerance: Tolerance::None,
        changes: Vec::new(),
        lines: Vec::new(),
    };
    if old.is_empty() {
        return nothing;
    }
    let found = exactly(body, old, new);
    if !found.changes.is_empty() || old.trim().is_empty() {
        return found;
    }
    let found = by_characters(body, old, new);
    if !found.changes.is_empty() {
        return found;
    }
    let lines = Lines::of(body);
    let hunk = Hunk::between(old, new);
    let places = hunk.places(&lines.lines);
    let Some(Place { tolerance, .. }) = places.first().copied() else {
        return nothing;
    };
    let mut apart: Vec<Place> = Vec::new();
    for place in &places {
        if apart
            .last()
            .is_none_or(|last| last.at + hunk.old_len() <= place.at)
        {
            apart.push(*place);
        }
    }
    Found {
        tolerance,
        changes: apart
            .iter()
            .map(|place| hunk.changes(&lines, *place))
            .collect(),
        lines: places.iter().map(|place| place.at).collect(),
    }
}

fn exactly(body: &str, old: &str, new: &str) -> Found {
    let change = |(at, _)| {
        vec![Change {
            range: at..at + old.len(),
            new: new.to_owned(),
        }]
    };
    Found {
        tolerance: Tolerance::None,
        changes: body
            .match_indices(old)
            .map(change)
            .take(most(new))
            .collect(),
        lines: starts(body, old),
    }
}

/// Returns the number of replacements that are too many.
fn most(new: &str) -> usize {
    const MAX_CHANGES: usize = 500_000;
    MAX_CHANGES.min(MAX_NEW_BYTES / new.len().max(1)) + 1
}

/// Finds the old text where only typographic characters differ.
fn by_characters(body: &str, old: &str, new: &str) -> Found {
    let (plain, old_plain) = (fold(body), fold(old));
    // Both texts have the same number of characters, but not of bytes.
    let (mut plain_at, mut body_at) = (0, 0);
    let mut offset = |at: usize| {
        let characters = plain[plain_at..at].chars().count();
        let mut rest = body[body_at..].char_indices();
        body_at += rest
            .nth(characters)
            .map_or(body.len() - body_at, |(at, _)| at);
        plain_at = at;
        body_at
    };
    let change = |(at, matched): (usize, &str)| {
        let range = offset(at)..offset(at + matched.len());
        let new = carry(&body[range.clone()], old, new);
        vec![Change { range, new }]
    };
    Found {
        tolerance: Tolerance::Characters,
        changes: plain
            .match_indices(old_plain.as_ref())
            .map(change)
            .take(most(new))
            .collect(),
        lines: starts(&plain, &old_plain),
    }
}

/// The most places of a text that are counted.
const MAX_PLACES: usize = 1000;

/// Returns the indexes of the lines at which a text begins, counting places that overlap.
fn starts(body: &str, old: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut from, mut line) = (0, 0);
    while found.len() < MAX_PLACES
        && let Some(at) = body[from..].find(old)
    {
        let first = body[from + at..].chars().next().map_or(1, char::len_utf8);
        let newlines = |range: Range<usize>| body[range].matches('\n').count();
        line += newlines(from..from + at);
        found.push(line);
        line += newlines(from + at..from + at + first);
        from += at + first;
    }
    found
}

fn check(
    edit: &Edit,
    old: &str,
    new: &str,
    path: &str,
    body: &str,
    found: &Found,
) -> Result<(), String> {
    if old.is_empty() {
        return Err(format!(
            "`old_text` is empty. To add text, give the text beside it; to replace everything in `{path}`, use `write_file`."
        ));
    }
    if old == new {
        return Err("`old_text` and `new_text` are the same, so nothing would change.".to_owned());
    }
    match (found.changes.len(), edit.replace_all) {
        (0, _) => Err(missing(old, new, path, body)),
        (_, true) => Ok(()),
        (_, false) if found.lines.len() == 1 => Ok(()),
        (_, false) => Err(format!(
            "`old_text` occurs {} times in `{path}`, at lines {}. Add text around it, so that it is unique, or set `replace_all`.",
            found.lines.len(),
            numbers(&found.lines)
        )),
    }
}

/// Returns the message about a text that isn't in the file.
fn missing(old: &str, new: &str, path: &str, body: &str) -> String {
    let mut message = format!("`old_text` isn't in `{path}`.");
    if body.is_empty() {
        return message + " The file is empty; use `write_file`.";
    }
    if new.trim().len() >= 8 && body.contains(new) {
        message += " `new_text` is there already, so the edit may have been made before.";
    }
    let is_numbered = |line: &str| {
        let rest = line
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.trim_start().len()
            && (rest.starts_with(['\t', '→', ':']) || rest.trim_start().starts_with('|'))
    };
    let mut lines = old
        .lines()
        .filter(|line| !line.trim().is_empty())
        .peekable();
    if lines.peek().is_some() && lines.all(is_numbered) {
        message += " Its lines begin with line numbers: leave these out.";
        return message;
    }
    let expected = Lines::of(old).lines;
    format!(
        "{message} {}",
        closest::advice(&Lines::of(body).lines, &expected)
    )
}
