//! The text of a file: with `\n` between its lines while it is edited, and as it was where nothing
//! is edited.

use std::ops::Range;

const BOM: &str = "\u{feff}";

/// The text of a file, whose byte order mark and line endings are kept apart.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    has_bom: bool,
    body: String,
    /// For each `\n` of the body, true if it is `\r\n` in the file.
    endings: Vec<bool>,
}

/// A part of a text and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) range: Range<usize>,
    pub(crate) new: String,
}

impl Text {
    /// Returns the text of a file with these bytes, or the reason why it has none.
    pub(crate) fn decode(bytes: Vec<u8>) -> Result<Self, &'static str> {
        if bytes.contains(&0) {
            return Err("is a binary file");
        }
        let text = String::from_utf8(bytes).map_err(|_| "isn't UTF-8 text")?;
        let has_bom = text.starts_with(BOM);
        let text = text.strip_prefix(BOM).unwrap_or(&text);
        let newlines = text.match_indices('\n');
        let endings = newlines.map(|(at, _)| text[..at].ends_with('\r')).collect();
        Ok(Self {
            has_bom,
            endings,
            body: text.replace("\r\n", "\n"),
        })
    }

    /// Returns the text with `\n` as its line endings.
    pub(crate) fn body(&self) -> &str {
        &self.body
    }

    pub(crate) fn has_bom(&self) -> bool {
        self.has_bom
    }

    /// Checks if most lines end in `\r\n`.
    pub(crate) fn is_crlf(&self) -> bool {
        self.endings.iter().filter(|it| **it).count() * 2 > self.endings.len()
    }

    /// Replaces parts of the body, which are in order and don't overlap. New lines end like the
    /// lines that they replace, or like most lines of the file.
    pub(crate) fn replace(&mut self, changes: &[Change]) {
        let crlf = self.is_crlf();
        let newlines = |text: &str| text.matches('\n').count();
        let (mut body, mut endings) = (String::new(), Vec::new());
        let (mut at, mut line) = (0, 0);
        for Change { range, new } in changes {
            let kept = &self.body[at..range.start];
            let kept_lines = newlines(kept);
            endings.extend_from_slice(&self.endings[line..line + kept_lines]);
            line += kept_lines;
            body.push_str(kept);
            let new = new.replace("\r\n", "\n");
            let (removed, added) = (newlines(&self.body[range.clone()]), newlines(&new));
            let replaced = &self.endings[line..line + removed];
            endings.extend((0..added).map(|it| replaced.get(it).copied().unwrap_or(crlf)));
            line += removed;
            body.push_str(&new);
            at = range.end;
        }
        body.push_str(&self.body[at..]);
        endings.extend_from_slice(&self.endings[line..]);
        (self.body, self.endings) = (body, endings);
    }

    /// Returns the contents of the file.
    pub(crate) fn encode(&self) -> String {
        let mut text = String::with_capacity(self.body.len() + self.endings.len() + BOM.len());
        if self.has_bom {
            text.push_str(BOM);
        }
        let mut endings = self.endings.iter();
        for line in self.body.split_inclusive('\n') {
            match line.strip_suffix('\n') {
                Some(line) if endings.next() == Some(&true) => {
                    text.push_str(line);
                    text.push_str("\r\n");
                }
                _ => text.push_str(line),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replaced(text: &str, range: Range<usize>, new: &str) -> String {
        let mut text = Text::decode(text.into()).unwrap();
        text.replace(&[Change {
            range,
            new: new.into(),
        }]);
        text.encode()
    }

    #[test]
    fn new_lines_end_as_the_others_do() {
        assert_eq!(replaced("a\r\nb\r\n", 0..1, "x\ny"), "x\r\ny\r\nb\r\n");
        assert_eq!(replaced("a\nb\n", 0..1, "x\r\ny"), "x\ny\nb\n");
        assert_eq!(replaced("a\r\nb\nc\r\n", 4..5, "x\n"), "a\r\nb\nx\r\n\r\n");
    }

    #[test]
    fn lines_that_are_not_replaced_keep_their_endings() {
        assert_eq!(replaced("a\nb\r\nc\nd", 2..3, "x"), "a\nx\r\nc\nd");
        assert_eq!(replaced("a\rb\r\n", 2..3, "x"), "a\rx\r\n");
    }

    #[test]
    fn a_byte_order_mark_is_kept_and_not_shown() {
        assert_eq!(replaced("\u{feff}a", 0..1, "b"), "\u{feff}b");
        assert_eq!(Text::decode("\u{feff}a".into()).unwrap().body(), "a");
    }

    #[test]
    fn binary_files_and_other_encodings_have_no_text() {
        assert_eq!(Text::decode(vec![b'a', 0]).unwrap_err(), "is a binary file");
        assert_eq!(Text::decode(vec![0xe9]).unwrap_err(), "isn't UTF-8 text");
    }

    proptest! {
        #[test]
        fn what_is_not_replaced_is_encoded_as_it_was(text in "[a\r\n\u{feff}é]{0,20}") {
            let decoded = Text::decode(text.clone().into_bytes()).unwrap();
            prop_assert_eq!(decoded.encode(), text);
        }
    }
}
