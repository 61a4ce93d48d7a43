//! Real source files to search.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder with copies of source files.
pub struct Corpus {
    folder: PathBuf,
    files: Vec<PathBuf>,
}

impl Corpus {
    /// Makes it of the Rust files in cargo's registry folder: always the same ones, as long as no
    /// crate is added there.
    pub fn copied_to(folder: &Path, count: usize) -> Self {
        let _ = fs::remove_dir_all(folder);
        let mut sources = Vec::new();
        let registry = registry();
        visit(&registry, &mut sources);
        sources.sort();
        assert!(
            sources.len() >= count,
            "{} has {} Rust files, and {count} are needed: build the project first",
            registry.display(),
            sources.len()
        );
        sources.truncate(count);
        let files = sources.iter().map(|source| {
            let copy = folder.join(source.strip_prefix(&registry).unwrap());
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::write(&copy, fs::read(source).unwrap()).unwrap();
            copy
        });
        Self {
            files: files.collect(),
            folder: folder.to_owned(),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn bytes(&self) -> u64 {
        let sizes = self
            .files
            .iter()
            .map(|file| fs::metadata(file).unwrap().len());
        sizes.sum()
    }

    /// How often the files have a word.
    pub fn count(&self, word: &str) -> usize {
        let counts = self
            .files
            .iter()
            .map(|file| fs::read_to_string(file).unwrap().matches(word).count());
        counts.sum()
    }
}

fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    home.expect("a home").join("registry/src")
}

/// Files that both sides search: neither hidden nor huge.
fn visit(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            visit(&path, found);
        } else if kind.is_file() && path.extension().is_some_and(|it| it == "rs") {
            let source = fs::read(&path).unwrap();
            if source.len() < 1 << 20
                && std::str::from_utf8(&source).is_ok_and(|it| !it.contains('\0'))
            {
                found.push(path);
            }
        }
    }
}
