//! Custom templates: folders of the user.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};

use crate::build::sdk::FOLDER;
use crate::error::Error;

/// Build output and other files in a template's folder that are not part of the template.
const LEFT_OUT: [&str; 6] = [
    ".git",
    ".venv",
    "__pycache__",
    "build",
    "node_modules",
    "target",
];

/// A file of a template, with its path relative to the folder, separated by `/`.
pub struct TemplateFile {
    pub path: String,
    pub contents: Vec<u8>,
    /// The file's permissions, if it exists on disk.
    pub permissions: Option<fs::Permissions>,
}

/// Returns the files of a template, sorted by path.
///
/// # Errors
/// If they can't be read, or the folder has none.
pub fn read(folder: &Path) -> Result<Vec<TemplateFile>, Error> {
    let mut files = Vec::new();
    visit(folder, "", &mut files)
        .with_context(|| format!("can't read the template {}", folder.display()))
        .map_err(Error::usage)?;
    files.sort_by(|one, other| one.path.cmp(&other.path));
    if files.is_empty() {
        return Err(Error::usage(anyhow!(
            "there is no file in the template {}",
            folder.display()
        )));
    }
    Ok(files)
}

fn visit(folder: &Path, below: &str, files: &mut Vec<TemplateFile>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name
            .to_str()
            .with_context(|| format!("{} is no UTF-8", entry.path().display()))?;
        // Each project gets the SDK of this program instead.
        if LEFT_OUT.contains(&name) || (below.is_empty() && name == FOLDER) {
            continue;
        }
        let path = format!("{below}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            visit(&entry.path(), &format!("{path}/"), files)?;
            continue;
        }
        let contents = fs::read(entry.path()).with_context(|| path.clone())?;
        let permissions = fs::metadata(entry.path())?.permissions();
        files.push(TemplateFile {
            path,
            contents,
            permissions: Some(permissions),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_built_in_a_template_and_its_sdk_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "go.mod",
            "src/{{tool}}.go",
            ".gitignore",
            "build/a.wasm",
            ".git/HEAD",
            "sdk/go.mod",
            "src/sdk/kept.go",
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let files = read(folder.path()).unwrap();
        let paths: Vec<_> = files.iter().map(|file| &*file.path).collect();
        assert_eq!(
            paths,
            [".gitignore", "go.mod", "src/sdk/kept.go", "src/{{tool}}.go"]
        );
        let empty = tempfile::tempdir().unwrap();
        assert!(read(empty.path()).is_err());
        assert!(read(&empty.path().join("nowhere")).is_err());
    }
}
