//! Finding the files that a caller named.

use std::collections::{BTreeSet, HashSet};

use airlock_tool::{Error, check_cancelled};

use crate::glob::{self, Component, Glob};
use crate::name::shown;
use crate::natural;
use crate::plan::Limit;
use crate::workspace::{Kind, Workspace, join};

/// The files that a caller named.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Selection {
    /// Each once, in natural order.
    pub(crate) files: Vec<String>,
    /// The patterns that no file matches.
    pub(crate) unmatched: Vec<String>,
}

/// Finds the files, each given by its path or by a pattern. A path that exists is never taken for a
/// pattern. What more is found is refused as the limit says.
pub(crate) fn select(
    workspace: &Workspace,
    wanted: &[String],
    limit: &mut Limit<'_>,
) -> Result<Selection, Error> {
    let mut files = BTreeSet::new();
    let mut unmatched = Vec::new();
    let mut missing = Vec::new();
    for wanted in wanted {
        let path = inside(wanted)?;
        if let Some(stamp) = workspace.stamp(&path)? {
            check_exact(workspace, &path, stamp.kind)?;
            files.insert(path);
        } else if glob::is_glob(&path) {
            let mut found = Found {
                workspace,
                files: &mut files,
                limit,
                any: false,
            };
            for glob in glob::parse(&path)? {
                found.walk(&glob)?;
            }
            if !found.any {
                unmatched.push(path);
            }
        } else {
            missing.push(format!("`{}`", shown(&path)));
        }
    }
    if !missing.is_empty() {
        return Err(Error::tool(format!(
            "No such file in the workspace: {}",
            missing.join(", ")
        )));
    }
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by(|a, b| natural::compare(a, b));
    Ok(Selection { files, unmatched })
}

/// The path without needless parts, if it stays in the workspace.
fn inside(path: &str) -> Result<String, Error> {
    let refuse = |problem: &str| Err(Error::tool(format!("`{}` {problem}", shown(path))));
    if path.contains('\0') {
        return refuse("has a NUL character in it");
    }
    if path.starts_with('/') {
        return refuse("is an absolute path: give one that is relative to the workspace");
    }
    let parts: Vec<_> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    if parts.contains(&"..") {
        return refuse("may lead out of the workspace: give a path without `..`");
    }
    if parts.is_empty() {
        return refuse("names no file: for all files of the workspace's root, give `*`");
    }
    Ok(parts.join("/"))
}

/// Refuses what was named exactly and can't be renamed.
fn check_exact(workspace: &Workspace, path: &str, kind: Kind) -> Result<(), Error> {
    let shown_path = shown(path);
    if kind == Kind::Directory {
        return Err(Error::tool(format!(
            "`{shown_path}` is a directory, and directories are not renamed; for the files in it, give `{shown_path}/*`"
        )));
    }
    if !kind.can_be_renamed() {
        return Err(Error::tool(format!(
            "`{shown_path}` is neither a file nor a symbolic link"
        )));
    }
    // Through a link the same file has two paths, and would be renamed twice.
    for (at, _) in path.match_indices('/') {
        let parent = &path[..at];
        if workspace
            .stamp(parent)?
            .is_some_and(|stamp| stamp.kind == Kind::Link)
        {
            let parent = shown(parent);
            return Err(Error::tool(format!(
                "`{shown_path}` goes through the symbolic link `{parent}`: give the path without it"
            )));
        }
    }
    Ok(())
}

/// What a walk has found so far. It follows no links.
struct Found<'a, 'l> {
    workspace: &'a Workspace,
    /// By all patterns so far.
    files: &'a mut BTreeSet<String>,
    limit: &'a mut Limit<'l>,
    /// Whether this pattern has found one.
    any: bool,
}

