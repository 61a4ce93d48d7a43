//! Finds the files that a caller named.

use std::collections::{BTreeSet, HashSet};

use airlock_tool::{Error, check_cancelled};

use crate::form::{self, Form};
use crate::glob::{self, Component, Glob};
use crate::name::shown;
use crate::natural;
use crate::params::Params;
use crate::plan::Limit;
use crate::workspace::{Kind, Workspace, join};

/// The files that a caller named.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Selection {
    /// The files, each once, in natural order.
    pub(crate) files: Vec<String>,
    /// The patterns that no file matches.
    pub(crate) unmatched: Vec<String>,
}

/// Finds the files, each given by its path or by a pattern. A path that exists is never taken as a
/// pattern.
///
/// # Errors
/// Returns an error if a path is missing or can't be renamed, if a pattern is not valid, or if
/// there are more files than `limit` allows.
pub(crate) fn select(
    workspace: &Workspace,
    params: &Params,
    limit: &mut Limit<'_>,
) -> Result<Selection, Error> {
    let mut files = BTreeSet::new();
    let mut unmatched = Vec::new();
    let mut missing = Vec::new();
    let normalized = params.normalize.is_some();
    for wanted in &params.files {
        let path = inside(wanted)?;
        let only_directories = params.directories && wanted.ends_with('/');
        if let Some(stamp) = workspace.stamp(&path)? {
            check_exact(workspace, &path, stamp.kind, params.directories)?;
            files.insert(path);
            continue;
        }
        let is_glob = glob::is_glob(&path);
        let mut found = Found {
            workspace,
            files: &mut files,
            limit,
            with_files: !only_directories,
            with_directories: params.directories,
            normalized,
            any: false,
        };
        if is_glob {
            let pattern = if normalized {
                form::composed(&path)
            } else {
                path.as_str().into()
            };
            for glob in glob::parse(&pattern)? {
                found.walk(&glob)?;
            }
        } else if normalized {
            found.walk(&Glob::exact(&path))?;
        }
        match (found.any, is_glob) {
            (true, _) => {}
            (false, true) => unmatched.push(path),
            (false, false) => {
                missing.push(format!("`{}`{}", shown(&path), hint(workspace, &path)?))
            }
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

/// Returns the path without needless parts, if it stays in the workspace.
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

/// Returns a hint about a missing path if another one that exists looks the same.
fn hint(workspace: &Workspace, path: &str) -> Result<&'static str, Error> {
    for form in [Form::Nfc, Form::Nfd] {
        if workspace.stamp(&form.write(path))?.is_some() {
            return Ok(" (one that looks the same exists: pass `normalize`)");
        }
    }
    Ok("")
}

/// Returns an error if an exactly named path can't be renamed.
fn check_exact(
    workspace: &Workspace,
    path: &str,
    kind: Kind,
    with_directories: bool,
) -> Result<(), Error> {
    let shown_path = shown(path);
    if kind == Kind::Directory && !with_directories {
        return Err(Error::tool(format!(
            "`{shown_path}` is a directory: pass `directories` to rename it; for the files in it, give `{shown_path}/*`"
        )));
    }
    if !kind.can_be_renamed() {
        return Err(Error::tool(format!(
            "`{shown_path}` is neither a file, a directory nor a symbolic link"
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

/// The files that a walk has found so far. It follows no links.
struct Found<'a, 'l> {
    workspace: &'a Workspace,
    /// The files that all patterns have found so far.
    files: &'a mut BTreeSet<String>,
    limit: &'a mut Limit<'l>,
    with_files: bool,
    with_directories: bool,
    /// True if names are compared in NFC.
    normalized: bool,
    /// True if this pattern has found a file.
    any: bool,
}

impl Found<'_, '_> {
    fn walk(&mut self, glob: &Glob) -> Result<(), Error> {
        let mut open = vec![(String::new(), 0)];
        // Patterns with several `**` reach the same directory in many ways.
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
                    if is_last && self.takes(kind) {
                        self.add(path)?;
                    } else if !is_last && kind == Kind::Directory {
                        open.push((path, next));
                    }
                }
                if !recursive {
                    break;
                }
                // `**` also matches no directory, so the next component may match here.
                index += 1;
            }
        }
        Ok(())
    }

    fn takes(&self, kind: Kind) -> bool {
        match kind {
            Kind::Directory => self.with_directories,
            _ => self.with_files && kind.can_be_renamed(),
        }
    }

    fn add(&mut self, path: String) -> Result<(), Error> {
        self.any = true;
        match self.files.insert(path.clone()) {
            true => self.limit.check(&path, self.files),
            false => Ok(()),
        }
    }

    /// Returns the children of a directory that match. The directory is listed at most once, into
    /// `listed`.
    fn children(
        &self,
        directory: &str,
        component: &Component,
        listed: &mut Option<Vec<(String, Kind)>>,
    ) -> Result<Vec<(String, Kind)>, Error> {
        if let Component::Name(name) = component {
            if let Some(stamp) = self.workspace.stamp(&join(directory, name))? {
                return Ok(vec![(name.clone(), stamp.kind)]);
            }
            if !self.normalized {
                return Ok(Vec::new());
            }
        }
        let listed = match listed {
            Some(listed) => listed,
            None => listed.insert(self.workspace.list(directory)?),
        };
        let matching = listed.iter().filter(|(name, _)| match self.normalized {
            true => component.matches(&form::composed(name)),
            false => component.matches(name),
        });
        Ok(matching.cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::tests::{params, rule};
    use crate::workspace::tests::Sandbox;

    fn select(workspace: &Workspace, wanted: &[String]) -> Result<Selection, Error> {
        select_with(workspace, wanted, |_| {})
    }

    fn select_with(
        workspace: &Workspace,
        wanted: &[String],
        set: impl Fn(&mut Params),
    ) -> Result<Selection, Error> {
        let mut params = params("a", "b");
        params.files = wanted.to_vec();
        set(&mut params);
        super::select(workspace, &params, &mut Limit::of(&rule("a", "b")))
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
            "`sub` is a directory: pass `directories` to rename it; for the files in it, give `sub/*`",
        );
        check(
            &["link/b.txt"],
            "`link/b.txt` goes through the symbolic link `link`: give the path without it",
        );
    }

    #[test]
    fn directories_are_found_if_asked_for() {
        let sandbox = sandbox();
        let check = |wanted: &[&str], files: &[&str]| {
            let wanted: Vec<_> = wanted.iter().map(ToString::to_string).collect();
            let with = |params: &mut Params| params.directories = true;
            let selection = select_with(&sandbox.workspace(), &wanted, with).unwrap();
            assert_eq!(selection.files, files, "{wanted:?}");
        };
        check(&["sub"], &["sub"]);
        check(&["s*", "sub/*"], &["sub", "sub/b.txt", "sub/deep"]);
        check(&["sub/**"], &["sub/b.txt", "sub/deep", "sub/deep/c.txt"]);
        check(&["**/"], &["sub", "sub/deep"]);
        check(&["*/", "a1.txt"], &["a1.txt", "sub"]);
        // A link is a file of its own, wherever it leads.
        check(&["l*"], &["link"]);
    }

    #[test]
    fn a_path_is_found_in_another_unicode_form_if_asked_for() {
        let (nfd_folder, nfd) = ("\u{e9}", "e\u{301}/e\u{301}.txt");
        let sandbox = Sandbox::with(&[nfd]);
        let nfc = format!("{nfd_folder}/\u{e9}.txt");
        let find = |wanted: &str, set: fn(&mut Params)| {
            select_with(&sandbox.workspace(), &[wanted.to_owned()], set)
        };
        for wanted in [&nfc, nfd, "\u{e9}/*", "*/\u{e9}.*", "**/[\u{e9}].txt"] {
            let found = find(wanted, |params| params.normalize = Some(Form::Nfc)).unwrap();
            assert_eq!(found.files, [nfd], "{wanted}");
        }
        let missing = format!(
            "No such file in the workspace: `{nfc}` (one that looks the same exists: pass `normalize`)"
        );
        assert_eq!(find(&nfc, |_| {}), Err(Error::tool(missing)));
        assert_eq!(find("\u{e9}/*", |_| {}).unwrap().unmatched, ["\u{e9}/*"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_backslash_is_a_character_of_a_name() {
        let sandbox = Sandbox::with(&[r"a\b.txt", r"d\/c.txt"]);
        for (wanted, found) in [
            (r"a\b.txt", r"a\b.txt"),
            (r"a\*", r"a\b.txt"),
            (r"*[\]*", r"a\b.txt"),
            (r"d\/*", r"d\/c.txt"),
        ] {
            let selection = select(&sandbox.workspace(), &[wanted.to_owned()]).unwrap();
            assert_eq!(selection.files, [found], "{wanted}");
        }
    }
}
