//! The workspace around an action's changes, as far as the rules ask about it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use airlock_model::effects::ObjectKind;

/// A workspace before the action. Paths are relative to it, separated by `/`.
pub trait Surroundings {
    /// Returns the contents of a directory, at any depth. Links aren't followed, and anything other
    /// than a directory is empty.
    fn inside(&self, directory: &str) -> Inside;

    /// Returns the links of the workspace.
    fn links(&self) -> &Links;

    /// Resolves an absolute path that isn't below the workspace's own path. It may still lead into
    /// the workspace, for example through a link to a directory above.
    fn led(&self, outside: &Path) -> Led;

    /// Returns the files and directories outside of `.git` that git reads as its configuration or
    /// runs.
    fn of_git(&self) -> &OfGit;

    /// Checks if a path exists. A link that leads nowhere exists too.
    fn has(&self, path: &str) -> bool;

    /// Returns the workspace's own location, such as `project/.github`: its path below the top of
    /// its git repository, or below the user's home if it isn't in one. Empty for the top itself.
    fn above(&self) -> &str;
}

/// The place to which a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Led {
    /// A place in the workspace: a path relative to it.
    Inside(String),
    /// A place elsewhere: an absolute path without links.
    Outside(PathBuf),
}

/// The contents of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inside {
    /// The entries, at any depth.
    pub entries: Vec<Entry>,
    /// True if the list is complete. If not, the directory may have any other contents.
    pub is_all: bool,
}

/// A path in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path relative to the directory, separated by `/`.
    pub path: String,
    /// The kind of object: file, directory, link or special file.
    pub object: ObjectKind,
    /// True if it is a file that can be executed.
    pub executable: bool,
}

/// The links of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// The path of each link and its target, as it is written.
    pub links: Vec<(String, String)>,
    /// True if the list is complete.
    pub is_all: bool,
}

/// Files and directories that git reads as its configuration or runs, because the configuration of
/// a repository names them: those of `core.hooksPath` or `include.path`, for example.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OfGit {
    /// The paths. A directory's path includes everything in it.
    pub paths: BTreeSet<String>,
    /// True if the list is complete.
    pub is_all: bool,
}

/// An empty workspace, for actions without one and for tests.
#[derive(Debug, Clone, Copy)]
pub struct Empty;

impl Surroundings for Empty {
    fn inside(&self, _: &str) -> Inside {
        Inside {
            entries: Vec::new(),
            is_all: true,
        }
    }

    fn links(&self) -> &Links {
        const NONE: &Links = &Links {
            links: Vec::new(),
            is_all: true,
        };
        NONE
    }

    fn led(&self, outside: &Path) -> Led {
        Led::Outside(outside.to_owned())
    }

    fn of_git(&self) -> &OfGit {
        const NONE: &OfGit = &OfGit {
            paths: BTreeSet::new(),
            is_all: true,
        };
        NONE
    }

    fn has(&self, _: &str) -> bool {
        false
    }

    fn above(&self) -> &str {
        ""
    }
}
