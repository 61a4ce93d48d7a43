//! Patterns of paths and names.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use globset::{Glob, GlobBuilder, GlobMatcher};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::visible::is_invisible;

/// A pattern of paths: `*`, `?`, `[ab]`, `{a,b}`, and `**` for any number of directories.
///
/// A pattern without a slash, such as `*.md`, matches a name at any depth. One that ends in a
/// slash, such as `docs/`, matches everything below a directory. Any other pattern, such as
/// `docs/**/*.md`, matches a path relative to the workspace. Upper and lower case differ.
///
/// Each name of a path is matched by itself, so nothing but `**` matches a slash.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
    names: Arc<[NamePattern]>,
}

/// The maximum length of a pattern, in bytes.
const MAX: usize = 1000;

/// The maximum number of names in a pattern. There is a bit for each, and one more.
const MAX_NAMES: usize = 32;

/// The maximum depth of braces, which a compiler of regular expressions follows by recursion.
const MAX_BRACES: usize = 4;

/// A part of a pattern between slashes.
enum NamePattern {
    /// `**`: any number of names, but at least one at the end of a pattern.
    AnyPath,
    /// `*`
    Any,
    /// A name without special characters.
    Exactly(String),
    /// Compiled when it is first needed: most patterns of stored actions never are.
    Glob(Glob, OnceLock<GlobMatcher>),
}

/// How far a pattern is matched by a path: a bit for each name that can come next, and one for the
/// end of the pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reached(u64);

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Returns the problem as a clause if the text is not a pattern.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        check(&text)?;
        let below = text.strip_prefix("./").unwrap_or(&text);
        let mut names = Vec::new();
        if !below.contains('/') {
            names.push(NamePattern::AnyPath);
        }
        for name in below.strip_suffix('/').unwrap_or(below).split('/') {
            let name = NamePattern::new(name);
            names.push(name.map_err(|problem| format!("{text:?} is no pattern: {problem}"))?);
        }
        if below.ends_with('/') {
            names.push(NamePattern::AnyPath);
        }
        if names.len() > MAX_NAMES {
            return Err(format!(
                "a pattern has at most {MAX_NAMES} names between slashes, and here are {}",
                names.len()
            ));
        }
        let names = names.into();
        Ok(Self { text, names })
    }

    /// Checks if the pattern matches this path below the workspace.
    pub fn matches(&self, path: &str) -> bool {
        !path.is_empty() && self.reached(path).has(self.names.len())
    }

    /// Checks if the pattern may match something below a directory. The workspace is the empty
    /// path.
    pub(crate) fn leads_from(&self, directory: &str) -> bool {
        let reached = self.reached(directory);
        (0..self.names.len()).any(|at| reached.has(at))
    }

    /// Checks if the pattern matches everything below a directory.
    pub(crate) fn covers(&self, directory: &str) -> bool {
        let last = self.names.len() - 1;
        matches!(self.names[last], NamePattern::AnyPath) && self.reached(directory).has(last)
    }

    /// Returns the directory that all of the pattern's paths are below, as far as it is plain
    /// text: of `docs/*.md`, `docs`. The workspace itself is the empty path.
    pub(crate) fn directory(&self) -> String {
        let above = &self.names[..self.names.len() - 1];
        let plain = above.iter().map_while(|name| match name {
            NamePattern::Exactly(name) => Some(name.as_str()),
            _ => None,
        });
        plain.collect::<Vec<_>>().join("/")
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the pattern for a sentence: in quotes, unless it can't be taken for words.
    pub(crate) fn shown(&self) -> Cow<'_, str> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "._/*?[]{}!-+@".contains(it);
        if self.text.chars().all(is_plain) {
            Cow::Borrowed(&self.text)
        } else {
            Cow::Owned(format!("{:?}", self.text))
        }
    }

    fn reached(&self, path: &str) -> Reached {
        let mut reached = self.skipping(Reached(1));
        if path.is_empty() {
            return reached;
        }
        for name in path.split('/') {
            let mut next = Reached(0);
            for at in (0..self.names.len()).filter(|at| reached.has(*at)) {
                match &self.names[at] {
                    NamePattern::AnyPath => {
                        next.add(at);
                        if at + 1 == self.names.len() {
                            next.add(at + 1);
                        }
                    }
                    pattern if pattern.matches(name) => next.add(at + 1),
                    _ => {}
                }
            }
            reached = self.skipping(next);
            if reached == Reached(0) {
                break;
            }
        }
        reached
    }

    /// Adds what comes after each `**`, which may stand for no name, except at the end.
    fn skipping(&self, mut reached: Reached) -> Reached {
        for at in 0..self.names.len() - 1 {
            if reached.has(at) && matches!(self.names[at], NamePattern::AnyPath) {
                reached.add(at + 1);
            }
        }
        reached
    }
}

impl Reached {
    fn has(self, at: usize) -> bool {
        self.0 & 1 << at != 0
    }

