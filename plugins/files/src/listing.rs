//! The tools `list_directory` and `find_files`.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use airlock_tool::{Call, Error, Output, check_cancelled};

use crate::params::{FindFiles, ListDirectory};
use crate::path::{self, join, shown};
use crate::walk::{Scope, walk};
use crate::workspace::{Kind, Workspace};

/// The most entries in a list of directories.
const MAX_LISTED: usize = 1000;

pub(crate) fn list_directory(params: ListDirectory, _call: &Call) -> Result<Output, Error> {
    list(&Workspace::of_session()?, &params).map(Output::text)
}

fn list(workspace: &Workspace, params: &ListDirectory) -> Result<String, Error> {
    let top = path::inside(&params.path)?;
    let mut rows = Vec::new();
    let mut more = 0;
    let mut open = vec![(workspace.list(&top)?.into_iter(), top)];
    while let Some((entries, directory)) = open.last_mut() {
        let Some((name, kind)) = entries.next() else {
            open.pop();
            continue;
        };
        let path = join(directory, &name);
        let depth = open.len();
        if rows.len() >= MAX_LISTED {
            more += 1;
            continue;
        }
        check_cancelled()?;
        rows.push(format!(
            "{}{}",
            "  ".repeat(depth - 1),
            entry(workspace, &path, &name, kind)
        ));
        if kind == Kind::Directory && depth < params.depth {
            open.push((workspace.list(&path)?.into_iter(), path));
        }
    }
    if rows.is_empty() {
        return Ok("The directory is empty.".to_owned());
    }
    let mut text = rows.join("\n");
    if more > 0 {
        let _ = write!(
            text,
            "\n\n{more} more entries are left out: use `find_files` to find some."
        );
    }
    Ok(text)
}

fn entry(workspace: &Workspace, path: &str, name: &str, kind: Kind) -> String {
    let name = shown(name);
    match kind {
        Kind::Directory => format!("{name}/"),
        Kind::Link => format!("{name} -> {}", workspace.target(path).unwrap_or_default()),
        Kind::Other => format!("{name} (special file)"),
        Kind::File => match workspace.size(path) {
            Some(size) => format!("{name} ({size} bytes)"),
            None => name,
        },
    }
}

pub(crate) fn find_files(params: FindFiles, _call: &Call) -> Result<Output, Error> {
    find(&Workspace::of_session()?, &params).map(Output::text)
}

fn find(workspace: &Workspace, params: &FindFiles) -> Result<String, Error> {
    let scope = Scope {
        path: &params.path,
        glob: Some(&params.pattern),
        include_ignored: params.include_ignored,
    };
    let mut rows = Vec::new();
    let mut is_full = false;
    let note = walk(workspace, &scope, |path, kind| {
        if rows.len() >= params.limit {
            is_full = true;
            return Ok(ControlFlow::Break(()));
        }
        rows.push(format!(
            "{}{}",
            shown(path),
            if kind == Kind::Directory { "/" } else { "" }
        ));
        Ok(ControlFlow::Continue(()))
    })?;
    if rows.is_empty() {
        let searched = "The files that `.gitignore` excludes were not searched.";
        let advice = if params.include_ignored { "" } else { searched };
        return Ok(format!("No files match. {advice}").trim_end().to_owned());
    }
    let mut text = rows.join("\n");
    if is_full {
        let _ = write!(
            text,
            "\n\nThere are more than {}: narrow the pattern, or set a higher `limit`.",
            params.limit
        );
    }
    if let Some(note) = note {
        let _ = write!(text, "\n\n{note}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::Sandbox;

    fn sandbox() -> Sandbox {
        Sandbox::with(&[
            ("a.rs", "12345"),
            ("src/b.rs", ""),
            ("src/deep/c.rs", ""),
            (".hidden", ""),
        ])
    }

    #[test]
    fn a_directory_is_listed_with_sizes_and_as_deep_as_asked_for() {
        let check = |path: &str, depth, expected: &str| {
            let params = ListDirectory {
                path: path.into(),
                depth,
            };
            assert_eq!(list(&sandbox().workspace(), &params).unwrap(), expected);
        };
        check(".", 1, ".hidden (0 bytes)\na.rs (5 bytes)\nsrc/");
        check("src", 2, "b.rs (0 bytes)\ndeep/\n  c.rs (0 bytes)");
    }

    #[test]
    fn a_long_directory_is_cut_with_a_note() {
        let sandbox = Sandbox::with(&[]);
        for n in 0..MAX_LISTED + 2 {
            sandbox.workspace().write(&format!("f{n}"), b"").unwrap();
        }
        let listed = list(
            &sandbox.workspace(),
            &ListDirectory {
                path: ".".into(),
                depth: 1,
            },
        )
        .unwrap();
        assert!(
            listed.ends_with("\n\n2 more entries are left out: use `find_files` to find some.")
        );
    }

    #[test]
    fn files_and_directories_are_found_by_a_glob() {
        let check = |pattern: &str, limit, expected: &str| {
            let params = FindFiles {
                pattern: pattern.into(),
                path: ".".into(),
                include_ignored: false,
                limit,
            };
            assert_eq!(find(&sandbox().workspace(), &params).unwrap(), expected);
        };
        check("*.rs", 9, "a.rs\nsrc/b.rs\nsrc/deep/c.rs");
        check("src/*", 9, "src/b.rs\nsrc/deep/");
        let note = "There are more than 1: narrow the pattern, or set a higher `limit`.";
        check("*.rs", 1, &format!("a.rs\n\n{note}"));
        check(
            "*.py",
            9,
            "No files match. The files that `.gitignore` excludes were not searched.",
        );
    }
}
