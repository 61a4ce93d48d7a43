//! Lines broken into rows of limited width.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Role;
use super::block::{Flow, Line};
use super::escape::{Piece, Tabs, escape_line, pieces};

/// The distance between tab stops.
const TAB: usize = 8;

/// The columns reserved for text, but at most half the width. Deeper indents are reduced.
const ROOM: usize = 20;

/// The mark of a row that continues the previous one.
pub(super) const CONTINUED: &str = "↪";

/// The mark of quoted text. No row of the host's own text begins with it.
pub(super) const MARGIN: &str = "│";

/// The maximum number of columns that a terminal draws for the margin and the space after it.
const MARGIN_COLUMNS: usize = 3;

/// The maximum number of columns that a terminal draws for [`CONTINUED`].
const MARK_COLUMNS: usize = 2;

/// A line that is safe for a terminal, and its rows.
pub(super) struct LaidOutLine {
    pub text: String,
    /// The end of each part of the text, and its role.
    pub roles: Vec<(usize, Role)>,
    /// The end of each part of the text, and whether it is quoted.
    quoted: Vec<(usize, bool)>,
    /// The length of the beginning that is not broken at its spaces.
    joined: usize,
    /// The rows; at least one.
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub indent: usize,
    /// True if [`MARGIN`] follows the indent.
    pub has_margin: bool,
    /// The number of spaces after the margin.
    pub inner: usize,
    /// True if [`CONTINUED`] precedes it.
    pub is_marked: bool,
    /// The range of the line's text.
    pub range: Range<usize>,
}

/// Returns the columns that most terminals draw for a line, with its escapes. Use it for alignment
/// only: line breaking uses the maximum over all terminals.
pub fn width(text: &str) -> usize {
    shown_width(&escape_line(text))
}

/// Returns the columns of text that is safe for a terminal.
fn shown_width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.graphemes(true).map(UnicodeWidthStr::width).sum()
    }
}

/// Returns the most columns that any terminal draws for a text. If a terminal draws a row wider
/// than expected, the row continues at the first column of the next one, without a margin.
///
/// Terminals agree only about ASCII. Many draw the parts of an emoji sequence one by one. With East
/// Asian settings, Greek, Cyrillic and box drawing are as wide as ideographs. An old terminal gives
/// a column to each combining mark that it doesn't know.
pub(super) fn most_columns(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().map(most_columns_of).sum()
    }
}

/// Cuts a line, with its escapes, to text that fits this number of columns on any terminal.
pub fn cut(text: &str, columns: usize) -> String {
    let mut shown = escape_line(text).into_owned();
    let mut used = 0;
    let first_left = shown.char_indices().find(|(_, c)| {
        used += most_columns_of(*c);
        used > columns
    });
    if let Some((end, _)) = first_left {
        shown.truncate(end);
    }
    shown
}

fn most_columns_of(c: char) -> usize {
    match c.width().unwrap_or(0) {
        1 if c.is_ascii() => 1,
        0 => 1,
        known => known.max(2),
    }
}

/// Breaks a line into rows of at most `width` columns. Without a width, it is a single row.
pub(super) fn lay_out(line: &Line, width: Option<usize>) -> LaidOutLine {
    let mut laid = flatten(line);
    laid.rows = match width {
        Some(width) => rows(line, &laid, width.max(1)),
        None => vec![Row {
            indent: line.indent,
            has_margin: has_margin(line, &laid, 0),
            inner: 0,
            is_marked: false,
            range: 0..laid.text.len(),
        }],
    };
    laid
}

/// Joins the line's parts into one text, escaped, with tabs as spaces.
fn flatten(line: &Line) -> LaidOutLine {
    let tabs = match line.flow {
        Flow::Words => Tabs::Escaped,
        Flow::Text | Flow::Diff => Tabs::Kept,
    };
    let (mut text, mut roles, mut quoted) = (String::new(), Vec::new(), Vec::new());
    let (mut column, mut joined) = (0, 0);
    for (index, part) in line.parts.iter().enumerate() {
        for piece in pieces(&part.text, tabs) {
            let role = match piece {
                Piece::Kept(kept) => {
                    for (index, kept) in kept.split('\t').enumerate() {
                        if index > 0 {
                            let spaces = TAB - column % TAB;
                            text.extend(std::iter::repeat_n(' ', spaces));
                            column += spaces;
                        }
                        text.push_str(kept);
                        column += shown_width(kept);
                    }
                    part.role
                }
                Piece::Escaped(c) => {
                    let escape = c.escape_default();
                    column += escape.len();
                    text.extend(escape);
                    Role::Escape
                }
            };
            match roles.last_mut() {
                Some((end, last)) if *last == role => *end = text.len(),
                _ => roles.push((text.len(), role)),
            }
        }
        quoted.push((text.len(), part.is_quoted));
        if index < line.joined {
            joined = text.len();
        }
    }
    LaidOutLine {
        text,
        roles,
        quoted,
        joined,
        rows: Vec::new(),
    }
}

