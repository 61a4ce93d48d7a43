//! One piece of source and what becomes of it. Nothing here knows files.

use std::cmp::Reverse;
use std::ops::Range;

use ast_grep_core::replacer::Replacer;
use ast_grep_language::LanguageExt as _;

use super::pattern::Ops;

/// One replacement, in bytes of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

/// What is to be done to one piece of source.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// By their place; none overlaps another.
    pub edits: Vec<Edit>,
    /// Matches inside of other matches of the same op, which are left as they are.
    pub nested: usize,
}

/// Two ops that would change the same place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Overlap {
    /// Counted from 0, the one that begins first first.
    pub ops: (usize, usize),
    /// Counted from 1.
    pub line: usize,
}

/// Finds all that the ops would replace. What would be replaced by itself is none.
pub(super) fn find(source: &str, ops: &Ops) -> Result<Found, Overlap> {
    // Three bytes in front of the first token, which are no part of the code.
    let offset = match source.starts_with('\u{feff}') {
        true => '\u{feff}'.len_utf8(),
        false => 0,
    };
    let code = &source[offset..];
    if !ops.may_match(code) {
        return Ok(Found::default());
    }
    let line_ends = LineEnds::of(code);
    let root = ops.language().grammar().ast_grep(code);
    let root = root.root();
    let mut all: Vec<(usize, Edit)> = Vec::new();
    let mut nested = 0;
    for op in ops.iter() {
        let readings = op.readings.iter();
        let mut matches: Vec<_> = readings
            .flat_map(|reading| {
                root.find_all(&reading.pattern).map(|matched| {
                    let range = op.template.get_replaced_range(&matched, &reading.pattern);
                    (range, matched)
                })
            })
            .collect();
        // Outer ones before those inside.
        matches.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        matches.dedup_by(|(one, _), (other, _)| one == other);
        let mut end = 0;
        for (range, matched) in matches {
            if range.start < end || range.is_empty() {
                nested += usize::from(range.start < end);
                continue;
            }
            end = range.end;
            let text = op.template.generate_replacement(&matched);
            // It is made of whole nodes and of a template, which both are text.
            let text = line_ends.make(String::from_utf8_lossy(&text).into_owned());
            if code[range.clone()] != text {
                let range = range.start + offset..range.end + offset;
                all.push((op.index, Edit { range, text }));
            }
        }
    }
    all.sort_by_key(|(_, edit)| (edit.range.start, edit.range.end));
    for pair in all.windows(2) {
        let [(first, one), (second, other)] = pair else {
            continue;
        };
        if other.range.start < one.range.end {
            return Err(Overlap {
                ops: (*first, *second),
                line: 1 + count_lines(&source[..other.range.start]),
            });
        }
    }
    Ok(Found {
        edits: all.into_iter().map(|(_, edit)| edit).collect(),
        nested,
    })
}

/// The source with the edits made: every byte outside of them as it was.
pub(super) fn replace(source: &str, edits: &[Edit]) -> String {
    let grows: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut replaced = String::with_capacity(source.len() + grows);
    let mut at = 0;
    for edit in edits {
        replaced.push_str(&source[at..edit.range.start]);
        replaced.push_str(&edit.text);
        at = edit.range.end;
    }
    replaced.push_str(&source[at..]);
    replaced
}

fn count_lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// How a source ends its lines.
enum LineEnds {
    Unix,
    /// Every line ends with a carriage return and a line feed.
    Windows,
}

impl LineEnds {
    fn of(code: &str) -> Self {
        let mut ends = code.match_indices('\n').peekable();
        let windows =
            ends.peek().is_some() && ends.all(|(at, _)| at > 0 && code.as_bytes()[at - 1] == b'\r');
        match windows {
            true => LineEnds::Windows,
            false => LineEnds::Unix,
        }
    }

    /// Gives lines that come from a template the source's own ends.
    fn make(&self, text: String) -> String {
        match self {
            LineEnds::Unix => text,
            LineEnds::Windows if !text.contains('\n') => text,
            LineEnds::Windows => {
                let lines: Vec<&str> = text
                    .split('\n')
                    .map(|line| line.strip_suffix('\r').unwrap_or(line))
                    .collect();
                lines.join("\r\n")
            }
        }
    }
}
