//! The table of control files: `control-files.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

/// An entry of the table: names and paths, at any depth, with everything below them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ControlFile {
    /// The name for a rule's `control`.
    pub name: String,
    /// The event at which it takes effect.
    pub class: Class,
    /// Patterns of names and paths, at any depth, in small letters: case never matters.
    pub patterns: Vec<String>,
    /// The page that documents the file's effect.
    pub source: String,
    /// The date of the last comparison with that page, such as `2026-11-28`.
    pub reviewed: String,
}

/// The event at which a control file takes effect. A change to a file of any class but `Build` asks
/// a person at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Class {
    /// A file that takes effect when a folder is opened in an editor.
    Open,
    /// A file that takes effect when a shell enters a folder.
    Enter,
    /// A file that takes effect when version control reads or checks out a folder.
    Checkout,
    /// A file that takes effect on a commit.
    Commit,
    /// A file that takes effect on a hosting site or in continuous integration.
    Ci,
    /// A file that takes effect when an agent starts.
    Agent,
    /// A file that takes effect when an interpreter, a debugger or a test runner starts in its
    /// folder.
    Start,
    /// A file that takes effect at login, or when a shell, a terminal or a desktop starts.
    Login,
    /// A file that takes effect when a package manager or a launcher runs in its folder.
    Install,
    /// A file that holds secrets, or determines who may log in.
    Credentials,
    /// A file of Airlock's own.
    Own,
    /// A file that takes effect when builds or tests run. It isn't a control file, but a rule can
    /// be about it.
    Build,
}

impl Class {
    /// Returns the effect of such a file, as a clause that begins with a verb.
    pub fn does(self) -> &'static str {
        match self {
            Class::Open => "can run commands when an editor opens the folder",
            Class::Enter => "can run commands when a shell enters the folder",
            Class::Checkout => "can run commands when version control reads it",
            Class::Commit => "can run commands on a commit",
            Class::Ci => "can run commands on a hosting site or in continuous integration",
            Class::Agent => "tells agents what to do, and which programs to start",
            Class::Start => "can run commands when an interpreter starts in the folder",
            Class::Login => "can run commands at login, or when a shell or desktop starts",
            Class::Install => "can run commands, or holds secrets, of package managers",
            Class::Credentials => "holds secrets, or says who may log in",
            Class::Own => "is Airlock's own",
            Class::Build => "is run by build or test",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    file: Vec<ControlFile>,
}

static TABLE: LazyLock<Vec<ControlFile>> = LazyLock::new(|| {
    // A test reads the table.
    let table: Table = toml::from_str(include_str!("../../control-files.toml"))
        .expect("the table of control files can be read");
    table.file
});

/// Returns all entries: control files, and the files that builds run.
pub fn built_in() -> &'static [ControlFile] {
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_has_a_name_of_its_own_a_source_and_a_date() {
        let mut names: Vec<_> = built_in().iter().map(|it| &*it.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        for file in built_in() {
            assert!(!file.patterns.is_empty(), "{}", file.name);
            let has_source = file.source.starts_with("https://") || file.class == Class::Own;
            assert!(has_source, "{}", file.name);
            let parts: Vec<_> = file.reviewed.split('-').map(str::len).collect();
            assert_eq!(parts, [4, 2, 2], "{}", file.name);
        }
    }
}
