//! The differences between two texts, by line.

use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// The most pairs of lines that are compared. Larger parts count as replaced.
const MAX_PAIRS: usize = 16_000_000;

/// The most lines that are compared, since each takes memory.
const MAX_COMPARED: usize = 500_000;

/// The most lines of a diff in a preview, and of all the diffs in it.
const MAX_LINES: usize = 200;

/// The most characters of a line in a preview.
const MAX_CHARACTERS: usize = 300;

/// Returns the lines of a text, each with its line ending.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the steps from the old lines to the new ones.
pub(crate) fn ops(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let before = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(same)
        .count();
    let (old_len, new_len) = (old_rest.len() - after, new_rest.len() - after);
    if old_len.saturating_mul(new_len) <= MAX_PAIRS && old_len + new_len <= MAX_COMPARED {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let replaced = DiffOp::Replace {
        old_index: before,
        old_len,
        new_index: before,
        new_len,
    };
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    let ops = [
        equal(0, 0, before),
        replaced,
        equal(before + old_len, before + new_len, after),
    ];
    ops.into_iter()
        .filter(|op| !op.old_range().is_empty() || !op.new_range().is_empty())
        .collect()
}

/// Returns a unified diff without its header, of at most `room` lines, which are taken from it.
pub(crate) fn unified_diff(old: &str, new: &str, room: &mut usize) -> String {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let (mut rows, mut total) = (Vec::new(), 0);
    // Not more rows than are shown, since a file may have millions.
    let mut add = |sign: &str, lines: &[&str]| {
        let free = room.saturating_sub(rows.len());
        rows.extend(lines.iter().take(free).map(|line| row(sign, line)));
        total += lines.len();
    };
    for group in group_diff_ops(ops(&old_lines, &new_lines), 3) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let range = |start: usize, end: usize| match end - start {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            len => format!("{},{len}", start + 1),
        };
        let head = format!(
            "@@ -{} +{} @@\n",
            range(first.old_range().start, last.old_range().end),
            range(first.new_range().start, last.new_range().end)
        );
        add("", &[&head]);
        for op in group {
            if matches!(op, DiffOp::Equal { .. }) {
                add(" ", &old_lines[op.old_range()]);
            } else {
                add("-", &old_lines[op.old_range()]);
                add("+", &new_lines[op.new_range()]);
            }
        }
    }
    let more = total - rows.len();
    *room -= rows.len();
    let mut text = rows.join("\n");
    if more > 0 {
        let _ = write!(text, "\n… and {more} more lines");
    }
    text
}

/// Returns the number of lines that a preview has for its diffs.
pub(crate) fn room() -> usize {
    MAX_LINES
}

fn row(sign: &str, line: &str) -> String {
    let (line, note) = match line.strip_suffix('\n') {
        Some(line) => (line, ""),
        None => (line, "\n\\ No newline at end of file"),
    };
    format!("{sign}{}{note}", cut(line))
}

/// Returns a line without the end that is too long for a preview.
pub(crate) fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}… ({} bytes)", &line[..end], line.len()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_the_changes_with_their_surroundings() {
        let old: String = (1..=9).map(|n| format!("{n}\n")).collect();
        let new = old.replace('5', "five");
        let expected = "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8";
        assert_eq!(unified_diff(&old, &new, &mut 100), expected);
        assert_eq!(
            unified_diff("", "a", &mut 100),
            "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file"
        );
    }

    #[test]
    fn a_long_diff_is_cut() {
        let mut room = 2;
        assert_eq!(
            unified_diff("", "a\nb\nc\n", &mut room),
            "@@ -0,0 +1,3 @@\n+a\n… and 2 more lines"
        );
        assert_eq!(room, 0);
    }

    #[test]
    fn texts_that_are_too_long_to_compare_are_replaced_in_the_middle() {
        let old: Vec<String> = (0..5000).map(|n| n.to_string()).collect();
        let new: Vec<String> = (0..5000).map(|n| format!("x{n}")).collect();
        let text = |middle: &[String]| format!("a\n{}\nz\n", middle.join("\n"));
        let (old, new) = (text(&old), text(&new));
        let ops = ops(&lines(&old), &lines(&new));
        assert_eq!(ops.len(), 3);
        assert_eq!(ops[1].old_range(), 1..5001);
    }
}
