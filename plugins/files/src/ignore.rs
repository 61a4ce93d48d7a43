//! The files that a workspace's ignore files exclude.

use fast_glob::glob_match;

use crate::path::{self, join};
use crate::workspace::Workspace;

/// The ignore files of a directory, by precedence.
const FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The largest ignore file; larger ones are not written by hand.
const MAX_BYTES: u64 = 256 << 10;

/// The names that are never searched.
const NEVER: [&str; 2] = [".git", ".airlock"];

/// The rules of the directories on the way to the one that is searched, the innermost last.
#[derive(Default)]
pub(crate) struct IgnoreRules(Vec<Vec<Rule>>);

/// A line of an ignore file.
struct Rule {
    /// The directory of the file.
    directory: String,
    pattern: String,
    is_exception: bool,
    only_directories: bool,
    /// The pattern has a slash, so it is about paths from the directory.
    has_slash: bool,
}

impl IgnoreRules {
    /// Reads the ignore files on the way to a directory, without its own.
    pub(crate) fn around(workspace: &Workspace, directory: &str) -> Self {
        let mut rules = Self::default();
        if !directory.is_empty() {
            rules.enter(workspace, "");
            for (at, _) in directory.match_indices('/') {
                rules.enter(workspace, &directory[..at]);
            }
        }
        rules
    }

    /// Adds the rules of a directory.
    pub(crate) fn enter(&mut self, workspace: &Workspace, directory: &str) {
        let mut rules = Vec::new();
        if directory.is_empty() {
            rules.extend(read(workspace, ".git/info/exclude", directory));
        }
        for file in FILES.iter().rev() {
            rules.extend(read(workspace, &join(directory, file), directory));
        }
        self.0.push(rules);
    }

    /// Drops the rules of the directory that was entered last.
    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }

    /// Checks if a path is excluded. Its directories must not be.
    pub(crate) fn exclude(&self, path: &str, is_directory: bool) -> bool {
        if is_never_searched(path) {
            return true;
        }
        let rules = self.0.iter().rev().flat_map(|rules| rules.iter().rev());
        let mut matching = rules.filter(|rule| rule.matches(path, is_directory));
        matching.next().is_some_and(|rule| !rule.is_exception)
    }
}

/// Checks if a path is never searched: the folders of git and Airlock.
pub(crate) fn is_never_searched(path: &str) -> bool {
    NEVER.contains(&path::split(path).1)
}

fn read(workspace: &Workspace, path: &str, directory: &str) -> Vec<Rule> {
    let bytes = workspace.read(path, MAX_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.trim_start_matches('\u{feff}')
        .lines()
        .filter_map(|line| Rule::parse(line, directory))
        .collect()
}

impl Rule {
    fn parse(line: &str, directory: &str) -> Option<Self> {
        let mut line = line.strip_suffix('\r').unwrap_or(line);
        while let Some(shorter) = line
            .strip_suffix([' ', '\t'])
            .filter(|it| !it.ends_with('\\'))
        {
            line = shorter;
        }
        if line.starts_with('#') {
            return None;
        }
        let exception = line.strip_prefix('!');
        let line = exception.unwrap_or(line);
        let pattern = line.strip_suffix('/').unwrap_or(line);
        let anchored = pattern.strip_prefix('/');
        let has_slash = pattern.contains('/');
        let pattern = anchored.unwrap_or(pattern);
        (!pattern.is_empty()).then(|| Self {
            directory: directory.to_owned(),
            // Braces have no meaning in ignore files.
            pattern: pattern.replace('{', "\\{").replace('}', "\\}"),
            is_exception: exception.is_some(),
            only_directories: line.ends_with('/'),
            has_slash,
        })
    }

    fn matches(&self, path: &str, is_directory: bool) -> bool {
        if self.only_directories && !is_directory {
            return false;
        }
        let subject = match (self.has_slash, self.directory.len()) {
            (false, _) => path::split(path).1,
            (true, 0) => path,
            (true, len) => path.get(len + 1..).unwrap_or_default(),
        };
        glob_match(&self.pattern, subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::Sandbox;

    #[test]
    fn ignore_files_mean_what_git_says() {
        let check = |rules: &str, path: &str, expected: bool| {
            let sandbox = Sandbox::with(&[(".gitignore", rules)]);
            let mut read = IgnoreRules::default();
            read.enter(&sandbox.workspace(), "");
            let (path, is_directory) = match path.strip_suffix('/') {
                Some(path) => (path, true),
                None => (path, false),
            };
            assert_eq!(
                read.exclude(path, is_directory),
                expected,
                "{rules:?} {path}"
            );
        };
        check("*.log", "a/b.log", true);
        check("/a", "a", true);
        check("/a", "b/a", false);
        check("a/b", "a/b", true);
        check("a/b", "c/a/b", false);
        check("target/", "target/", true);
        check("target/", "target", false);
        check("*.log\n!b.log", "b.log", false);
        check("!b.log\n*.log", "b.log", true);
        check("# a", "# a", false);
        check("\\#a", "#a", true);
        check("a/**", "a/b/c", true);
        check("**/b", "a/b", true);
        check("a  ", "a", true);
        check("[ab].rs", "b.rs", true);
        check("{a,b}", "a", false);
        check("*.log\r\n", "a.log", true);
        check("", ".git/", true);
        check("", "sub/.airlock/", true);
    }

    #[test]
    fn inner_files_win_over_outer_ones() {
        let sandbox = Sandbox::with(&[(".gitignore", "*.log"), ("d/.gitignore", "!a.log\n/x")]);
        let mut rules = IgnoreRules::around(&sandbox.workspace(), "d");
        rules.enter(&sandbox.workspace(), "d");
        assert!(!rules.exclude("d/a.log", false));
        assert!(rules.exclude("d/b.log", false));
        assert!(rules.exclude("d/x", false));
        rules.leave();
        assert!(rules.exclude("d/a.log", false));
    }
}
