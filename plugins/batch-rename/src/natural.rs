//! An order of names in which `a2` comes before `a10`.

use std::cmp::Ordering;

/// Compares two paths. Runs of digits count as numbers, of any length.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    // Names that are equal so far differ only in leading zeros.
    Runs(a).cmp(Runs(b)).then_with(|| a.cmp(b))
}

/// A part of a path, declared in the order in which parts of different kinds are sorted.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Run<'a> {
    /// A separator. It comes first, so a directory's files come before its siblings with a longer
    /// name.
    Separator,
    /// A number's length and digits, without leading zeros. Of two numbers, the longer one is
    /// larger.
    Number(usize, &'a str),
    Other(char),
}

struct Runs<'a>(&'a str);

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    fn next(&mut self) -> Option<Run<'a>> {
        let first = self.0.chars().next()?;
        let rest = self.0.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &self.0[..self.0.len() - rest.len()];
        if digits.is_empty() {
            self.0 = &self.0[first.len_utf8()..];
            return Some(if first == '/' {
                Run::Separator
            } else {
                Run::Other(first)
            });
        }
        self.0 = rest;
        let digits = digits.trim_start_matches('0');
        Some(Run::Number(digits.len(), digits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_as_numbers() {
        let sorted = [
            "0",
            "1.jpg",
            "2.jpg",
            "10.jpg",
            "99999999999999999999998",
            "99999999999999999999999",
            "a",
            "a/z",
            "a/z/1",
            "a1",
            "a01",
            "a2",
            "a2b",
            "a10",
            "a 1",
            "ab",
            "b",
            "é",
        ];
        for (index, one) in sorted.iter().enumerate() {
            for (other_index, other) in sorted.iter().enumerate() {
                // Equal but for leading zeros: those without come later in bytes.
                if (*one, *other) == ("a1", "a01") || (*one, *other) == ("a01", "a1") {
                    continue;
                }
                assert_eq!(
                    compare(one, other),
                    index.cmp(&other_index),
                    "{one} {other}"
                );
            }
        }
        assert_ne!(compare("a1", "a01"), Ordering::Equal);
    }
}
