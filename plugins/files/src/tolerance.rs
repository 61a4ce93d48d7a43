//! How far lines may differ from the lines that a caller expects.

use std::borrow::Cow;

/// A difference between lines that is overlooked, if no lines match with less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tolerance {
    None,
    /// White space at the ends of lines.
    Ends,
    /// Also typographic quotes, dashes and spaces.
    Characters,
    /// Also the indentation.
    Indentation,
}

impl Tolerance {
    pub(crate) const ALL: [Self; 4] = [Self::None, Self::Ends, Self::Characters, Self::Indentation];

    /// Checks if a line of a file is the expected one.
    pub(crate) fn same(self, line: &str, expected: &str) -> bool {
        match self {
            Self::None => line == expected,
            Self::Ends => line.trim_end() == expected.trim_end(),
            Self::Characters => fold(line.trim_end()) == fold(expected.trim_end()),
            Self::Indentation => fold(line.trim()) == fold(expected.trim()),
        }
    }

    /// Returns what was overlooked, for a preview.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Ends => Some("white space at the ends of lines"),
            Self::Characters => Some("typographic characters"),
            Self::Indentation => Some("indentation"),
        }
    }
}

/// Returns the text with plain quotes, dashes and spaces. It has as many characters.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(plain).collect())
}

fn plain(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        c => c,
    }
}

/// Returns what `there` becomes if `old`, which looks like it, is replaced with `new`: characters
/// that stay are those of the file.
pub(crate) fn carry(there: &str, old: &str, new: &str) -> String {
    let (there, old): (Vec<char>, Vec<char>) = (there.chars().collect(), old.chars().collect());
    let new: Vec<char> = new.chars().collect();
    if there.len() != old.len() {
        return new.into_iter().collect();
    }
    let same = |(a, b): &(&char, &char)| a == b;
    let before = old.iter().zip(&new).take_while(same).count();
    let ends = old[before..].iter().rev().zip(new[before..].iter().rev());
    let after = ends.take_while(same).count();
    let middle = &new[before..new.len() - after];
    [&there[..before], middle, &there[there.len() - after..]]
        .iter()
        .copied()
        .flatten()
        .collect()
}

/// Returns the white space at the start of a line.
pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Returns a line with the indentation that it has in the file. `pairs` are the indentations of
/// lines as a caller expects them, and as they are in the file.
pub(crate) fn reindent(line: &str, pairs: &[(&str, &str)]) -> String {
    let expected = indent(line);
    let rest = &line[expected.len()..];
    if rest.is_empty() {
        return String::new();
    }
    if let Some((_, there)) = pairs.iter().find(|(old, _)| *old == expected) {
        return format!("{there}{rest}");
    }
    let deeper = |(old, _): &&(&str, &str)| expected.starts_with(old);
    if let Some((old, there)) = pairs.iter().filter(deeper).max_by_key(|(old, _)| old.len()) {
        return format!("{there}{}{rest}", unit(&expected[old.len()..], pairs));
    }
    for (old, there) in pairs {
        let more = old.strip_prefix(expected).map(|more| unit(more, pairs));
        if let Some(outer) = more.and_then(|more| there.strip_suffix(more.as_str())) {
            return format!("{outer}{rest}");
        }
    }
    line.to_owned()
}

/// Returns white space in the unit of the file: tabs if it has them where spaces are expected.
fn unit(spaces: &str, pairs: &[(&str, &str)]) -> String {
    let per_tab = pairs.iter().find_map(|(old, there)| {
        let is_tabs = !there.is_empty() && there.bytes().all(|it| it == b'\t');
        let is_spaces = !old.is_empty() && old.bytes().all(|it| it == b' ');
        (is_tabs && is_spaces && old.len().is_multiple_of(there.len()))
            .then(|| old.len() / there.len())
    });
    match per_tab {
        Some(width)
            if spaces.bytes().all(|it| it == b' ') && spaces.len().is_multiple_of(width) =>
        {
            "\t".repeat(spaces.len() / width)
        }
        _ => spaces.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_match_with_ever_more_tolerance() {
        let check = |line: &str, expected: &str, least: Tolerance| {
            for tolerance in Tolerance::ALL {
                assert_eq!(
                    tolerance.same(line, expected),
                    tolerance >= least,
                    "{line:?}"
                );
            }
        };
        check("a", "a", Tolerance::None);
        check("a \t", "a", Tolerance::Ends);
        check("“a”\u{a0}– b", "\"a\" - b", Tolerance::Characters);
        check("\ta", "    a", Tolerance::Indentation);
        assert!(!Tolerance::Indentation.same("a  b", "a b"));
    }

    #[test]
    fn characters_that_stay_are_those_of_the_file() {
        assert_eq!(carry("“Hello.”", "\"Hello.\"", "\"Hi.\""), "“Hi.”");
        assert_eq!(carry("“a”", "\"a\"", "b"), "b");
        assert_eq!(carry("aa", "aa", "aaa"), "aaa");
    }

    #[test]
    fn a_new_line_is_indented_as_the_lines_around_it_are() {
        let check = |line: &str, pairs: &[(&str, &str)], expected: &str| {
            assert_eq!(reindent(line, pairs), expected, "{line:?} {pairs:?}");
        };
        check("a", &[("", "    ")], "    a");
        check("  a", &[("", "    ")], "      a");
        check("    a", &[("    ", "\t")], "\ta");
        check("        a", &[("    ", "\t")], "\t\ta");
        check("a", &[("    ", "\t")], "a");
        check("a", &[("  ", "      ")], "    a");
        check("", &[("", "    ")], "");
    }
}