impl Found<'_, '_> {
    fn walk(&mut self, glob: &Glob) -> Result<(), Error> {
        let mut open = vec![(String::new(), 0)];
        // Several `**` lead to the same directory in many ways.
        let mut seen = HashSet::new();
        while let Some((directory, mut index)) = open.pop() {
            let mut listed = None;
            while seen.insert((directory.clone(), index)) {
                check_cancelled()?;
                let component = &glob.components[index];
                let recursive = *component == Component::Directories;
                let next = if recursive { index } else { index + 1 };
                let is_last = next == glob.components.len();
                for (name, kind) in self.children(&directory, component, &mut listed)? {
                    let path = join(&directory, &name);
                    if is_last && kind.can_be_renamed() {
                        self.add(path)?;
                    } else if !is_last && kind == Kind::Directory {
                        open.push((path, next));
                    }
                }
                if !recursive {
                    break;
                }
                // It stands for no directory too: what comes behind it may be here.
                index += 1;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: String) -> Result<(), Error> {
        self.any = true;
        match self.files.insert(path.clone()) {
            true => self.limit.check(&path, self.files),
            false => Ok(()),
        }
    }

    /// What is in a directory and matches. It is listed once, into `listed`.
    fn children(
        &self,
        directory: &str,
        component: &Component,
        listed: &mut Option<Vec<(String, Kind)>>,
    ) -> Result<Vec<(String, Kind)>, Error> {
        if let Component::Name(name) = component {
            let stamp = self.workspace.stamp(&join(directory, name))?;
            return Ok(stamp
                .map(|stamp| (name.clone(), stamp.kind))
                .into_iter()
                .collect());
        }
        let listed = match listed {
            Some(listed) => listed,
            None => listed.insert(self.workspace.list(directory)?),
        };
        let matching = listed.iter().filter(|(name, _)| component.matches(name));
        Ok(matching.cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::tests::rule;
    use crate::workspace::tests::Sandbox;

    fn select(workspace: &Workspace, wanted: &[String]) -> Result<Selection, Error> {
        super::select(workspace, wanted, &mut Limit::of(&rule("a", "b")))
    }

    fn sandbox() -> Sandbox {
        let sandbox = Sandbox::with(&[
            "a1.txt",
            "a2.txt",
            "a10.txt",
            ".hidden.txt",
            "odd[1].txt",
            "sub/b.txt",
            "sub/deep/c.txt",
            "sub/.git/d.txt",
        ]);
        sandbox.link("sub", "link");
        sandbox.link("nowhere", "dangling.txt");
        sandbox
    }

    #[test]
    fn files_are_found_by_path_and_by_pattern() {
        let sandbox = sandbox();
        let check = |wanted: &[&str], files: &[&str], unmatched: &[&str]| {
            let wanted: Vec<_> = wanted.iter().map(ToString::to_string).collect();
            let selection = select(&sandbox.workspace(), &wanted).unwrap();
            assert_eq!(selection.files, files, "{wanted:?}");
            assert_eq!(selection.unmatched, unmatched, "{wanted:?}");
        };
        check(
            &["a2.txt", "./a1.txt", "a2.txt"],
            &["a1.txt", "a2.txt"],
            &[],
        );
        check(
            &["*.txt"],
            &["a1.txt", "a2.txt", "a10.txt", "dangling.txt", "odd[1].txt"],
            &[],
        );
        check(&[".*"], &[".hidden.txt"], &[]);
        check(&["odd[1].txt"], &["odd[1].txt"], &[]);
        check(
            &["a{2,10}.txt", "sub/*"],
            &["a2.txt", "a10.txt", "sub/b.txt"],
            &[],
        );
        check(&["sub/**"], &["sub/b.txt", "sub/deep/c.txt"], &[]);
        check(&["**/**/c.txt"], &["sub/deep/c.txt"], &[]);
        check(&["**/.git/*"], &["sub/.git/d.txt"], &[]);
        check(&["*/b.txt"], &["sub/b.txt"], &[]);
        check(&["link"], &["link"], &[]);
        check(
            &["*.png", "none/*", "a1.txt/*"],
            &[],
            &["*.png", "none/*", "a1.txt/*"],
        );
    }

    #[test]
    fn what_can_not_be_renamed_is_refused() {
        let sandbox = sandbox();
        let check = |wanted: &[&str], expected: &str| {
            let wanted: Vec<_> = wanted.iter().map(ToString::to_string).collect();
            assert_eq!(
                select(&sandbox.workspace(), &wanted),
                Err(Error::tool(expected))
            );
        };
        check(
            &["x", "a1.txt", "y/z"],
            "No such file in the workspace: `x`, `y/z`",
        );
        check(
            &["/etc/passwd"],
            "`/etc/passwd` is an absolute path: give one that is relative to the workspace",
        );
        check(
            &["sub/../a1.txt"],
            "`sub/../a1.txt` may lead out of the workspace: give a path without `..`",
        );
        check(
            &["./"],
            "`./` names no file: for all files of the workspace's root, give `*`",
        );
        check(&["a\0"], "`a\\u{0}` has a NUL character in it");
        check(
            &["sub/"],
            "`sub` is a directory, and directories are not renamed; for the files in it, give `sub/*`",
        );
        check(
            &["link/b.txt"],
            "`link/b.txt` goes through the symbolic link `link`: give the path without it",
        );
    }
}
