//! `airlock.toml`: a project's metadata that the language's own files have no place for.

use std::path::{Path, PathBuf};

use airlock_host::wants::{About, Wants};
use anyhow::{Context, anyhow};
use serde::Deserialize;

use super::project::Language;
use crate::error::Error;

pub const FILE: &str = "airlock.toml";

/// The manifest. All fields are optional, and override those of the language's own file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manifest {
    /// The language, if it can't be detected from the folder.
    pub language: Option<Language>,
    /// The name, instead of the one in the language's own file.
    pub name: Option<String>,
    pub version: Option<String>,
    pub authors: Vec<String>,
    /// The licence, as an SPDX expression.
    pub license: Option<String>,
    pub homepage: Option<String>,
    pub description: Option<String>,
    /// The tool's wants; `None` if only grants limit it.
    pub wants: Option<Wants>,
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
        let problem = match (&manifest.name, &manifest.wants) {
            (Some(name), _) if !is_file_name(name) => {
                Some(format!("the name {name:?} can't be a file name"))
            }
            (_, Some(wants)) => wants.check().err(),
            _ => None,
        };
        match problem {
            Some(problem) => Err(Error::usage(anyhow!(
                "{} is not valid: {problem}",
                path.display()
            ))),
            None => Ok(manifest),
        }
    }

    /// Returns the component's metadata: these facts, and for those that are missing
    /// here the ones that were found in the language's own file.
    pub fn about(&self, found: About) -> About {
        let own = |own: &Option<String>, found: Option<String>| own.clone().or(found);
        let mut about = About::default();
        about.name = own(&self.name, found.name);
        about.version = own(&self.version, found.version);
        about.authors = own(&joined(&self.authors), found.authors);
        about.licenses = own(&self.license, found.licenses);
        about.homepage = own(&self.homepage, found.homepage);
        about.description = own(&self.description, found.description);
        about
    }
}

/// Returns authors as one text; `None` without any.
pub fn joined(authors: &[String]) -> Option<String> {
    Some(authors.join(", ")).filter(|it| !it.is_empty())
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
        check("[wants]\nnetwork = true", "line 2");
        check("[wants]\nread = [\"/etc\"]", "leads out of the workspace");
        check("[[wants.hosts]]\nhost = \"a b\"", "not the name of a host");
    }
}