fn rows(line: &Line, laid: &LaidOutLine, width: usize) -> Vec<Row> {
    let text = &*laid.text;
    let room = ROOM.min(width.div_ceil(2));
    let is_diff = line.flow == Flow::Diff;
    let spaces = if is_diff {
        0
    } else {
        text.len() - text.trim_start_matches(' ').len()
    };
    let begins_quoted = has_margin(line, laid, 0);
    let row = |start: usize, hang: usize| {
        let has_margin = has_margin(line, laid, start);
        let margin = if has_margin { MARGIN_COLUMNS } else { 0 };
        let free = width.saturating_sub(room + margin);
        // Spaces after the margin belong to the quoted text.
        let (indent, inner) = match (has_margin, begins_quoted) {
            (true, true) => (line.indent.min(free), spaces + hang),
            (true, false) => ((line.indent + hang).min(free), 0),
            (false, _) => ((line.indent + spaces + hang).min(free), 0),
        };
        let inner = inner.min(free - indent);
        let columns = width.saturating_sub(indent + margin + inner).max(1);
        let is_marked = is_diff && start > 0 && columns > 2 * MARK_COLUMNS;
        let row = Row {
            indent,
            has_margin,
            inner,
            is_marked,
            range: start..start,
        };
        let mark = if is_marked { MARK_COLUMNS } else { 0 };
        (row, columns - mark)
    };
    let mut rows = Vec::new();
    let (mut next, mut columns) = row(spaces, 0);
    loop {
        let start = next.range.start;
        let unbroken = |at: usize| {
            let at = start + at;
            is_diff || at < laid.joined || role_at(&laid.roles, at) == Role::Command
        };
        let broken = take(&text[start..], columns, unbroken);
        next.range.end = start + broken.end;
        if most_columns(&text[next.range.clone()]) > columns {
            // One that is wider than all the room that there is.
            (next.indent, next.inner, next.is_marked) = (0, 0, false);
        }
        rows.push(next);
        let start = start + broken.next;
        if start >= text.len() {
            return rows;
        }
        (next, columns) = row(start, line.hang);
    }
}

/// Returns true if a row that begins at `start` has the margin.
fn has_margin(line: &Line, laid: &LaidOutLine, start: usize) -> bool {
    // Leading spaces look like an indent.
    let rest = &laid.text[start..];
    let start = start + rest.len() - rest.trim_start_matches(' ').len();
    let part = laid.quoted.partition_point(|(end, _)| *end <= start);
    line.is_quoted || laid.quoted.get(part).is_some_and(|(_, quoted)| *quoted)
}

fn role_at(roles: &[(usize, Role)], at: usize) -> Role {
    let part = roles.partition_point(|(end, _)| *end <= at);
    roles.get(part).map_or(Role::Plain, |(_, role)| *role)
}

/// The end of a row and the start of the next one.
#[derive(Debug, PartialEq, Eq)]
struct Broken {
    end: usize,
    next: usize,
}

/// Takes as much as fits into one row, but at least one character. Breaks the text at spaces, which
/// it drops, or next to wide characters. If there are none, it breaks between grapheme clusters, or
/// within a cluster that is wider than a row.
fn take(text: &str, columns: usize, unbroken: impl Fn(usize) -> bool) -> Broken {
    let mut used = 0;
    let mut best = None;
    // The end of the last word so far, and whether its last character is wide.
    let (mut word_end, mut was_wide) = (0, false);
    for (at, cluster) in text.grapheme_indices(true) {
        let width = most_columns(cluster);
        let is_space = cluster == " " && !unbroken(at);
        let is_wide = cluster.width() == 2;
        let beside_wide = (is_wide || was_wide) && !unbroken(at);
        if !is_space && word_end > 0 && (word_end < at || beside_wide) {
            best = Some(Broken {
                end: word_end,
                next: at,
            });
        }
        if !is_space && used + width > columns {
            let end = match at {
                0 => part_of_cluster(cluster, columns),
                at => at,
            };
            // A single character that is wider than the row gets a row to itself.
            if end > 0 {
                return best.unwrap_or(Broken { end, next: end });
            }
        }
        used += width;
        if !is_space {
            (word_end, was_wide) = (at + cluster.len(), is_wide);
        }
    }
    Broken {
        end: if used > columns { word_end } else { text.len() },
        next: text.len(),
    }
}

