//! The paths that a plugin can reach in the workspace.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::pattern::Pattern;

/// The pattern of all paths.
const EVERYTHING: &str = "**";

/// Paths below a workspace: those that every one of its lists of patterns matches. The default has
/// no lists and contains all paths.
///
/// There are several lists because two sides limit a plugin: its own wants and the operator's
/// grants. Serializes as a list of lists of patterns.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    lists: Vec<Arc<[Pattern]>>,
}

impl Paths {
    /// Returns the paths that one of the patterns matches; without a pattern, no path.
    pub fn matching(patterns: impl IntoIterator<Item = Pattern>) -> Self {
        let mut distinct: Vec<Pattern> = Vec::new();
        for pattern in patterns {
            if pattern.as_str() == EVERYTHING {
                return Self::default();
            }
            if !distinct.contains(&pattern) {
                distinct.push(pattern);
            }
        }
        Self {
            lists: vec![distinct.into()],
        }
    }

    /// Returns the lists of patterns. A path that is contained matches a pattern of each.
    pub fn lists(&self) -> impl Iterator<Item = &[Pattern]> {
        self.lists.iter().map(|list| &**list)
    }

    /// Checks if these are all paths.
    pub fn is_everything(&self) -> bool {
        self.lists.is_empty()
    }

    /// Checks if this is no path at all, because a list is empty.
    pub fn is_nothing(&self) -> bool {
        self.lists.iter().any(|list| list.is_empty())
    }

    /// Returns the paths that are in both. A list that has all patterns of another adds nothing.
    pub fn and(&self, other: &Paths) -> Paths {
        let is_within =
            |one: &[Pattern], other: &[Pattern]| one.iter().all(|it| other.contains(it));
        let mut lists: Vec<Arc<[Pattern]>> = Vec::new();
        for list in self.lists.iter().chain(&other.lists) {
            if lists.iter().all(|it| !is_within(it, list)) {
                lists.retain(|it| !is_within(list, it));
                lists.push(Arc::clone(list));
            }
        }
        Paths { lists }
    }

    /// Checks if a path is one of these. One with more than 256 names is not, unless all are.
    pub fn contains(&self, path: &str) -> bool {
        self.is_everything() || !is_deep(path) && self.each_has(|pattern| pattern.matches(path))
    }

    /// Checks if some of these paths may be below a directory.
    pub fn leads_from(&self, directory: &str) -> bool {
        directory.is_empty()
            || self.is_everything()
            || !is_deep(directory) && self.each_has(|pattern| pattern.leads_from(directory))
    }

    /// Checks if all that a pattern matches is among these paths, as far as that can be seen from
    /// the patterns: an equal one, or one for a directory around it.
    pub fn includes(&self, wanted: &Pattern) -> bool {
        let around = wanted.directory();
        self.each_has(|pattern| pattern == wanted || pattern.covers(&around))
    }

    /// Checks if everything below a directory is one of these paths.
    pub fn covers(&self, directory: &str) -> bool {
        self.each_has(|pattern| pattern.covers(directory))
    }

    fn each_has(&self, is_it: impl Fn(&Pattern) -> bool) -> bool {
        self.lists.iter().all(|list| list.iter().any(&is_it))
    }
}

fn is_deep(path: &str) -> bool {
    path.split('/').count() > MAX_DEPTH
}

/// The order of the lists makes no difference.
impl PartialEq for Paths {
    fn eq(&self, other: &Self) -> bool {
        let has_all =
            |one: &Self, other: &Self| one.lists.iter().all(|it| other.lists.contains(it));
        has_all(self, other) && has_all(other, self)
    }
}

impl Eq for Paths {}

/// The maximum number of names in a path that is contained, so that checking one takes little time.
const MAX_DEPTH: usize = 256;

/// The most patterns of a list that are shown.
pub(crate) const SHOWN: usize = 12;

/// Returns patterns for a sentence.
pub(crate) fn shown(patterns: &[Pattern]) -> String {
    let mut texts: Vec<_> = patterns.iter().take(SHOWN).map(Pattern::shown).collect();
    if patterns.len() > SHOWN {
        texts.push(format!("and {} more", patterns.len() - SHOWN).into());
    }
    texts.join(", ")
}

/// Formats the paths for people, such as `docs/, *.md`.
impl fmt::Display for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_everything() {
            return f.write_str("everything");
        }
        if self.is_nothing() {
            return f.write_str("nothing");
        }
        for (index, list) in self.lists.iter().enumerate() {
            if index > 0 {
                f.write_str(" that is also in ")?;
            }
            f.write_str(&shown(list))?;
        }
        Ok(())
    }
}

