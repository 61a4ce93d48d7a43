//! Goes through the files of a directory.

use std::ops::ControlFlow;

use airlock_tool::{Error, check_cancelled};
use fast_glob::glob_match;

use crate::ignore::{IgnoreRules, is_never_searched};
use crate::path::{self, join, shown};
use crate::workspace::{Kind, Workspace};

/// The most entries that a search looks at.
const MAX_ENTRIES: usize = 500_000;

/// The files that a search is about.
pub(crate) struct Scope<'a> {
    /// A file or directory.
    pub(crate) path: &'a str,
    pub(crate) glob: Option<&'a str>,
    pub(crate) include_ignored: bool,
}

/// Calls `visit` with each file of a scope and its kind, sorted within each directory. Links are
/// visited but not followed. Returns a note if not all files were looked at.
pub(crate) fn walk(
    workspace: &Workspace,
    scope: &Scope<'_>,
    mut visit: impl FnMut(&str, Kind) -> Result<ControlFlow<()>, Error>,
) -> Result<Option<String>, Error> {
    let top = path::inside(scope.path)?;
    let glob = Glob::new(scope.glob, &top);
    match workspace.kind(&top)? {
        None => return Err(Error::tool(format!("`{}` doesn't exist.", shown(&top)))),
        Some(Kind::File) => return visit(&top, Kind::File).map(|_| None),
        Some(_) => {}
    }
    let mut rules = IgnoreRules::around(workspace, &top);
    let mut open = vec![Listing::of(workspace, &top, &mut rules)?];
    let (mut seen, mut unread) = (0_usize, 0_usize);
    while let Some(listing) = open.last_mut() {
        let Some((name, kind)) = listing.entries.next() else {
            open.pop();
            rules.leave();
            continue;
        };
        seen += 1;
        if seen.is_multiple_of(1000) {
            check_cancelled()?;
        }
        if seen > MAX_ENTRIES {
            return Ok(Some(format!(
                "Only the first {MAX_ENTRIES} files and directories were looked at: give a `path`."
            )));
        }
        let path = join(&listing.directory, &name);
        let is_directory = kind == Kind::Directory;
        let is_excluded = if scope.include_ignored {
            is_never_searched(&path)
        } else {
            rules.exclude(&path, is_directory)
        };
        if is_excluded {
            continue;
        }
        if glob.matches(&path) && visit(&path, kind)?.is_break() {
            return Ok(None);
        }
        if is_directory {
            match Listing::of(workspace, &path, &mut rules) {
                Ok(listing) => open.push(listing),
                Err(_) => unread += 1,
            }
        }
    }
    Ok((unread > 0).then(|| format!("Directories that can't be read: {unread}.")))
}

/// The entries of a directory that are still to be visited.
struct Listing {
    directory: String,
    entries: std::vec::IntoIter<(String, Kind)>,
}

impl Listing {
    fn of(workspace: &Workspace, path: &str, rules: &mut IgnoreRules) -> Result<Self, Error> {
        let entries = workspace.list(path)?.into_iter();
        rules.enter(workspace, path);
        Ok(Self {
            directory: path.to_owned(),
            entries,
        })
    }
}

/// A pattern for the paths in a directory.
struct Glob<'a> {
    pattern: Option<&'a str>,
    has_slash: bool,
    top: &'a str,
}

impl<'a> Glob<'a> {
    fn new(pattern: Option<&'a str>, top: &'a str) -> Self {
        let pattern = pattern.map(|it| it.strip_prefix("./").unwrap_or(it));
        Self {
            pattern,
            has_slash: pattern.is_some_and(|it| it.contains('/')),
            top,
        }
    }

    /// Checks a path: its name, or if the pattern has a slash the path from the directory or from
    /// the workspace.
    fn matches(&self, path: &str) -> bool {
        let Some(pattern) = self.pattern else {
            return true;
        };
        if !self.has_slash {
            return glob_match(pattern, path::split(path).1);
        }
        let below = path
            .strip_prefix(self.top)
            .map(|it| it.trim_start_matches('/'));
        let absolute = pattern.strip_prefix('/').unwrap_or(pattern);
        below.is_some_and(|below| glob_match(absolute, below)) || glob_match(absolute, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::Sandbox;

    fn found(sandbox: &Sandbox, path: &str, glob: &str, include_ignored: bool) -> Vec<String> {
        let mut found = Vec::new();
        let glob = (!glob.is_empty()).then_some(glob);
        let scope = Scope {
            path,
            glob,
            include_ignored,
        };
        let note = walk(&sandbox.workspace(), &scope, |path, kind| {
            if kind != Kind::Directory {
                found.push(path.to_owned());
            }
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(note, Ok(None));
        found
    }

    #[test]
    fn a_search_leaves_out_what_git_ignores() {
        let files = [
            "a.rs",
            "target/b.rs",
            ".github/c.rs",
            ".git/d.rs",
            "src/e.rs",
            "src/f.md",
        ];
        let mut files: Vec<_> = files.iter().map(|path| (*path, "")).collect();
        files.push((".gitignore", "target/"));
        let sandbox = Sandbox::with(&files);
        let check = |path, glob, ignored, expected: &[&str]| {
            assert_eq!(
                found(&sandbox, path, glob, ignored),
                expected,
                "{path} {glob}"
            );
        };
        check(".", "*.rs", false, &[".github/c.rs", "a.rs", "src/e.rs"]);
        check(
            ".",
            "*.rs",
            true,
            &[".github/c.rs", "a.rs", "src/e.rs", "target/b.rs"],
        );
        check(
            ".",
            "**/*.{rs,md}",
            false,
            &[".github/c.rs", "a.rs", "src/e.rs", "src/f.md"],
        );
        check(".", "src/*.rs", false, &["src/e.rs"]);
        check("src", "*.md", false, &["src/f.md"]);
        check("src", "src/*.rs", false, &["src/e.rs"]);
        check("a.rs", "", false, &["a.rs"]);
        check("target", "", false, &["target/b.rs"]);
    }

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        let sandbox = Sandbox::with(&[("a/b", "")]);
        sandbox.link("../a", "a/loop");
        assert_eq!(found(&sandbox, ".", "", false), ["a/b", "a/loop"]);
    }
}
