//! Patterns of identities.

use std::fmt;

/// A pattern of identities: `*` stands for any characters except `/`, and `**` for any characters.
///
/// Everything else stands for itself, and the whole identity must match.
/// A pattern compares text. It knows nothing about URLs, so `https://example.com/ann/**` matches
/// `https://example.com/ann/../bob`, too, and `https://example.com/ann/*` matches neither that nor
/// `https://example.com/ann/a/b`, but does match `https://example.com/ann/..`.
/// Sigstore's authorities don't issue certificates for such URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityPattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Byte(u8),
    Segment,
    Any,
}

impl IdentityPattern {
    /// Creates a pattern. Each text is one.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut parts = Vec::with_capacity(text.len());
        for &byte in text.as_bytes() {
            match (byte, parts.last_mut()) {
                (b'*', Some(last @ (Part::Segment | Part::Any))) => *last = Part::Any,
                (b'*', _) => parts.push(Part::Segment),
                _ => parts.push(Part::Byte(byte)),
            }
        }
        Self { text, parts }
    }

    /// Returns the text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the whole identity matches, in time proportional to the product of both
    /// lengths.
    pub fn matches(&self, identity: &str) -> bool {
        let identity = identity.as_bytes();
        // `reached[i]`: the parts so far match the first `i` bytes.
        let mut reached = vec![false; identity.len() + 1];
        reached[0] = true;
        for part in &self.parts {
            match *part {
                Part::Byte(byte) => {
                    for i in (0..identity.len()).rev() {
                        reached[i + 1] = reached[i] && identity[i] == byte;
                    }
                    reached[0] = false;
                }
                Part::Segment => {
                    for i in 0..identity.len() {
                        reached[i + 1] |= reached[i] && identity[i] != b'/';
                    }
                }
                Part::Any => {
                    for i in 0..identity.len() {
                        reached[i + 1] |= reached[i];
                    }
                }
            }
        }
        reached[identity.len()]
    }
}

impl fmt::Display for IdentityPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        let url = "https://github.com/ann/dedupe/.github/workflows/release.yml@refs/tags/v1";
        for (pattern, identity, expected) in [
            ("ann@example.com", "ann@example.com", true),
            ("ann@example.com", "Ann@example.com", false),
            ("ann@example.com", "ann@example.com.evil.org", false),
            ("*@example.com", "ann@example.com", true),
            ("*@example.com", "ann@example.com@evil.org", false),
            ("*@example.com", "a/b@example.com", false),
            (url, url, true),
            ("https://github.com/ann/dedupe/**", url, true),
            ("https://github.com/ann/*", url, false),
            (
                "https://github.com/ann/*/.github/workflows/release.yml@**",
                url,
                true,
            ),
            (
                "https://github.com/ann/*/.github/workflows/*@refs/tags/*",
                url,
                true,
            ),
            (
                "https://github.com/ann/**",
                "https://github.com/annex/x",
                false,
            ),
            (
                "https://github.com/ann/*",
                "https://github.com/ann/x/../../evil",
                false,
            ),
            (
                "https://github.com/ann/*",
                "https://github.com/ann/..",
                true,
            ),
            (
                "https://github.com/ann/**",
                "https://github.com/ann/../evil",
                true,
            ),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("**", "a/b", true),
            ("***", "a/b", true),
            ("é*", "éé", true),
            ("?", "a", false),
            (".*", "ab", false),
        ] {
            let actual = IdentityPattern::new(pattern).matches(identity);
            assert_eq!(actual, expected, "{pattern} and {identity}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_ends_soon() {
        let pattern = IdentityPattern::new("*a".repeat(500));
        assert!(!pattern.matches(&"a".repeat(499)));
        assert!(pattern.matches(&"a".repeat(2000)));
    }

    /// The definition: the first token takes each possible beginning.
    fn matches_by_definition(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', '*', rest @ ..] => {
                (0..=text.len()).any(|taken| matches_by_definition(rest, &text[taken..]))
            }
            ['*', rest @ ..] => (0..=text.len())
                .take_while(|&taken| !text[..taken].contains(&'/'))
                .any(|taken| matches_by_definition(rest, &text[taken..])),
            [first, rest @ ..] => {
                text.first() == Some(first) && matches_by_definition(rest, &text[1..])
            }
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_by_its_definition(pattern in "[ab/é*]{0,8}", text in "[ab/é]{0,8}") {
            let expected = matches_by_definition(
                &pattern.chars().collect::<Vec<_>>(),
                &text.chars().collect::<Vec<_>>(),
            );
            prop_assert_eq!(IdentityPattern::new(pattern).matches(&text), expected);
        }
    }
}
