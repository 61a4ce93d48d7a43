//! Text as PostgreSQL can hold it: any but a NUL character, which Rust's strings may have.

use std::borrow::Cow;

/// A character that is none: no text has it on purpose.
const ESCAPE: char = '\u{FFFF}';

/// The same text without NUL characters. Nearly every text is its own escaped form, and so can be
/// read in any client.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => escaped.extend([ESCAPE, '0']),
            ESCAPE => escaped.extend([ESCAPE, ESCAPE]),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// The text that was [`escaped`].
pub fn unescaped(text: String) -> String {
    if !text.contains(ESCAPE) {
        return text;
    }
    let mut unescaped = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ESCAPE => match characters.next() {
                Some('0') => unescaped.push('\0'),
                Some(other) => unescaped.push(other),
                None => {}
            },
            other => unescaped.push(other),
        }
    }
    unescaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_as_it_was_and_is_kept_without_nul() {
        for text in [
            "",
            "plain",
            "\0",
            "a\0b",
            "\u{FFFF}",
            "\u{FFFF}0",
            "0\u{FFFF}\0\0\u{FFFF}\u{FFFF}",
            "größe \\0 \u{10FFFF}",
        ] {
            let kept = escaped(text).into_owned();
            assert!(!kept.contains('\0'), "{text:?}");
            assert_eq!(unescaped(kept), text);
        }
    }
}
