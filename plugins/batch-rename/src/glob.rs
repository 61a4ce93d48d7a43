//! Patterns for paths: `*`, `?`, `[a-z]` and `{a,b}` within a component, `**` for any directories.

use airlock_tool::Error;
use glob::Pattern;

use crate::form;

/// A pattern, split into components, so that a walk of the tree can skip directories that can't
/// match.
#[derive(Debug, PartialEq)]
pub(crate) struct Glob {
    pub(crate) components: Vec<Component>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Component {
    Name(String),
    /// A pattern for a name. A hidden name matches only if the pattern starts with a dot as well.
    Pattern(Pattern),
    /// Any number of directories that are not hidden, including none.
    Directories,
}

/// The most alternatives of a pattern: more than a realistic pattern has.
const MAX_ALTERNATIVES: usize = 1000;

/// Checks if a path that doesn't exist may be a pattern.
pub(crate) fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// Parses a pattern. Each alternative of its `{a,b}` becomes a separate pattern.
pub(crate) fn parse(pattern: &str) -> Result<Vec<Glob>, Error> {
    let mut alternatives = Vec::new();
    expand_braces(pattern, &mut alternatives)
        .and_then(|()| alternatives.iter().map(|it| parse_one(it)).collect())
        .map_err(|problem| Error::tool(format!("`{pattern}` is not a valid pattern: {problem}")))
}

impl Glob {
    /// Returns a pattern that matches only this path.
    pub(crate) fn exact(path: &str) -> Self {
        let name = |it| Component::Name(form::composed(it).into_owned());
        Self {
            components: path.split('/').map(name).collect(),
        }
    }
}

impl Component {
    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Name(expected) => expected == name,
            Self::Pattern(pattern) => {
                (!name.starts_with('.') || pattern.as_str().starts_with('.'))
                    && pattern.matches(name)
            }
            Self::Directories => !name.starts_with('.'),
        }
    }
}

fn parse_one(text: &str) -> Result<Glob, String> {
    let mut components = Vec::new();
    let mut position = 0;
    for text in text.split('/') {
        components.push(match text {
            "**" => Component::Directories,
            _ if !is_glob(text) => Component::Name(text.to_owned()),
            _ => Component::Pattern(pattern(text).map_err(|(at, problem)| {
                format!("{problem} at character {}", position + at + 1)
            })?),
        });
        position += text.chars().count() + 1;
    }
    if components.last() == Some(&Component::Directories) {
        components.extend(pattern("*").ok().map(Component::Pattern));
    }
    Ok(Glob { components })
}

/// Parses a pattern for names. An error has the number of characters before the problem.
fn pattern(text: &str) -> Result<Pattern, (usize, &'static str)> {
    if let Some(at) = text.find("**") {
        return Err((
            text[..at].chars().count(),
            "`**` stands for directories, and needs slashes around it",
        ));
    }
    Pattern::new(text).map_err(|error| (error.pos, error.msg))
}

/// Expands braces: `x{a,b}y` becomes `xay` and `xby`.
fn expand_braces(pattern: &str, into: &mut Vec<String>) -> Result<(), String> {
    let Some(open) = pattern.find('{') else {
        into.push(pattern.to_owned());
        return if into.len() > MAX_ALTERNATIVES {
            Err(format!("it has more than {MAX_ALTERNATIVES} alternatives"))
        } else {
            Ok(())
        };
    };
    let (alternatives, close) = alternatives(&pattern[open..]).ok_or_else(|| {
        format!(
            "`{{` without `}}` at character {}",
            pattern[..open].chars().count() + 1
        )
    })?;
    let rest = &pattern[open + close + 1..];
    alternatives
        .iter()
        .try_for_each(|it| expand_braces(&format!("{}{it}{rest}", &pattern[..open]), into))
}

/// Returns the alternatives in the braces at the start of `text`, and the position of the closing
/// brace.
fn alternatives(text: &str) -> Option<(Vec<&str>, usize)> {
    let mut found = Vec::new();
    let mut depth = 0;
    let mut start = 1;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            ',' if depth == 1 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            '}' if depth == 1 => {
                found.push(&text[start..at]);
                return Some((found, at));
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_written_out() {
        let check = |pattern, expected: &[&str]| {
            let mut alternatives = Vec::new();
            expand_braces(pattern, &mut alternatives).unwrap();
            assert_eq!(alternatives, expected);
        };
        check("*.jpg", &["*.jpg"]);
        check("*.{jpg,png}", &["*.jpg", "*.png"]);
        check("{a,b{c,d}}{1,2}", &["a1", "a2", "bc1", "bc2", "bd1", "bd2"]);
        check("a{,.bak}", &["a", "a.bak"]);
        check("ä{ö}ü", &["äöü"]);
    }

    #[test]
    fn a_component_matches_hidden_names_only_with_its_own_dot() {
        let check = |pattern, name, expected| {
            let glob = parse_one(pattern).unwrap();
            assert_eq!(
                glob.components[0].matches(name),
                expected,
                "{pattern} {name}"
            );
        };
        check("*.jpg", "a.jpg", true);
        check("*.jpg", ".jpg", false);
        check(".*", ".jpg", true);
        check("[.]*", ".jpg", false);
        check("?b", "äb", true);
        check("[a-c]1", "b1", true);
        check("[!a-c]1", "b1", false);
        check("**", ".git", false);
    }

    #[test]
    fn a_trailing_double_star_is_every_file_below() {
        assert_eq!(parse_one("a/**").unwrap(), parse_one("a/**/*").unwrap());
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let check = |pattern: &str, problem: &str| {
            let expected = format!("`{pattern}` is not a valid pattern: {problem}");
            assert_eq!(parse(pattern), Err(Error::tool(expected)));
        };
        check("ä/[a", "invalid range pattern at character 3");
        check(
            "a/b**",
            "`**` stands for directories, and needs slashes around it at character 4",
        );
        check("ä*.{jpg", "`{` without `}` at character 4");
        check(&"{a,b}".repeat(10), "it has more than 1000 alternatives");
    }
}
