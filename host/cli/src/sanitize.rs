//! Text from guests and files, made fit for a terminal.
//!
//! A control character could move the cursor, retitle the window or hide what was printed before, and one that changes the
//! direction of writing could make a file's name read as another. Each of them is shown as its escape, such as `\u{1b}`.

use std::borrow::Cow;

/// Text of any number of lines. Line breaks and tabs stay.
pub fn text(text: &str) -> Cow<'_, str> {
    // Text that comes from Windows has them, and before a line break they do nothing.
    let text = match text.contains("\r\n") {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => Cow::Borrowed(text),
    };
    let harmful = |c: char| is_harmful(c) && !matches!(c, '\n' | '\t');
    match text.contains(harmful) {
        true => Cow::Owned(escape(&text, harmful)),
        false => text,
    }
}

/// Text that belongs on one line. Line breaks and tabs are shown as escapes too.
pub fn line(text: &str) -> Cow<'_, str> {
    match text.contains(is_harmful) {
        true => Cow::Owned(escape(text, is_harmful)),
        false => Cow::Borrowed(text),
    }
}

fn is_harmful(c: char) -> bool {
    let changes_direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks_line = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || changes_direction || breaks_line
}

fn escape(text: &str, harmful: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match harmful(c) {
            true => escaped.extend(c.escape_default()),
            false => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_drives_a_terminal_is_left() {
        let check = |before, as_text, as_line| {
            assert_eq!(text(before), as_text, "text of {before:?}");
            assert_eq!(line(before), as_line, "line of {before:?}");
        };
        check("plain", "plain", "plain");
        check(
            "Grüße, 日本語, 👩‍👩‍👧",
            "Grüße, 日本語, 👩‍👩‍👧",
            "Grüße, 日本語, 👩‍👩‍👧",
        );
        check("a\n\tb", "a\n\tb", r"a\n\tb");
        check("a\r\nb", "a\nb", r"a\r\nb");
        check("secret\rpublic", r"secret\rpublic", r"secret\rpublic");
        check(
            "\x1b[2J\x1b]0;title\x07",
            r"\u{1b}[2J\u{1b}]0;title\u{7}",
            r"\u{1b}[2J\u{1b}]0;title\u{7}",
        );
        check("a\x08\x7f\0", r"a\u{8}\u{7f}\u{0}", r"a\u{8}\u{7f}\u{0}");
        // C1, where 0x9b alone begins a control sequence.
        check("\u{9b}2J\u{85}", r"\u{9b}2J\u{85}", r"\u{9b}2J\u{85}");
        check("txt.\u{202e}exe", r"txt.\u{202e}exe", r"txt.\u{202e}exe");
        check(
            "\u{2066}a\u{2069}\u{200f}",
            r"\u{2066}a\u{2069}\u{200f}",
            r"\u{2066}a\u{2069}\u{200f}",
        );
        check("a\u{2028}b", r"a\u{2028}b", r"a\u{2028}b");
    }
}