    fn add(&mut self, at: usize) {
        self.0 |= 1 << at;
    }
}

impl NamePattern {
    fn new(name: &str) -> Result<Self, String> {
        Ok(match name {
            "" => return Err("a name in it is empty".to_owned()),
            "**" => Self::AnyPath,
            "*" => Self::Any,
            name if !name.contains(['*', '?', '[', ']', '{', '}', '\\']) => {
                Self::Exactly(name.to_owned())
            }
            name => {
                let glob = build(name, false).map_err(|error| error.kind().to_string())?;
                Self::Glob(glob, OnceLock::new())
            }
        })
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::AnyPath | Self::Any => true,
            Self::Exactly(exactly) => exactly == name,
            Self::Glob(glob, matcher) => {
                let matcher = matcher.get_or_init(|| glob.compile_matcher());
                matcher.is_match(name)
            }
        }
    }
}

/// Returns the glob of a whole pattern without compiling it, because a set compiles its globs
/// together.
///
/// # Errors
/// Returns the problem as a clause if the text is not a pattern.
pub fn glob(text: &str, ignores_case: bool) -> Result<Glob, String> {
    check(text)?;
    let below = text.strip_prefix("./").unwrap_or(text);
    let whole = match (below.strip_suffix('/'), below.contains('/')) {
        (Some(directory), _) => format!("{directory}/**"),
        (None, true) => below.to_owned(),
        (None, false) => format!("**/{below}"),
    };
    let glob = build(&whole, ignores_case);
    glob.map_err(|error| format!("{text:?} is no pattern: {}", error.kind()))
}

fn check(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("a pattern can't be empty".to_owned());
    }
    if text.len() > MAX {
        return Err(format!(
            "a pattern has at most {MAX} bytes, and here are {}",
            text.len()
        ));
    }
    if text.starts_with('/') || text.split('/').any(|part| part == "..") {
        return Err(format!(
            "{text:?} leads out of the workspace: patterns are of paths below it"
        ));
    }
    if text.chars().any(|it| it.is_control() || is_invisible(it)) {
        return Err(format!(
            "{text:?} has a character that can't be seen: a pattern has none"
        ));
    }
    let mut depth = 0usize;
    for it in text.chars() {
        match it {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '/' if depth > 0 => {
                return Err(format!(
                    "{text:?} has a slash in braces: write a pattern for each"
                ));
            }
            _ => {}
        }
        if depth > MAX_BRACES {
            return Err(format!(
                "{text:?} has more than {MAX_BRACES} braces in each other"
            ));
        }
    }
    Ok(())
}

fn build(glob: &str, ignores_case: bool) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .case_insensitive(ignores_case)
        .empty_alternates(true)
        .build()
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Pattern::new(text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.text
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": MAX,
            "description": "Which paths below the workspace are meant: a name at any depth, such as *.md; all that is below a directory, such as docs/; or a path, such as docs/**/*.md",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_a_name_a_directory_or_a_path() {
        let check = |pattern: &str, path: &str, expected: bool| {
            let pattern = Pattern::new(pattern).unwrap();
            assert_eq!(pattern.matches(path), expected, "{pattern:?} {path}");
        };
        check("*.md", "a.md", true);
        check("*.md", "docs/a.md", true);
        check("*.md", "notes.md/run.sh", false);
        check("*.md", "a.MD", false);
        check("docs/", "docs/a/b.txt", true);
        check("docs/", "docs", false);
        check("docs/", "x/docs/a", false);
        check("docs/*.md", "docs/a.md", true);
        check("docs/*.md", "docs/a/b.md", false);
        check("docs/**", "docs/a/b.md", true);
        check("./docs/a", "docs/a", true);
        check("**", "a/b", true);
        check("{a,b}.txt", "x/b.txt", true);
        check("**/a", "a", true);
        check("a/**/b", "a/b", true);
        check("a/**/b", "a/x/y/b", true);
        check("a/**", "a", false);
        check("docs[!x]s", "docs/s", false);
        check("a?b", "a/b", false);
        check("docs/*", "docs/a/b", false);
        check("{,a}b", "x/b", true);
        check("a/", &"a/".repeat(300), true);
    }

    #[test]
    fn a_text_that_is_no_pattern_is_refused() {
        let check = |pattern: &str, expected: &str| {
            let problem = Pattern::new(pattern).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        };
        check("", "empty");
        check("a[", "unclosed character class");
        check("/etc/*", "leads out of the workspace");
        check("../x", "leads out of the workspace");
        check("a//b", "a name in it is empty");
        check("./", "a name in it is empty");
        check("{a/b,c}", "a slash in braces");
        check("[a/b]", "unclosed character class");
        check("a\nb", "can't be seen");
        check("a\u{202e}b", "can't be seen");
        check(&"{".repeat(300), "more than 4 braces");
        check(&"a/".repeat(40), "at most 32 names");
        check(&"a".repeat(1001), "at most 1000 bytes, and here are 1001");
    }
}
