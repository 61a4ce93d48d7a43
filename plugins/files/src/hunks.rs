//! Finds the places of a patch's hunks in a file, and makes its changes.

use crate::hunk::{Hunk, Line, Lines};
use crate::text::{Change, Text};

/// Makes the changes of the hunks. Returns notes for the preview.
///
/// # Errors
/// Returns the reason if a hunk has no place, or more than one.
pub(crate) fn apply(text: &mut Text, hunks: &[Hunk]) -> Result<Vec<String>, String> {
    let lines = Lines::of(text.body());
    let (mut changes, mut notes): (Vec<Change>, Vec<String>) = (Vec::new(), Vec::new());
    let mut taken: Vec<(usize, usize)> = Vec::new();
    let (mut from, mut drift) = (0, 0);
    for (index, hunk) in hunks.iter().enumerate() {
        let number = |problem: String| match hunks.len() {
            1 => format!("The hunk has no place: {problem}"),
            len => format!("Hunk {} of {len} has no place: {problem}", index + 1),
        };
        let place = hunk.place(&lines.lines, from, drift).map_err(number)?;
        let end = place.at + hunk.old_len();
        if taken
            .iter()
            .any(|(start, stop)| place.at < *stop && *start < end)
        {
            return Err(number("it overlaps with another one".to_owned()));
        }
        if let Some(note) = place.tolerance.note() {
            notes.push(format!(
                "Hunk {} was found at line {} in spite of different {note}.",
                index + 1,
                place.at + 1
            ));
        }
        if let Some(line) = hunk.line.filter(|_| hunk.old_len() > 0) {
            drift = place.at as isize + 1 - line as isize;
        }
        taken.push((place.at, end));
        changes.extend(hunk.changes(&lines, place));
        from = end;
    }
    changes.sort_by_key(|change| (change.range.start, change.range.end));
    let had_newline = text.body().is_empty() || text.body().ends_with('\n');
    text.replace(&changes);
    end(text, hunks, had_newline);
    Ok(notes)
}

/// Ends the file with a newline, or without one, if the patch tells. Its changes have left the end
/// as it was: a text that ends in `\n` may have a blank last line without one.
fn end(text: &mut Text, hunks: &[Hunk], had_newline: bool) {
    let Some((wanted, hunk)) = hunks
        .iter()
        .rev()
        .find_map(|it| Some((it.final_newline?, it)))
    else {
        return;
    };
    let len = text.body().len();
    let has_lines = len > 0
        || hunk
            .lines
            .iter()
            .any(|line| !matches!(line, Line::Remove(_)));
    match (wanted, had_newline) {
        (true, false) if has_lines => {
            text.replace(&[Change {
                range: len..len,
                new: "\n".to_owned(),
            }]);
        }
        (false, true) if len > 0 => text.replace(&[Change {
            range: len - 1..len,
            new: String::new(),
        }]),
        _ => {}
    }
}
