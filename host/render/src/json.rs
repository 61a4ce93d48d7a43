//! JSON for display.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use super::escape::{Piece, Tabs, pieces};

/// Returns a value as JSON in one line. Each character that a [`Block`](super::Block) would escape
/// is written as `\\uXXXX`. Programs read the same value, and the text can't control the terminal
/// or mislead its reader.
///
/// # Errors
/// Fails if the value can't be represented in JSON.
pub fn escape_json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    let mut written = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut written, Escaping))?;
    Ok(String::from_utf8_lossy(&written).into_owned())
}

struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        for piece in pieces(fragment, Tabs::Kept) {
            match piece {
                Piece::Kept(text) => writer.write_all(text.as_bytes())?,
                Piece::Escaped(c) => write_escape(writer, c)?,
            }
        }
        Ok(())
    }

    /// Writes JSON that was kept as text.
    fn write_raw_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        for piece in pieces(fragment, Tabs::Kept) {
            match piece {
                Piece::Kept(text) => writer.write_all(text.as_bytes())?,
                // Only whitespace between values: strings can't contain raw line breaks.
                Piece::Escaped('\n' | '\r') => writer.write_all(b" ")?,
                Piece::Escaped(c) => write_escape(writer, c)?,
            }
        }
        Ok(())
    }
}

fn write_escape<W: ?Sized + io::Write>(writer: &mut W, c: char) -> io::Result<()> {
    for unit in c.encode_utf16(&mut [0; 2]) {
        write!(writer, "\\u{unit:04x}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::escape_line;

    #[test]
    fn what_a_terminal_or_a_reader_would_be_misled_by_is_escaped() {
        let check = |text: &str, expected: &str| {
            let value = json!({ "k": text });
            let expected = format!("{{\"k\":\"{expected}\"}}");
            let written = escape_json(&value).unwrap();
            assert_eq!(written, expected);
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
        };
        check("plain", "plain");
        check("a\n\t\"b\"", r#"a\n\t\"b\""#);
        check("\u{9b}2J", r"\u009b2J");
        check("txt.\u{202e}exe", r"txt.\u202eexe");
        check("pay\u{200b}pal", r"pay\u200bpal");
        check("a\u{2028}b\u{7f}", r"a\u2028b\u007f");
        check("a\u{e0061}", r"a\udb40\udc61");
        // What scripts and emoji need stays.
        check("日本語 👩‍👩‍👧 می\u{200c}خواهم", "日本語 👩‍👩‍👧 می\u{200c}خواهم");
    }

    proptest! {
        #[test]
        fn any_text_is_read_back_as_it_was_and_can_be_shown(text in any::<String>()) {
            let written = escape_json(&json!({ &text: [&text] })).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json!({ &text: [&text] }));
            prop_assert_eq!(&*escape_line(&written), &*written);
        }
    }
}
