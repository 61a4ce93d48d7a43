//! The formats of a group in a template: another case, or a number with leading zeros.

use unicode_normalization::char::is_combining_mark;

use crate::name::shown;

/// The format of a group: the part after the colon in `{1:upper}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Upper,
    Lower,
    /// A capital first letter for each word, and the rest in lower case.
    Title,
    /// A capital first letter, and the rest in lower case.
    Sentence,
    /// A number with at least this many digits.
    Digits(usize),
}

/// The most digits that a format can ask for: more than any counter has.
pub(crate) const MAX_WIDTH: usize = 20;

/// Parses a number of digits.
pub(crate) fn width(text: &str) -> Option<usize> {
    let width = text.parse().ok()?;
    (width <= MAX_WIDTH).then_some(width)
}

impl Format {
    /// Parses a format.
    ///
    /// # Errors
    /// Returns a message with the known formats if `text` is none of them.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "upper" => Ok(Self::Upper),
            "lower" => Ok(Self::Lower),
            "title" => Ok(Self::Title),
            "sentence" => Ok(Self::Sentence),
            _ => width(text).map(Self::Digits).ok_or_else(|| {
                format!(
                    "`{text}` is not a format; use `upper`, `lower`, `title`, `sentence`, \
                     or a number of digits up to {MAX_WIDTH}"
                )
            }),
        }
    }

    /// Writes `text` in this format. An empty group stays empty.
    ///
    /// # Errors
    /// Returns an error if the format is a number of digits, and `text` has other characters.
    pub(crate) fn write(self, text: &str, into: &mut String) -> Result<(), String> {
        match self {
            Self::Upper => *into += &text.to_uppercase(),
            Self::Lower => *into += &text.to_lowercase(),
            Self::Title => {
                let mut rest = text;
                while let Some(start) = rest.find(char::is_alphanumeric) {
                    let length =
                        (rest[start..].find(|c| !is_of_word(c))).unwrap_or(rest.len() - start);
                    *into += &rest[..start];
                    capitalize(&rest[start..start + length], into);
                    rest = &rest[start + length..];
                }
                *into += rest;
            }
            Self::Sentence => {
                let start = text.find(char::is_alphanumeric).unwrap_or(text.len());
                *into += &text[..start];
                capitalize(&text[start..], into);
            }
            Self::Digits(_) if text.is_empty() => {}
            Self::Digits(width) => {
                if !text.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(format!("needs digits, and the group is `{}`", shown(text)));
                }
                let number = text.trim_start_matches('0');
                // Zero has at least one digit.
                let zeros = width.max(1).saturating_sub(number.len());
                into.extend(std::iter::repeat_n('0', zeros));
                *into += number;
            }
        }
        Ok(())
    }
}

/// Checks if a character can continue a word. Marks follow their letter if a name is in NFD.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '\'' | '’')
}

fn capitalize(word: &str, into: &mut String) {
    let mut characters = word.chars();
    if let Some(first) = characters.next() {
        // `ß` becomes `Ss`.
        let mut upper = first.to_uppercase();
        into.extend(upper.next());
        into.extend(upper.flat_map(char::to_lowercase));
        *into += &characters.as_str().to_lowercase();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(format: &str, text: &str) -> Result<String, String> {
        let mut into = String::new();
        let format = Format::parse(format)?;
        format.write(text, &mut into).map(|()| into)
    }

    #[test]
    fn case_is_that_of_every_language() {
        let check = |format, text, expected: &str| {
            assert_eq!(written(format, text).as_deref(), Ok(expected));
        };
        check("upper", "straße é е", "STRASSE É Е");
        check("lower", "ÄÉ ΟΔΟΣ", "äé οδος");
        check("title", "the_OLD man's-sea", "The_Old Man's-Sea");
        check("title", "ÉTÉ à l’eau ßa", "Été À L’eau Ssa");
        // A letter and its accent as two characters.
        check(
            "title",
            "cafe\u{301}te\u{301}ria",
            "Cafe\u{301}te\u{301}ria",
        );
        check("title", "2nd 日本 __", "2nd 日本 __");
        check("sentence", "_IMG OF Me", "_Img of me");
        check("sentence", "...", "...");
        for format in ["upper", "lower", "title", "sentence", "3"] {
            check(format, "", "");
        }
    }

    #[test]
    fn a_number_has_at_least_as_many_digits() {
        let check = |format, text, expected: &str| {
            assert_eq!(written(format, text).as_deref(), Ok(expected));
        };
        check("3", "7", "007");
        check("3", "1234", "1234");
        check("3", "00007", "007");
        check("1", "0007", "7");
        check("0", "000", "0");
        check("2", "000", "00");
        check("03", "7", "007");
        let long = "9".repeat(200);
        check("20", &long, &long);
    }

    #[test]
    fn only_digits_are_padded() {
        for text in ["a", "-1", "1 ", "٣", "1.5"] {
            let expected = format!("needs digits, and the group is `{text}`");
            assert_eq!(written("3", text), Err(expected));
        }
    }

    proptest! {
        #[test]
        fn a_padded_number_is_the_same_number(number: u64, zeros in 0..5usize, width in 0..=20usize) {
            let text = format!("{}{number}", "0".repeat(zeros));
            let padded = written(&width.to_string(), &text).unwrap();
            prop_assert_eq!(padded.parse(), Ok(number));
            prop_assert_eq!(padded.len(), width.max(number.to_string().len()));
        }

        #[test]
        fn a_change_of_case_changes_nothing_else(text in "\\PC*") {
            let folded = |text: &str| text.to_lowercase().to_uppercase();
            for format in ["upper", "lower", "title", "sentence"] {
                let changed = written(format, &text).unwrap();
                prop_assert_eq!(folded(&changed), folded(&text), "{} {}", format, text);
            }
        }
    }
}
