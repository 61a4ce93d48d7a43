//! Patterns of paths and names.

use std::borrow::Cow;
use std::fmt;

use globset::{Glob, GlobBuilder, GlobMatcher};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A pattern of paths: `*`, `?`, `[ab]`, `{a,b}`, and `**` for any number of directories.
///
/// A pattern without a slash, such as `*.md`, matches a name at any depth. One that ends in a
/// slash, such as `docs/`, matches everything below a directory. Any other pattern, such as
/// `docs/**/*.md`, matches a path relative to the workspace. Upper and lower case differ.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

/// The maximum length of a pattern, in bytes.
const MAX: usize = 1000;

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Returns the problem as a clause if the text is not a pattern.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        let matcher = glob(&text, false)?.compile_matcher();
        Ok(Self { text, matcher })
    }

    /// Checks if the pattern matches this path below the workspace.
    pub fn matches(&self, path: &str) -> bool {
        self.matcher.is_match(path)
    }

    /// Returns the globs of paths below which the pattern may match something: of `docs/*/a.md`,
    /// `docs` and `docs/*`.
    pub(crate) fn parents(&self) -> Vec<Glob> {
        let everything = || vec![build("**", false).expect("it is a glob")];
        let names: Vec<&str> = self.matcher.glob().glob().split('/').collect();
        let mut parents = Vec::new();
        // The whole pattern leads further only if it ends in `**`.
        let most = names.len() - usize::from(names.last() != Some(&"**"));
        for end in 1..=most {
            // A brace that spans a slash leaves half a glob.
            let Ok(glob) = build(&names[..end].join("/"), false) else {
                return everything();
            };
            parents.push(glob);
            if names[end - 1] == "**" {
                break;
            }
        }
        parents
    }

    /// Returns the directory that all of the pattern's paths are below, as far as it is plain
    /// text: of `docs/*.md`, `docs`. The workspace itself is the empty path.
    pub(crate) fn directory(&self) -> &str {
        let glob = self.matcher.glob().glob();
        let plain = glob.find(['*', '?', '[', '{', '\\']).unwrap_or(glob.len());
        glob[..plain]
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory)
    }

    /// Returns the glob of directories whose whole contents match: of `docs/**`, `docs`.
    pub(crate) fn trees(&self) -> Option<Glob> {
        let stem = self.matcher.glob().glob().strip_suffix("/**")?;
        build(stem, false).ok()
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Returns the glob of a pattern without compiling it, because a set compiles its globs together.
///
/// # Errors
/// Returns the problem as a clause if the text is not a pattern.
pub fn glob(text: &str, ignores_case: bool) -> Result<Glob, String> {
    if text.is_empty() {
        return Err("a pattern can't be empty".to_owned());
    }
    if text.len() > MAX {
        return Err(format!(
            "a pattern has at most {MAX} bytes, and here are {}",
            text.len()
        ));
    }
    let outside = text.starts_with('/') || text.split('/').any(|part| part == "..");
    if outside {
        return Err(format!(
            "{text:?} leads out of the workspace: patterns are of paths below it"
        ));
    }
    let below = text.strip_prefix("./").unwrap_or(text);
    let whole = match (below.strip_suffix('/'), below.contains('/')) {
        (Some(directory), _) => format!("{directory}/**"),
        (None, true) => below.to_owned(),
        (None, false) => format!("**/{below}"),
    };
    let glob = build(&whole, ignores_case);
    glob.map_err(|error| format!("{text:?} is no pattern: {}", error.kind()))
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
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        let check = |pattern: &str, expected: &str| {
            let problem = Pattern::new(pattern).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        };
        check("", "empty");
        check("a[", "unclosed character class");
        check("/etc/*", "leads out of the workspace");
        check("../x", "leads out of the workspace");
        check(&"a".repeat(1001), "at most 1000 bytes, and here are 1001");
    }
}
