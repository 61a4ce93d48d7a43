//! Text that PostgreSQL can store: any text without NUL characters, which Rust strings may
//! contain.

use std::borrow::Cow;

/// A noncharacter, which no text contains on purpose.
const ESCAPE: char = '\u{FFFF}';

/// Escapes NUL characters. Nearly every text is unchanged by that, and so is readable in any
/// client.
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

/// Restores a text that was [`escaped`].
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
