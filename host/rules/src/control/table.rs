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
    /// When it takes effect.
    pub class: Class,
    /// Patterns of names and paths, at any depth, in small letters: case never matters.
    pub patterns: Vec<String>,
    /// The page that says so.
    pub source: String,
    /// The date of the last comparison with that page, such as `2026-11-28`.
    pub reviewed: String,
}

/// When a control file takes effect. All but the last ask a person at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Class {
    /// When a folder is opened in an editor.
    Open,
    /// When a shell enters a folder.
    Enter,
    /// When version control reads or checks out a folder.
    Checkout,
    /// On a commit.
    Commit,
    /// When a hosting site or continuous integration sees it.
    Ci,
    /// When an agent starts.
    Agent,
    /// When an interpreter, a debugger or a test runner starts there.
    Start,
    /// At login, and when a shell, a terminal or a desktop starts.
    Login,
    /// When a package manager or a launcher runs there.
    Install,
    /// It holds secrets, or says who may log in.
    Credentials,
    /// It is Airlock's own.
    Own,
    /// When build or test runs. It isn't a control file, but a rule can be about it.
    Build,
}

impl Class {
    /// The effect of such a file, as a clause that begins with a verb.
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
    // A test reads it.
    let table: Table = toml::from_str(include_str!("../../control-files.toml"))
        .expect("the table of control files can be read");
    table.file
});

/// All entries: control files, and the files that builds run.
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
