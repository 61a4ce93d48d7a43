//! What is in the workspace beside what an action changes, as far as judging needs it.

use airlock_model::effects::ObjectKind;

/// A workspace as it is before the action. Paths are below it, separated by `/`.
pub trait Surroundings {
    /// What is in a directory, at any depth; no link is followed.
    fn inside(&self, directory: &str) -> Inside;

    /// All links of the workspace.
    fn links(&self) -> &Links;

    /// Whether something is there; a link that leads nowhere is something.
    fn has(&self, path: &str) -> bool;

    /// Where the workspace lies: its path from the top of its repository on, or from the user's
    /// home where it is in none, such as `project/.github`. Empty for the top itself.
    fn above(&self) -> &str;
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inside {
    /// What is in it, at any depth.
    pub entries: Vec<Entry>,
    /// Whether these are all; else anything may be there.
    pub is_all: bool,
}

/// What is at a path in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the directory, separated by `/`.
    pub path: String,
    /// What it is.
    pub object: ObjectKind,
    /// Whether it is a file that can be executed.
    pub executable: bool,
}

/// The links of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// Each link's path, and where it leads as it is written.
    pub links: Vec<(String, String)>,
    /// Whether these are all.
    pub is_all: bool,
}

/// A workspace with nothing in it, for what needs no look at one.
#[derive(Debug, Clone, Default)]
pub struct Empty(Links);

impl Empty {
    /// Nothing is there, and nothing is hidden.
    pub fn new() -> Self {
        Self(Links {
            links: Vec::new(),
            is_all: true,
        })
    }
}

impl Surroundings for Empty {
    fn inside(&self, _: &str) -> Inside {
        Inside {
            entries: Vec::new(),
            is_all: true,
        }
    }

    fn links(&self) -> &Links {
        &self.0
    }

    fn has(&self, _: &str) -> bool {
        false
    }

    fn above(&self) -> &str {
        ""
    }
}
