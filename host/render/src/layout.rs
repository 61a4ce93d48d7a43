//! Lines as rows of so many columns.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::Role;
use super::block::{Flow, Line};
use super::escape::{Piece, Tabs, escape_line, pieces};

/// Where a tab leads to.
const TAB: usize = 8;

/// As many columns are left for text, or half of all: what is indented further is moved back.
const ROOM: usize = 20;

/// Before what goes on from the row above.
pub(super) const CONTINUED: &str = "↪";

/// Before what is not the host's own. No row of the host's begins with it.
pub(super) const MARGIN: &str = "│";

/// The columns of the margin and of the space behind it.
const MARGIN_COLUMNS: usize = 2;

/// A line fit for a terminal, and the rows that it is broken into.
pub(super) struct LaidOutLine {
    pub text: String,
    /// Where each part of the text ends, and its role.
    pub roles: Vec<(usize, Role)>,
    /// Where each part of the text ends, and whether it is quoted.
    quoted: Vec<(usize, bool)>,
    /// How much of the text is not broken at its spaces.
    joined: usize,
    /// At least one.
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub indent: usize,
    /// Whether [`MARGIN`] stands behind the indent.
    pub has_margin: bool,
    /// Spaces behind the margin.
    pub inner: usize,
    /// Whether [`CONTINUED`] stands before it.
    pub is_marked: bool,
    /// Of the line's text.
    pub range: Range<usize>,
}

/// How many columns a text takes, in a line of its own and with what is escaped in it.
pub fn width(text: &str) -> usize {
    shown_width(&escape_line(text))
}

/// The columns of text that is fit for a terminal.
fn shown_width(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len(),
        false => text.graphemes(true).map(UnicodeWidthStr::width).sum(),
    }
}

/// A line in rows of at most so many columns; in one row where there is no such number.
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

/// The line's parts as one text, with what must be escaped, and tabs as spaces.
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
    let spaces = match is_diff {
        true => 0,
        false => text.len() - text.trim_start_matches(' ').len(),
    };
    let begins_quoted = has_margin(line, laid, 0);
    let row = |start: usize, hang: usize| {
        let has_margin = has_margin(line, laid, start);
        let margin = if has_margin { MARGIN_COLUMNS } else { 0 };
        let free = width.saturating_sub(room + margin);
        // What stands behind the margin is part of what is quoted.
        let (indent, inner) = match (has_margin, begins_quoted) {
            (true, true) => (line.indent.min(free), spaces + hang),
            (true, false) => ((line.indent + hang).min(free), 0),
            (false, _) => ((line.indent + spaces + hang).min(free), 0),
        };
        let inner = inner.min(free - indent);
        let columns = width.saturating_sub(indent + margin + inner).max(1);
        let is_marked = is_diff && start > 0 && columns > 3;
        let row = Row {
            indent,
            has_margin,
            inner,
            is_marked,
            range: start..start,
        };
        (row, columns - usize::from(is_marked))
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
        if shown_width(&text[next.range.clone()]) > columns {
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

/// Whether a row of this line that begins there has the margin.
fn has_margin(line: &Line, laid: &LaidOutLine, start: usize) -> bool {
    // Spaces can't be told from an indent.
    let rest = &laid.text[start..];
    let start = start + rest.len() - rest.trim_start_matches(' ').len();
    let part = laid.quoted.partition_point(|(end, _)| *end <= start);
    line.is_quoted || laid.quoted.get(part).is_some_and(|(_, quoted)| *quoted)
}

fn role_at(roles: &[(usize, Role)], at: usize) -> Role {
    let part = roles.partition_point(|(end, _)| *end <= at);
    roles.get(part).map_or(Role::Plain, |(_, role)| *role)
}

/// Where a row ends, and where the next one begins.
#[derive(Debug, PartialEq, Eq)]
struct Broken {
    end: usize,
    next: usize,
}

/// Takes as much as goes into one row, and one grapheme cluster at least. It is broken at spaces,
/// which go then, and beside wide characters; where there is neither, anywhere. `unbroken` tells of
/// a place whether a space there is to be treated as a letter.
fn take(text: &str, columns: usize, unbroken: impl Fn(usize) -> bool) -> Broken {
    let mut used = 0;
    let mut best = None;
    // Where the last word so far ends, and how wide its last character is.
    let (mut word_end, mut last) = (0, 0);
    for (at, cluster) in text.grapheme_indices(true) {
        let width = cluster.width();
        let is_space = cluster == " " && !unbroken(at);
        let beside_wide = (width == 2 || last == 2) && !unbroken(at);
        if !is_space && word_end > 0 && (word_end < at || beside_wide) {
            best = Some(Broken {
                end: word_end,
                next: at,
            });
        }
        if !is_space && used + width > columns && at > 0 {
            return best.unwrap_or(Broken { end: at, next: at });
        }
        used += width;
        if !is_space {
            (word_end, last) = (at + cluster.len(), width);
        }
    }
    Broken {
        end: if used > columns { word_end } else { text.len() },
        next: text.len(),
    }
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
    fn clusters_are_never_split() {
        let check = |text: &str, width, expected: &[&str]| check(Line::from(text), width, expected);
        check("日本語", 4, &["日本", "語"]);
        check("日本語", 5, &["日本", "語"]);
        check("日本 語", 6, &["日本", "語"]);
        check("日本語", 1, &["日", "本", "語"]);
        check("日本語", 0, &["日", "本", "語"]);
        check(
            "e\u{301}e\u{301}e\u{301}",
            2,
            &["e\u{301}e\u{301}", "e\u{301}"],
        );
        check("👩‍👩‍👧👩‍👩‍👧", 3, &["👩‍👩‍👧", "👩‍👩‍👧"]);
        check("🇩🇪🇫🇷", 2, &["🇩🇪", "🇫🇷"]);
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
        check(diff("+日本語"), 4, &["+日", "↪本", "↪語"]);
        check(diff("+abc"), 2, &["+a", "bc"]);
        check(diff("+   "), 3, &["+  ", " "]);
    }

    #[test]
    fn what_is_not_the_hosts_own_has_a_margin_where_a_row_begins_with_it() {
        let text = |text: &str| Line {
            flow: Flow::Text,
            ..Line::from(text).quoted()
        };
        check(text("one two"), 5, &["│ one", "│ two"]);
        check(text("one two").indented(2), 9, &["  │ one", "  │ two"]);
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
        check(diff, 10, &["│ +  one t", "│ ↪wo"]);
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
