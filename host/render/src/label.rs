//! A label in its parts.

/// What an action's label says: of what kind it is, and what it would do.
///
/// `AST Edit: 2 replacements in 1 file` has the source `AST Edit` and the summary
/// `2 replacements in 1 file`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label<'a> {
    /// What stands before the first colon that is followed by a space, as long as there is
    /// something on either side.
    pub source: Option<&'a str>,
    /// The rest, or all of it.
    pub summary: &'a str,
}

impl<'a> Label<'a> {
    /// Takes a label apart.
    pub fn parse(label: &'a str) -> Self {
        let label = label.trim();
        let mut colons = label.match_indices(':');
        let colon = colons.find(|(at, _)| label[at + 1..].starts_with(char::is_whitespace));
        let parts = colon.map(|(at, _)| (label[..at].trim(), label[at + 1..].trim()));
        match parts {
            Some((source, summary)) if !source.is_empty() && !summary.is_empty() => Self {
                source: Some(source),
                summary,
            },
            _ => Self {
                source: None,
                summary: label,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_stands_before_the_first_colon_and_space() {
        let check = |label, source, summary| {
            assert_eq!(Label::parse(label), Label { source, summary }, "{label:?}");
        };
        check(
            "AST Edit: 2 replacements in 1 file",
            Some("AST Edit"),
            "2 replacements in 1 file",
        );
        check("Tidy up", None, "Tidy up");
        check("Move: a: b: c", Some("Move"), "a: b: c");
        check("Edit  :\t two ", Some("Edit"), "two");
        // A colon within a word is part of it.
        check("src/a.rs:10 is wrong", None, "src/a.rs:10 is wrong");
        check("Fetch: https://a.b:80", Some("Fetch"), "https://a.b:80");
        check(
            "https://a.b is down: retry",
            Some("https://a.b is down"),
            "retry",
        );
        // A colon at an end parts nothing.
        check("Tidy up:", None, "Tidy up:");
        check("Tidy up: ", None, "Tidy up:");
        check(": all of it", None, ": all of it");
        check(" : a: b", None, ": a: b");
        check(":", None, ":");
        check("", None, "");
    }
}
