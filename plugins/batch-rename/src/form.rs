//! Names that look the same but differ in their bytes: `é` is one character in the Unicode form
//! NFC, and a letter with an accent in NFD.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use unicode_normalization::{UnicodeNormalization, is_nfc, is_nfd};

/// A Unicode form that new names are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Form {
    Nfc,
    Nfd,
}

impl Form {
    pub(crate) fn write(self, text: &str) -> String {
        match self {
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
        }
    }
}

/// Returns the text in NFC.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc(text) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.nfc().collect()),
    }
}

/// Checks if two names are the same on a file system that ignores case and Unicode forms.
pub(crate) fn may_be_one(a: &str, b: &str) -> bool {
    a == b || folded(a) == folded(b)
}

/// Returns the text without the differences that file systems may ignore.
pub(crate) fn folded(text: &str) -> String {
    match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => composed(&composed(text).to_lowercase()).into_owned(),
    }
}

/// Returns a description of the form of a text.
pub(crate) fn name(text: &str) -> &'static str {
    match (is_nfc(text), is_nfd(text)) {
        (true, true) => "in plain letters",
        (true, false) => "in NFC",
        (false, true) => "in NFD",
        (false, false) => "in a mix of NFC and NFD",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_written_and_named() {
        let (nfc, nfd) = ("\u{e9}", "e\u{301}");
        assert_eq!(Form::Nfc.write(nfd), nfc);
        assert_eq!(Form::Nfd.write(nfc), nfd);
        assert_eq!(composed(nfd), nfc);
        assert_eq!([name(nfc), name(nfd)], ["in NFC", "in NFD"]);
        assert_eq!(name("e"), "in plain letters");
        assert_eq!(name(&format!("{nfc}{nfd}")), "in a mix of NFC and NFD");
    }

    #[test]
    fn names_differ_in_more_than_case_and_form() {
        assert!(may_be_one("\u{c9}.txt", "e\u{301}.TXT"));
        assert!(!may_be_one("e", "\u{e9}"));
    }
}
