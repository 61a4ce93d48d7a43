//! The initial files of a case.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::files::Files;

/// A folder to copy, and additional files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fixture {
    /// The folder, relative to the case file.
    folder: Option<PathBuf>,
    #[serde(default)]
    files: BTreeMap<String, Contents>,
}

/// The contents of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a text, or { base64 = \"…\" }"
)]
pub enum Contents {
    Text(String),
    Binary { base64: Base64 },
}

/// Bytes, written as Base64 text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Base64(Vec<u8>);

impl TryFrom<String> for Base64 {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        STANDARD.decode(text).map(Self)
    }
}

impl Contents {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Contents::Text(text) => text.as_bytes(),
            Contents::Binary { base64 } => &base64.0,
        }
    }
}

impl Fixture {
    pub fn is_empty(&self) -> bool {
        self.folder.is_none() && self.files.is_empty()
    }

    /// Reads the folder and the files.
    ///
    /// # Errors
    /// A sentence that names the file or folder.
    pub fn files(&self, beside: &Path) -> Result<Files, String> {
        let mut files = match &self.folder {
            Some(folder) => Files::read(&beside.join(folder))
                .map_err(|error| format!("the workspace's folder: {error}"))?,
            None => Files::default(),
        };
        for (path, contents) in &self.files {
            check_path(path)?;
            if let Some(taken) = files.in_the_way_of(path) {
                return Err(format!("`{path}` can't be a file, because of `{taken}`"));
            }
            files.add_file(path, contents.bytes());
        }
        Ok(files)
    }
}

/// Checks that a path is inside the workspace.
pub fn check_path(path: &str) -> Result<(), String> {
    let plain = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if plain && !path.is_empty() && !path.contains("//") && !path.ends_with('/') {
        Ok(())
    } else {
        Err(format!(
            "`{path}` is not a path inside of the workspace, such as `notes/a.txt`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_inside_of_the_workspace_are_taken() {
        let check = |path, expected| assert_eq!(check_path(path).is_ok(), expected, "{path}");
        check("a.txt", true);
        check("a/b/c.txt", true);
        check("", false);
        check("/a", false);
        check("../a", false);
        check("a/../../b", false);
        check("./a", false);
        check("a//b", false);
        check("a/", false);
    }

    #[test]
    fn a_file_can_not_lie_below_another() {
        let fixture: Fixture = toml::from_str("files = { a = '', 'a/b' = '' }").unwrap();
        let error = fixture.files(Path::new("")).unwrap_err();
        assert_eq!(error, "`a/b` can't be a file, because of `a`");
    }
}
