//! Merges texts by lines, as `git merge-file` does.

use std::fs::File;
use std::io::{self, Read};

use gix_imara_diff::{Algorithm, Diff, InternedInput, sources::lines};
use serde::{Deserialize, Serialize};

/// Maximum number of lines of a text that is compared. More of them can take seconds.
const LINES: usize = 20_000;

/// Maximum size of a text that is compared, in bytes.
pub(crate) const TEXT: u64 = 1 << 20;

/// A range of bytes in a text, of whole lines, and the text that replaces it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hunk {
    start: usize,
    end: usize,
    pub text: String,
}

/// The lines of a text, from the first to the last, counted from 1.
pub(crate) type Lines = (usize, usize);

/// Returns the bytes as a text, if they can be compared by lines.
pub(crate) fn text(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let is_small = text.len() as u64 <= TEXT && text.lines().count() <= LINES;
    (is_small && !text.contains('\0')).then_some(text)
}

/// Reads a file as such a text.
pub(crate) fn read_text(file: &File) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    file.take(TEXT + 1).read_to_end(&mut bytes)?;
    Ok(text(bytes))
}

/// Returns the hunks that turn one text into the other.
pub(crate) fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let input = InternedInput::new(lines(before), lines(after));
    // What git does without options.
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    let (old, new) = (offsets(before), offsets(after));
    let hunks = diff.hunks().map(|hunk| Hunk {
        start: old[hunk.before.start as usize],
        end: old[hunk.before.end as usize],
        text: after[new[hunk.after.start as usize]..new[hunk.after.end as usize]].to_owned(),
    });
    hunks.collect()
}

/// Returns where each line begins, and where the last one ends.
fn offsets(text: &str) -> Vec<usize> {
    let ends = text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Applies the hunks to a text; `None` if they are not of this text.
pub(crate) fn patch(before: &str, hunks: &[Hunk]) -> Option<String> {
    let mut after = String::new();
    let mut done = 0;
    for hunk in hunks {
        after.push_str(before.get(done..hunk.start)?);
        after.push_str(&hunk.text);
        done = hunk.end;
    }
    after.push_str(before.get(done..)?);
    Some(after)
}

/// Makes the changes of both texts since `base`.
///
/// # Errors
/// The lines of `ours` in the first conflict.
pub(crate) fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, Lines> {
    let (our_hunks, their_hunks) = (hunks(base, ours), hunks(base, theirs));
    let (mut our, mut their) = (0, 0);
    let mut both = Vec::new();
    loop {
        let hunk = match (our_hunks.get(our), their_hunks.get(their)) {
            (Some(one), Some(other)) if one == other => {
                (our, their) = (our + 1, their + 1);
                one
            }
            // Changes of adjacent lines are a conflict too.
            (Some(one), Some(other)) if one.start <= other.end && other.start <= one.end => {
                return Err(lines_of(ours, &our_hunks[..=our]));
            }
            (Some(one), other) if other.is_none_or(|other| one.end < other.start) => {
                our += 1;
                one
            }
            (_, Some(other)) => {
                their += 1;
                other
            }
            (_, None) => break,
        };
        both.push(hunk.clone());
    }
    Ok(patch(base, &both).expect("the hunks of both are in order"))
}

/// Returns the lines of the last hunk in the text that the hunks make.
fn lines_of(text: &str, hunks: &[Hunk]) -> Lines {
    let Some((last, before)) = hunks.split_last() else {
        return (1, 1);
    };
    let added: usize = before.iter().map(|hunk| hunk.text.len()).sum();
    let removed: usize = before.iter().map(|hunk| hunk.end - hunk.start).sum();
    let first = 1 + text[..last.start + added - removed].matches('\n').count();
    (first, first + last.text.lines().count().saturating_sub(1))
}
