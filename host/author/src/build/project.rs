//! Detects the language of a project.

use std::path::{Path, PathBuf};

use airlock_host::wants::About;
use anyhow::{Context, anyhow};
use serde::Deserialize;

use super::ProjectInfo;
use super::manifest::{self, Manifest};
use crate::error::Error;

/// A tool's project.
pub struct Project {
    pub folder: PathBuf,
    pub language: Language,
    pub manifest: Manifest,
}

/// The languages that have an SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust, built by cargo.
    Rust,
    /// TypeScript and JavaScript, which share one SDK.
    TypeScript,
    /// Python, built by its SDK.
    Python,
    /// C, built by zig or another clang.
    C,
    /// Go, built by the Go compiler.
    Go,
}

/// The files that identify a language.
const MARKS: [(&str, Language); 5] = [
    ("Cargo.toml", Language::Rust),
    ("package.json", Language::TypeScript),
    ("pyproject.toml", Language::Python),
    ("go.mod", Language::Go),
    ("src/tool.c", Language::C),
];

impl Language {
    /// Returns the language's name in `airlock.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::TypeScript => "typescript",
            Language::Python => "python",
            Language::C => "c",
            Language::Go => "go",
        }
    }

    /// Returns the language's name for people.
    pub fn title(self) -> &'static str {
        match self {
            Language::Rust => "Rust",
            Language::TypeScript => "TypeScript",
            Language::Python => "Python",
            Language::C => "C",
            Language::Go => "Go",
        }
    }
}

impl Project {
    /// Detects the project in a folder.
    ///
    /// # Errors
    /// If the folder contains no project, or files of several languages.
    pub fn find(folder: &Path) -> Result<Self, Error> {
        let folder = open(folder).map_err(|error| {
            Error::usage(error).with_advice("`airlock build DIR` builds the project in DIR")
        })?;
        let manifest = Manifest::read(&folder)?;
        let language = match manifest.language {
            Some(language) => language,
            None => detect(&folder)?,
        };
        Ok(Self {
            folder,
            language,
            manifest,
        })
    }

    /// Returns the metadata of the project, with the facts from the language's own file.
    pub fn info(&self, found: About, sdk: Option<(&'static str, String)>) -> ProjectInfo {
        let about = self.manifest.about(found);
        ProjectInfo {
            name: about.name.clone().unwrap_or_else(|| self.folder_name()),
            about,
            sdk,
        }
    }

    /// Returns the folder's name, the default name of the project.
    pub fn folder_name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Returns whether a folder looks like a tool's project. The project may still be invalid.
pub fn is_project(folder: &Path) -> bool {
    let marks = MARKS.iter().map(|(mark, _)| *mark);
    marks
        .chain([manifest::FILE])
        .any(|mark| folder.join(mark).is_file())
}

/// Returns the language that the files of a folder indicate.
///
/// # Errors
/// If they indicate none, or several.
pub fn detect(folder: &Path) -> Result<Language, Error> {
    let found: Vec<_> = MARKS
        .iter()
        .filter(|(mark, _)| folder.join(mark).is_file())
        .collect();
    match found.as_slice() {
        [(_, language)] => Ok(*language),
        [] => {
            let marks: Vec<_> = MARKS.iter().map(|(mark, _)| *mark).collect();
            let error = anyhow!("there is no tool project in {}", folder.display());
            let hint = format!(
                "looked for {} and airlock.toml; `airlock build DIR` builds another folder",
                marks.join(", ")
            );
            Err(Error::usage(error).with_advice(hint))
        }
        several => {
            let marks: Vec<_> = several.iter().map(|(mark, _)| *mark).collect();
            let error = anyhow!("{} has {}", folder.display(), marks.join(" and "));
            let hint = format!(
                "say which to build in airlock.toml, for example: language = \"{}\"",
                several[0].1.name()
            );
            Err(Error::usage(error).with_advice(hint))
        }
    }
}

/// Returns the folder's canonical path, without links.
pub(super) fn open(folder: &Path) -> anyhow::Result<PathBuf> {
    let opened = folder.canonicalize();
    opened.with_context(|| format!("can't open the folder {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_told_by_what_is_in_the_folder() {
        let check = |files: &[(&str, &str)], expected: Result<Language, &str>| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("src")).unwrap();
            for (file, text) in files {
                std::fs::write(folder.path().join(file), text).unwrap();
            }
            let found = Project::find(folder.path());
            match (found, expected) {
                (Ok(project), Ok(language)) => assert_eq!(project.language, language),
                (Err(failure), Err(part)) => {
                    let said = failure.to_string();
                    assert!(said.contains(part), "{said}");
                }
                (found, expected) => {
                    panic!(
                        "{files:?}: {:?}, not {expected:?}",
                        found.map(|p| p.language)
                    );
                }
            }
        };
        check(&[("Cargo.toml", "")], Ok(Language::Rust));
        check(&[("go.mod", "")], Ok(Language::Go));
        check(&[("package.json", "")], Ok(Language::TypeScript));
        check(&[("pyproject.toml", "")], Ok(Language::Python));
        check(&[("src/tool.c", "")], Ok(Language::C));
        check(&[("airlock.toml", "language = \"c\"")], Ok(Language::C));
        check(
            &[("airlock.toml", "language = \"go\""), ("src/tool.c", "")],
            Ok(Language::Go),
        );
        check(&[], Err("there is no tool project in "));
        check(&[("airlock.toml", "")], Err("there is no tool project in "));
        check(
            &[("go.mod", ""), ("Cargo.toml", "")],
            Err("has Cargo.toml and go.mod"),
        );
        check(&[("airlock.toml", "language = \"cobol\"")], Err("cobol"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let failure = Project::find(Path::new("nowhere")).err().unwrap();
        let message = failure.to_string();
        assert!(
            message.contains("can't open the folder nowhere"),
            "{message}"
        );
    }
}
