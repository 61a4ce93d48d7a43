//! Texts that a tool may look for in a workspace: file names, globs, and words in the files.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::files::{Entry, Files};

/// Maximum number of texts of each kind, because a workspace may have thousands of files.
const MAX_TEXTS: usize = 128;

/// Number of words at the start of a description that describe a property. Later words may be about
/// something else, such as the file that a text is written to.
const TELLING: usize = 5;

/// Number of words to take from each file.
const WORDS_OF_A_FILE: usize = 4;

/// Texts that a tool is likely to know.
#[derive(Debug, Default)]
pub struct Vocabulary {
    /// Names of files and folders, parts of them, and words in the files.
    pub words: Vec<String>,
    /// Names of files and folders only.
    pub paths: Vec<String>,
    /// Globs that match some of these names.
    pub globs: Vec<String>,
}

impl Vocabulary {
    pub fn of(files: &Files) -> Self {
        let paths: Vec<String> = files.paths().take(MAX_TEXTS).map(str::to_owned).collect();
        // A tool that searches or renames looks for parts of names.
        let parts: BTreeSet<String> = paths.iter().flat_map(|path| parts(path)).collect();
        let mut words: Vec<String> = parts.into_iter().chain(paths.clone()).collect();
        for (_, entry) in files.iter() {
            if let Entry::File(contents) = entry
                && let Ok(text) = std::str::from_utf8(contents)
            {
                let first = text.split_whitespace().take(WORDS_OF_A_FILE);
                words.extend(first.map(str::to_owned));
            }
        }
        words.truncate(MAX_TEXTS);
        Self {
            words,
            paths,
            globs: globs(files),
        }
    }
}

fn parts(path: &str) -> impl Iterator<Item = String> {
    let parts = path.split(|letter: char| !letter.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_owned)
}

/// Returns globs for each kind of file, for all files, and for each folder.
fn globs(files: &Files) -> Vec<String> {
    let mut globs = BTreeSet::new();
    for (path, entry) in files.iter() {
        match entry {
            Entry::Folder => _ = globs.insert(format!("{path}/*")),
            Entry::File(_) | Entry::Link(_) => {
                let name = path.rsplit('/').next().unwrap_or(path);
                // A leading dot does not start an extension.
                if let Some((before, ending)) = name.rsplit_once('.')
                    && !before.is_empty()
                {
                    globs.insert(format!("*.{ending}"));
                    globs.insert(format!("**/*.{ending}"));
                }
            }
        }
    }
    let usual = ["*", "**/*"].map(str::to_owned).into_iter();
    usual.chain(globs).take(MAX_TEXTS).collect()
}

/// Returns whether a property seems to expect file names, judging by its name or the start of its
/// description.
pub fn names_files(name: &str, schema: &Value) -> bool {
    let description = |schema: &Map<String, Value>| {
        let text = schema.get("description")?.as_str()?;
        let mut first = tokens(text).take(TELLING);
        Some(first.any(|word| is_about_files(&word)))
    };
    let described = schema.as_object().and_then(description).unwrap_or(false);
    described || tokens(name).any(|word| is_about_files(&word))
}

fn is_about_files(word: &str) -> bool {
    matches!(
        word.strip_suffix('s').unwrap_or(word),
        "path"
            | "pathname"
            | "file"
            | "filename"
            | "filepath"
            | "glob"
            | "dir"
            | "directory"
            | "directorie"
            | "folder"
    )
}

/// Returns the words in lower case, including the parts of `snake_case` and `camelCase`.
fn tokens(text: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in text.chars() {
        let begins = !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower);
        was_lower = letter.is_lowercase();
        if begins {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_property_for_names_of_files_is_known_by_its_name_or_its_description() {
        let check = |name: &str, description: &str, expected: bool| {
            let schema = json!({"type": "string", "description": description});
            assert_eq!(
                names_files(name, &schema),
                expected,
                "{name}: {description}"
            );
        };
        check("path", "", true);
        check("files", "", true);
        check("inputFile", "", true);
        check("output_dir", "", true);
        check("glob", "", true);
        check("what", "Folders to look in.", true);
        check("what", "A glob, such as `*.txt`", true);
        check("profile", "Whose account it is.", false);
        check("redirect", "", false);
        check("text", "What to write.", false);
        check("text", "The lines that are added to the file.", false);
        check(
            "find",
            "A pattern, matched against each file's name.",
            false,
        );
    }

    #[test]
    fn globs_are_of_the_kinds_and_folders_that_there_are() {
        let mut files = Files::default();
        for path in ["a.txt", "docs/b.md", ".hidden", "Makefile"] {
            files.add_file(path, "one two");
        }
        let known = Vocabulary::of(&files);
        let globs = [
            "*", "**/*", "**/*.md", "**/*.txt", "*.md", "*.txt", "docs/*",
        ];
        assert_eq!(known.globs, globs);
        let paths = [".hidden", "Makefile", "a.txt", "docs", "docs/b.md"];
        assert_eq!(known.paths, paths);
        for word in ["two", "docs/b.md", "docs", "md"] {
            assert!(known.words.iter().any(|known| known == word), "{word}");
        }
    }
}
