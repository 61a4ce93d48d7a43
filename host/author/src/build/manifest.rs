//! `airlock.toml`: a project's metadata that the language's own files have no place for.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use serde::Deserialize;

use super::project::Language;
use crate::error::Error;

pub const FILE: &str = "airlock.toml";

/// The manifest. All fields are optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manifest {
    /// The language, if it can't be detected from the folder.
    pub language: Option<Language>,
    /// The name, instead of the one in the language's own file.
    pub name: Option<String>,
    pub version: Option<String>,
    pub c: C,
}

/// Compiler settings of a C project.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct C {
    /// The files to compile and link, relative to the project's folder. If empty, all `.c` files
    /// in `src`.
    pub sources: Vec<PathBuf>,
    /// Compiler options.
    pub flags: Vec<String>,
}

impl Manifest {
    /// Reads the manifest, if there is one.
    ///
    /// # Errors
    /// If it can't be read, or contains unknown fields.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let Some(text) = read_if_there(&path).map_err(Error::usage)? else {
            return Ok(Self::default());
        };
        let manifest: Self = toml::from_str(&text).map_err(|error| {
            let message = format!("{} is not valid: {error}", path.display());
            Error::usage(anyhow!("{}", message.trim_end()))
        })?;
        match &manifest.name {
            Some(name) if !is_file_name(name) => Err(Error::usage(anyhow!(
                "{} is not valid: the name {name:?} can't be a file name",
                path.display()
            ))),
            _ => Ok(manifest),
        }
    }
}

/// Reads a file that may be missing.
pub fn read_if_there(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        read => {
            let text = read.with_context(|| format!("can't read {}", path.display()))?;
            Ok(Some(text))
        }
    }
}

/// Returns whether a name can be used as a file name. Components are named after their projects.
pub fn is_file_name(name: &str) -> bool {
    let harmless = |c: char| c.is_alphanumeric() || "._-+".contains(c);
    !name.is_empty() && !name.starts_with('.') && name.chars().all(harmless)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Manifest, Error> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), text).unwrap();
        Manifest::read(folder.path())
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let manifest = read("name = \"rename\"\n[c]\nflags = [\"-O2\"]").unwrap();
        assert_eq!(manifest.name.as_deref(), Some("rename"));
        assert_eq!(manifest.c.flags, ["-O2"]);
        assert!(manifest.c.sources.is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let check = |text: &str, part: &str| {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains("airlock.toml is not valid"), "{message}");
            assert!(message.contains(part), "{message}");
        };
        check("nme = \"a\"", "unknown field `nme`");
        check("[c]\nsources = \"a.c\"", "line 2");
        check("name = \"../a\"", "can't be a file name");
        check("name = \"\"", "can't be a file name");
    }
}
