//! Regular expressions, in the syntax of the crate `regex`.

use std::error::Error as _;
use std::ops::Range;

use airlock_tool::Error;
use regex_automata::meta::{self, BuildError};
use regex_automata::util::interpolate;
use regex_automata::util::syntax;

/// The most bytes that a compiled expression takes, as for the crate `regex`.
const SIZE_LIMIT: usize = 10 << 20;

pub(crate) struct Regex(meta::Regex);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) literal: bool,
    pub(crate) ignore_case: bool,
    pub(crate) multiline: bool,
}

impl Regex {
    /// Parses an expression. `^` and `$` match at lines.
    ///
    /// # Errors
    /// Returns an error for the caller that shows the mistake.
    pub(crate) fn new(pattern: &str, options: Options) -> Result<Self, Error> {
        let syntax = syntax::Config::new()
            .case_insensitive(options.ignore_case)
            .multi_line(true)
            .dot_matches_new_line(options.multiline);
        let config = meta::Config::new().nfa_size_limit(Some(SIZE_LIMIT));
        let pattern = if options.literal {
            escape(pattern)
        } else {
            pattern.to_owned()
        };
        let built = meta::Builder::new()
            .syntax(syntax)
            .configure(config)
            .build(&pattern);
        built
            .map(Self)
            .map_err(|error| Error::tool(problem(&error)))
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns the ranges of the matches in a text.
    pub(crate) fn matches(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        self.0.find_iter(text).map(|it| it.range())
    }

    /// Returns the ranges of the matches and the text for each, from a template such as `$1`. Stops
    /// when `room`, the bytes that the texts may have, is used up.
    pub(crate) fn replacements(
        &self,
        text: &str,
        template: &str,
        room: &mut usize,
    ) -> Option<Vec<(Range<usize>, String)>> {
        let group = |name: &str| {
            self.0
                .group_info()
                .to_index(regex_automata::PatternID::ZERO, name)
        };
        let mut found = Vec::new();
        for captures in self.0.captures_iter(text) {
            let range = captures.get_match()?.range();
            let mut new = String::new();
            let append = |index: usize, new: &mut String| {
                if let Some(span) = captures.get_group(index) {
                    new.push_str(&text[span.range()]);
                }
            };
            interpolate::string(template, append, group, &mut new);
            *room = room.checked_sub(new.len())?;
            found.push((range, new));
        }
        Some(found)
    }

    /// Checks that a template names only groups that the expression has.
    ///
    /// # Errors
    /// Returns an error for the caller that names the mistake.
    pub(crate) fn check_template(&self, template: &str) -> Result<(), Error> {
        use std::cell::RefCell;
        let groups = self.0.group_info();
        let unknown = RefCell::new(None);
        let zero = regex_automata::PatternID::ZERO;
        let index = |index: usize, _: &mut String| {
            if index >= groups.group_len(zero) {
                unknown.borrow_mut().get_or_insert(index.to_string());
            }
        };
        let name = |name: &str| {
            let found = groups.to_index(zero, name);
            if found.is_none() {
                unknown.borrow_mut().get_or_insert(name.to_owned());
            }
            found
        };
        interpolate::string(template, index, name, &mut String::new());
        if let Some(name) = unknown.into_inner() {
            let digits = name.trim_start_matches(|c: char| c.is_ascii_digit());
            let advice = match &name[..name.len() - digits.len()] {
                "" => String::new(),
                number if digits.is_empty() => {
                    format!(" For the text `${number}`, write `$${number}`.")
                }
                number => format!(
                    " For group {number} and the text `{digits}`, write `${{{number}}}{digits}`."
                ),
            };
            return Err(Error::tool(format!(
                "`replacement` names the group `{name}`, which `pattern` doesn't have.{advice} A dollar sign is `$$`."
            )));
        }
        let bytes = template.as_bytes();
        let backreference = bytes
            .windows(2)
            .find(|it| it[0] == b'\\' && it[1].is_ascii_digit());
        match backreference {
            Some(found) if groups.group_len(zero) > 1 => Err(Error::tool(format!(
                "`replacement` has `\\{0}`; a group is written `${{{0}}}`.",
                char::from(found[1])
            ))),
            _ => Ok(()),
        }
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn problem(error: &BuildError) -> String {
    match (error.size_limit(), error.source()) {
        (Some(limit), _) => format!("The compiled `pattern` is larger than {limit} bytes."),
        (None, Some(cause)) => {
            let mut cause: &dyn std::error::Error = cause;
            while let Some(deeper) = cause.source() {
                cause = deeper;
            }
            format!("`pattern` is not a valid regular expression: {cause}")
        }
        (None, None) => format!("`pattern` is not a valid regular expression: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(pattern: &str, template: &str, text: &str, literal: bool) -> String {
        let regex = Regex::new(
            pattern,
            Options {
                literal,
                ..Options::default()
            },
        )
        .unwrap();
        let found = regex.replacements(text, template, &mut 100).unwrap();
        found.into_iter().map(|(_, new)| new).collect()
    }

    #[test]
    fn a_template_has_the_groups_of_the_match() {
        assert_eq!(
            replaced("(a)(b)?", "<$2$1${1}x$0$$>", "a", false),
            "<aaxa$>"
        );
        assert_eq!(replaced("a.c", "x", "abc a.c", true), "x");
    }

    #[test]
    fn texts_that_are_too_long_are_not_made() {
        let regex = Regex::new("a", Options::default()).unwrap();
        let room = &mut 10;
        assert!(regex.replacements("aa", "12345", room).is_some());
        assert!(regex.replacements("a", "1", room).is_none());
    }

    #[test]
    fn a_template_with_a_mistake_is_refused() {
        let check = |template: &str, expected: &str| {
            let regex = Regex::new("(?<n>a)", Options::default()).unwrap();
            let checked = regex.check_template(template).map_err(|it| it.to_string());
            match expected {
                "" => assert_eq!(checked, Ok(())),
                _ => assert!(
                    checked.clone().unwrap_err().contains(expected),
                    "{checked:?}"
                ),
            }
        };
        check("$1 ${n} $$x", "");
        check("$2", "`2`");
        check("$1x", "write `${1}x`");
        check("$m", "`m`");
        check("\\1", "written `${1}`");
    }

    #[test]
    fn an_expression_with_a_mistake_is_refused() {
        let refused = Regex::new("(a", Options::default())
            .map(drop)
            .unwrap_err()
            .to_string();
        assert!(refused.contains("unclosed group"), "{refused}");
    }
}
