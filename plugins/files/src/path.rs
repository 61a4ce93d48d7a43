//! The paths that a caller names.

use airlock_tool::Error;

use crate::diff::cut;

/// The most bytes of a name and of a path on the usual file systems.
const MAX_NAME: usize = 255;
const MAX_PATH: usize = 4000;

/// Returns the path relative to the workspace and without needless parts, if it stays in the
/// workspace. The workspace itself is the empty path.
///
/// # Errors
/// Returns an error for the caller if the path leads out of the workspace.
pub(crate) fn inside(path: &str) -> Result<String, Error> {
    let refuse = |problem: &str| Err(Error::tool(format!("`{}` {problem}", cut(&shown(path)))));
    if path.contains('\0') {
        return refuse("has a NUL character in it.");
    }
    // The workspace's own path, as a guest sees it.
    let relative = match path.strip_prefix("/workspace") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ if path.starts_with('/') => {
            return refuse("is an absolute path: give one that is relative to the workspace.");
        }
        _ => path,
    };
    let mut names = Vec::new();
    for name in relative.split('/') {
        match name {
            "" | "." => {}
            ".." if names.pop().is_none() => return refuse("leads out of the workspace."),
            ".." => {}
            _ if name.len() > MAX_NAME => return refuse("has a name that is too long."),
            _ => names.push(name),
        }
    }
    let path = names.join("/");
    if path.len() > MAX_PATH {
        return refuse("is too long.");
    }
    Ok(path)
}

/// Returns the path of a file, as [`inside`] does, if it isn't the workspace itself.
///
/// # Errors
/// Returns an error for the caller if the path leads out of the workspace, or is the workspace.
pub(crate) fn file(path: &str) -> Result<String, Error> {
    match inside(path)? {
        path if path.is_empty() => Err(Error::tool("The path names no file in the workspace.")),
        path => Ok(path),
    }
}

/// Returns a path in one line, with control characters escaped.
pub(crate) fn shown(path: &str) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    let mut shown = String::new();
    for c in path.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns a path's directory, empty for the workspace itself, and its name.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the path of a name in a directory, which is empty for the workspace itself.
pub(crate) fn join(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        _ => format!("{directory}/{name}"),
    }
}

/// Checks if a path is `directory` or in it.
pub(crate) fn is_in(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory);
    directory.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_workspace() {
        let check = |path: &str, expected: &str| assert_eq!(inside(path).unwrap(), expected);
        check("a/b.rs", "a/b.rs");
        check("./a//b/", "a/b");
        check("a/../b", "b");
        check(".", "");
        check("/workspace/a", "a");
        check("/workspace", "");
        check("a b/ü.txt", "a b/ü.txt");
        let refused = |path: &str| assert!(inside(path).is_err(), "{path}");
        refused("/etc/passwd");
        refused("/workspaces/a");
        refused("../a");
        refused("a/../../b");
        refused("a\0b");
        refused(&"a".repeat(256));
        refused(&"a/".repeat(2001));
        assert!(file("./").is_err());
    }

    #[test]
    fn a_path_is_shown_in_one_line() {
        assert_eq!(shown("a\nb"), "a\\nb");
        assert_eq!(shown(""), ".");
    }

    #[test]
    fn a_directory_has_what_is_below_it() {
        assert!(is_in("a/b", "a") && is_in("a", "a") && is_in("a", ""));
        assert!(!is_in("ab", "a"));
    }
}
