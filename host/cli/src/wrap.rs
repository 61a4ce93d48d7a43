//! Text in a column.

use terminal_size::{Width, terminal_size};
use unicode_width::UnicodeWidthStr;

/// Where there is no terminal.
const USUAL: usize = 100;

/// Longer lines are hard to read, and shorter ones hold no table.
const READABLE: std::ops::RangeInclusive<usize> = 60..=120;

/// How many columns a line may have.
pub fn columns() -> usize {
    let terminal = terminal_size().map_or(USUAL, |(Width(columns), _)| columns.into());
    terminal.clamp(*READABLE.start(), *READABLE.end())
}

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Breaks text between words, into lines of at most so many columns. A longer word has a line of its own. There is at least
/// one line.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && width(&line) + 1 + width(word) > columns {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words() {
        let check = |text, columns, expected: &[&str]| assert_eq!(wrap(text, columns), expected);
        check("", 10, &[""]);
        check("one two three", 7, &["one two", "three"]);
        check("one\n\ntwo", 7, &["one", "", "two"]);
        check(
            "a-word-that-is-too-long b",
            5,
            &["a-word-that-is-too-long", "b"],
        );
        check("日本 日本", 5, &["日本", "日本"]);
    }
}