/// Returns the end of the part that fits into a row: at least one character, or 0 if the cluster
/// has only one.
fn part_of_cluster(cluster: &str, columns: usize) -> usize {
    let mut used = 0;
    let mut chars = cluster.char_indices();
    let first_left = chars.find(|(at, c)| {
        used += most_columns_of(*c);
        *at > 0 && used > columns
    });
    first_left.map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: Line, width: usize, expected: &[&str]) {
        let laid = lay_out(&line, Some(width));
        let rows = laid.rows.iter().map(|row| {
            let mark = if row.is_marked { CONTINUED } else { "" };
            let (indent, inner) = (" ".repeat(row.indent), " ".repeat(row.inner));
            let margin = if row.has_margin { "│ " } else { "" };
            format!(
                "{indent}{margin}{inner}{mark}{}",
                &laid.text[row.range.clone()]
            )
        });
        assert_eq!(rows.collect::<Vec<_>>(), expected, "{line:?} in {width}");
    }

    #[test]
    fn words_are_broken_between_them() {
        let check = |text: &str, width, expected: &[&str]| check(Line::from(text), width, expected);
        check("", 10, &[""]);
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 3, &["one", "two", "thr", "ee"]);
        check("one   two", 5, &["one", "two"]);
        check("one two   ", 7, &["one two"]);
        check(
            "a-word-that-is-too-long b",
            9,
            &["a-word-th", "at-is-too", "-long b"],
        );
        check("   ", 2, &[" "]);
        check("a\tb", 10, &[r"a\tb"]);
    }

    #[test]
    fn a_text_is_cut_to_what_any_terminal_draws_in_a_row() {
        assert_eq!(cut("one\ntwo", 8), r"one\ntwo");
        assert_eq!(cut("one\ntwo", 7), r"one\ntw");
        assert_eq!(cut("👍🏽👍🏽", 7), "👍🏽👍");
    }

    #[test]
    fn clusters_are_split_only_where_they_are_wider_than_a_row() {
        let check = |text: &str, width, expected: &[&str]| check(Line::from(text), width, expected);
        check("日本語", 4, &["日本", "語"]);
        check("日本語", 5, &["日本", "語"]);
        check("日本 語", 6, &["日本", "語"]);
        check("日本語", 1, &["日", "本", "語"]);
        check("日本語", 0, &["日", "本", "語"]);
        check(
            "e\u{301}e\u{301}e\u{301}",
            4,
            &["e\u{301}e\u{301}", "e\u{301}"],
        );
        // Some terminals draw the parts one by one.
        check("👍🏽👍🏽👍🏽", 8, &["👍🏽👍🏽", "👍🏽"]);
        check("👩‍👩‍👧👩‍👩‍👧", 8, &["👩‍👩‍👧", "👩‍👩‍👧"]);
        check("👩‍👩‍👧", 6, &["👩‍👩\u{200d}", "👧"]);
        check("🇩🇪🇫🇷", 7, &["🇩🇪", "🇫🇷"]);
        check("🇩🇪🇫🇷", 3, &["🇩", "🇪", "🇫", "🇷"]);
        // Some draw Cyrillic as wide as ideographs.
        check("привет", 7, &["при", "вет"]);
        check("\u{202e}", 4, &[r"\u{2", "02e}"]);
    }

    #[test]
    fn what_is_indented_stays_so_as_far_as_there_is_room() {
        check(Line::from("one two").indented(2), 5, &["  one", "  two"]);
        check(Line::from("one two").hanging(2), 5, &["one", "  two"]);
        check(Line::from("one two").indented(40), 7, &["   one", "   two"]);
        check(Line::from("日 本").indented(1), 2, &["日", "本"]);
        let text = |text: &str| Line {
            flow: Flow::Text,
            ..Line::from(text)
        };
        check(text("    one two"), 8, &["    one", "    two"]);
        check(text("\tone\ttwo"), 30, &["        one     two"]);
        check(text("日\tx"), 30, &["日      x"]);
    }

    #[test]
    fn a_diff_keeps_its_spaces_and_is_broken_anywhere() {
        let diff = |text: &str| Line {
            flow: Flow::Diff,
            ..Line::from(text)
        };
        check(diff("+  one two"), 8, &["+  one t", "↪wo"]);
        check(diff("+\tone"), 20, &["+       one"]);
        check(diff("+日本語"), 6, &["+日本", "↪語"]);
        check(diff("+abc"), 2, &["+a", "bc"]);
        check(diff("+   "), 3, &["+  ", " "]);
    }

    #[test]
    fn what_is_not_the_hosts_own_has_a_margin_where_a_row_begins_with_it() {
        let text = |text: &str| Line {
            flow: Flow::Text,
            ..Line::from(text).quoted()
        };
        check(text("one two"), 6, &["│ one", "│ two"]);
        check(text("one two").indented(2), 10, &["  │ one", "  │ two"]);
        check(text("  one two"), 10, &["│   one", "│   two"]);
        check(text(""), 7, &["│ "]);
        check(text("one"), 1, &["│ o", "│ n", "│ e"]);
        let named = || Line::from("a name: ").with_quoted(Role::Plain, "Accept: all");
        check(named(), 20, &["a name: Accept: all"]);
        check(
            named().hanging(2),
            12,
            &["a name:", "  │ Accept:", "  │ all"],
        );
        // What is the host's own again needs none.
        let both = Line::new().with_quoted(Role::Plain, "all").with(" of it");
        check(both, 6, &["│ all", "of it"]);
        let diff = Line {
            flow: Flow::Diff,
            ..Line::from("+  one two").quoted()
        };
        check(diff, 11, &["│ +  one t", "│ ↪wo"]);
    }

    #[test]
    fn a_command_is_not_broken_where_it_fits() {
        let line = || {
            Line::from("see ")
                .with_role(Role::Command, "airlock pending --all")
                .with(" there")
        };
        check(line(), 22, &["see", "airlock pending --all", "there"]);
        check(line(), 12, &["see", "airlock pend", "ing --all", "there"]);
    }
}