impl Serialize for Paths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.lists.iter().map(|list| &**list))
    }
}

impl<'de> Deserialize<'de> for Paths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let lists = Vec::<Vec<Pattern>>::deserialize(deserializer)?;
        Ok(Self {
            lists: lists.into_iter().map(Into::into).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(patterns: &[&str]) -> Paths {
        Paths::matching(patterns.iter().map(|it| Pattern::new(*it).unwrap()))
    }

    #[test]
    fn a_path_is_contained_if_every_list_matches_it() {
        let both = paths(&["docs/", "*.toml"]).and(&paths(&["*.md", "*.toml"]));
        for (path, expected) in [
            ("docs/a.md", true),
            ("Cargo.toml", true),
            ("docs/a.txt", false),
            ("a.md", false),
        ] {
            assert_eq!(both.contains(path), expected, "{path}");
        }
        assert!(Paths::default().contains("a/b"));
        let deep = "a/".repeat(300) + "b";
        assert!(!paths(&["a/"]).contains(&deep) && Paths::default().contains(&deep));
        assert!(paths(&["docs/", "**"]).is_everything());
        assert!(!paths(&[]).contains("a"));
        assert!(paths(&[]).is_nothing() && !both.is_nothing());
        assert_eq!(both.and(&both), both);
    }

    #[test]
    fn a_directory_leads_to_what_may_match_below_it() {
        let check = |pattern: &str, directory: &str, expected: bool| {
            let it = paths(&[pattern]);
            assert_eq!(it.leads_from(directory), expected, "{pattern} {directory}");
        };
        check("docs/*/a.md", "", true);
        check("docs/*/a.md", "docs", true);
        check("docs/*/a.md", "docs/x", true);
        check("docs/*/a.md", "docs/x/a.md", false);
        check("docs/*/a.md", "src", false);
        check("docs/", "docs/a/b", true);
        check("*.md", "a/b", true);
        check("a[!x]b/c", "a", false);
        check("a/**/b/c.md", "a/x/y", true);
        check("a/**/b/c.md", "b", false);
        assert!(Paths::default().leads_from("a"));
        assert!(paths(&[]).leads_from("") && !paths(&[]).leads_from("a"));
    }

    #[test]
    fn a_directory_is_covered_if_all_below_it_matches() {
        let check = |pattern: &str, directory: &str, expected: bool| {
            let it = paths(&[pattern]);
            assert_eq!(it.covers(directory), expected, "{pattern} {directory}");
        };
        check("docs/", "docs", true);
        check("docs/", "docs/a/b", true);
        check("docs/", "docs2", false);
        check("docs/*.md", "docs", false);
        check("**", "a/b", true);
        check("{a,b}/", "b/c", true);
        check("*.md", "docs", false);
        check("*/", "", false);
        check("**", "", true);
        assert!(Paths::default().covers("a"));
        assert!(!paths(&["docs/"]).and(&paths(&["*.md"])).covers("docs"));
    }

    #[test]
    fn patterns_that_could_be_words_are_quoted_and_few_are_shown() {
        let told = paths(&["a, and nothing else", "b.md"]).to_string();
        assert_eq!(told, "\"a, and nothing else\", b.md");
        let many: Vec<String> = (0..20).map(|it| it.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(paths(&many).to_string().ends_with("10, 11, and 8 more"));
    }

    #[test]
    fn a_pattern_is_included_if_it_is_listed_or_a_directory_around_it_is() {
        let check = |granted: &str, wanted: &str, expected: bool| {
            let wanted = Pattern::new(wanted).unwrap();
            assert_eq!(
                paths(&[granted]).includes(&wanted),
                expected,
                "{granted} {wanted:?}"
            );
        };
        check("*.md", "*.md", true);
        check("docs/", "docs/*.md", true);
        check("docs/", "docs/a/b.md", true);
        check("**", "*.md", true);
        check("**", "docs/", true);
        check("docs/", "*.md", false);
        check("docs/*.md", "docs/", false);
        check("docs/", "docs", false);
        assert!(Paths::default().includes(&Pattern::new("**").unwrap()));
    }

    #[test]
    fn paths_are_kept_as_lists_of_patterns() {
        let both = paths(&["docs/", "*.md", "docs/"]).and(&paths(&["a/**"]));
        let json = serde_json::to_string(&both).unwrap();
        assert_eq!(json, r#"[["docs/","*.md"],["a/**"]]"#);
        assert_eq!(serde_json::from_str::<Paths>(&json).unwrap(), both);
        assert_eq!(both.to_string(), "docs/, *.md that is also in a/**");
        assert!(serde_json::from_str::<Paths>(r#"[["/etc"]]"#).is_err());
    }
}
