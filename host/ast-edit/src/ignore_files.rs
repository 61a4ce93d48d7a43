//! The entries that the ignore files of a workspace exclude.
//!
//! They are read here and not by the crate that walks folders, because that crate opens anything
//! with such a name: it would wait for a pipe, and follow a link out of the workspace. This module
//! opens each file through the workspace's descriptor, without waiting, and checks what it is once
//! it is open.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use airlock_host::native::folder::ReadableFolder;

/// The ignore files by their paths from a folder, by precedence: the first file is checked in all
/// folders before the next one.
const FILES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// The largest ignore file; larger ones are not written by hand. Each byte of malicious patterns
/// can take 440 bytes of memory and 2 microseconds to parse.
const MAX_FILE_BYTES: u64 = 128 << 10;

/// The limits of the cache, in folders and in bytes of their files. Beyond them, everything is
/// dropped and read again when needed. The files of a folder and its ancestors together are limited
/// to the same number of bytes, because they are needed together.
const MAX_FOLDERS: usize = 10_000;
const MAX_BYTES: usize = 256 << 10;

/// The ignore files of a folder and everything below it.
pub(crate) struct IgnoreFiles {
    folder: ReadableFolder,
    top: PathBuf,
    read: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    by_folder: HashMap<PathBuf, Option<Arc<IgnoreRules>>>,
    /// The bytes of their files.
    bytes: usize,
    problems: BTreeSet<String>,
}

/// The rules of a folder's files, and those of its ancestors.
struct IgnoreRules {
    files: [Gitignore; FILES.len()],
    /// The bytes of these files and those of the ancestors.
    bytes: usize,
    around: Option<Arc<IgnoreRules>>,
}

impl IgnoreFiles {
    /// Reads ignore files from `top` down. Files above it are ignored, because a folder that is
    /// named is meant.
    pub fn below(folder: ReadableFolder, top: &Path) -> Self {
        Self {
            folder,
            top: top.to_owned(),
            read: Mutex::default(),
        }
    }

    /// Returns whether the files of a path's ancestors exclude it (`Some(true)`) or include it
    /// (`Some(false)`). The path is relative to the workspace. The caller must know that the
    /// ancestors are not excluded themselves.
    pub fn leaves_out(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let rules = self.rules(path.parent()?)?;
        (0..FILES.len()).find_map(|file| {
            let mut levels = std::iter::successors(Some(&*rules), |rules| rules.around.as_deref());
            levels.find_map(|rules| match rules.files[file].matched(path, is_folder) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            })
        })
    }

    /// Returns `None` if no file has rules.
    fn rules(&self, folder: &Path) -> Option<Arc<IgnoreRules>> {
        if let Some(rules) = self.remembered().by_folder.get(folder) {
            return rules.clone();
        }
        let around = if folder == self.top {
            None
        } else {
            folder.parent().and_then(|parent| self.rules(parent))
        };
        let texts = FILES.map(|file| self.text(&folder.join(file)));
        let bytes: usize = texts.iter().map(Vec::len).sum();
        let together = bytes + around.as_ref().map_or(0, |around| around.bytes);
        let rules = match bytes {
            0 => around,
            _ if together > MAX_BYTES => {
                let problem = format!(
                    "the ignore files of {:?} (with those around it they are {together} bytes; the limit is {MAX_BYTES})",
                    folder.display()
                );
                self.remembered().problems.insert(problem);
                around
            }
            _ => Some(Arc::new(IgnoreRules {
                files: texts.map(|text| lines(folder, &text)),
                bytes: together,
                around,
            })),
        };
        let mut read = self.remembered();
        if read.by_folder.len() >= MAX_FOLDERS || read.bytes + bytes > MAX_BYTES {
            read.by_folder.clear();
            read.bytes = 0;
        }
        read.bytes += bytes;
        read.by_folder.insert(folder.to_owned(), rules.clone());
        rules
    }

    /// Returns a file's text, which is empty if there is no such file or it can't be read.
    fn text(&self, path: &Path) -> Vec<u8> {
        match self.folder.read_through_links(path, MAX_FILE_BYTES) {
            Ok(text) => text,
            Err(error) => {
                if error.kind() == io::ErrorKind::FileTooLarge {
                    let problem = format!("the ignore file {} ({error})", path.display());
                    self.remembered().problems.insert(problem);
                }
                Vec::new()
            }
        }
    }

    /// Returns the files that may have rules but were not read.
    pub fn problems(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.remembered().problems)
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parses the lines of a file. Lines that are not valid patterns are ignored.
fn lines(folder: &Path, text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Ok(line) = std::str::from_utf8(line) {
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::ops::ControlFlow;
    use std::time::{Duration, Instant};

    use tempfile::TempDir;

    use super::*;
    use crate::walk::{WalkEntry, WalkRoot, walk};

    fn write(folder: &TempDir, path: &str, text: impl AsRef<[u8]>) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the files that a walk visits, and its problems.
    fn walked(folder: &TempDir, start: &str) -> (BTreeSet<PathBuf>, Vec<String>) {
        let workspace = ReadableFolder::at(folder.path()).unwrap();
        let files: Mutex<BTreeSet<PathBuf>> = Mutex::default();
        let problems: Mutex<Vec<String>> = Mutex::default();
        let start = WalkRoot {
            path: start.into(),
            hidden: false,
        };
        walk(&workspace, &[start], |visited| {
            match visited {
                WalkEntry::File(path) => drop(files.lock().unwrap().insert(path.to_owned())),
                WalkEntry::Unreadable(problem) => problems.lock().unwrap().push(problem),
                _ => {}
            }
            ControlFlow::Continue(())
        });
        (files.into_inner().unwrap(), problems.into_inner().unwrap())
    }

    #[test]
    fn what_is_left_out_is_what_the_crate_that_reads_ignore_files_itself_leaves_out() {
        let folder = TempDir::new().unwrap();
        for directory in ["", "one/", "one/two/", "other/", ".hidden/", "made/in/"] {
            for file in ["a.js", "b.js", "c.min.js", ".d.js", "kept.js", "e"] {
                write(&folder, &format!("{directory}{file}"), "");
            }
        }
        let lists = [
            (".gitignore", "\u{feff}*.min.js\r\n# e\n/b.js\nmade/\n[\n"),
            (".ignore", "!/one/c.min.js\nkept.js\n!.hidden\n!one/.d.js\n"),
            (".git/info/exclude", "e\n!b.js\n"),
            ("one/.gitignore", "two/*\n!two/kept.js\n!two/a.js\n!e\n"),
            ("one/two/.ignore", "!kept.js\n/a.js\n"),
            ("other/.gitignore", "*\n!/a.js\n"),
        ];
        for (path, text) in lists {
            write(&folder, path, text);
            // The last one is excluded itself, and is therefore walked as if it had no ancestors.
            for (top, start) in [
                ("", ""),
                ("", "one"),
                ("", "one/two"),
                ("made/in", "made/in"),
            ] {
                let theirs = ignore::WalkBuilder::new(folder.path().join(top))
                    .parents(false)
                    .git_global(false)
                    .require_git(false)
                    .build()
                    .flatten()
                    .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
                    .map(|entry| entry.path().strip_prefix(folder.path()).unwrap().to_owned())
                    .filter(|path| path.starts_with(start) && !path.starts_with(".git"))
                    .collect();
                assert_eq!(walked(&folder, start).0, theirs, "{path}, from {start:?}");
            }
        }
    }

    #[test]
    fn a_list_that_leads_out_of_the_workspace_says_nothing_and_one_inside_of_it_does() {
        let (folder, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        write(&folder, "a.js", "");
        write(&outside, "list", "a.js\n");
        std::os::unix::fs::symlink(
            outside.path().join("list"),
            folder.path().join(".gitignore"),
        )
        .unwrap();
        assert_eq!(walked(&folder, "").0, [PathBuf::from("a.js")].into());
        write(&folder, "list", "*.js\nlist\n");
        std::os::unix::fs::symlink("list", folder.path().join(".ignore")).unwrap();
        assert!(walked(&folder, "").0.is_empty());
    }

    #[test]
    fn a_list_as_large_as_may_be_is_read_soon_and_a_larger_one_is_told_of() {
        let folder = TempDir::new().unwrap();
        write(&folder, "y.js", "");
        let most = usize::try_from(MAX_FILE_BYTES).unwrap();
        let lines: String = (0..)
            .map(|n| format!("*{n:x}?[!a-c]**\n"))
            .take(most / 20)
            .collect();
        assert!(lines.len() < most);
        write(&folder, ".gitignore", lines);
        let begun = Instant::now();
        assert_eq!(walked(&folder, "").0.len(), 1);
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{:?}",
            begun.elapsed()
        );
        // Nested files count together.
        fs::remove_file(folder.path().join(".gitignore")).unwrap();
        let long = "#".repeat(most - 1);
        for path in ["a/.gitignore", "a/b/.gitignore", "a/b/c/.gitignore"] {
            write(&folder, path, &long);
        }
        write(&folder, "a/b/c/d.js", "");
        let (files, problems) = walked(&folder, "a");
        assert_eq!(files.len(), 1);
        assert!(
            problems[0].starts_with("the ignore files of \"a/b/c\" (with those"),
            "{problems:?}"
        );
        fs::remove_dir_all(folder.path().join("a")).unwrap();
        write(&folder, ".gitignore", "#".repeat(most + 1));
        let (files, problems) = walked(&folder, "");
        assert_eq!(files.len(), 1);
        assert_eq!(
            problems,
            [format!(
                "the ignore file .gitignore (it is {} bytes; the limit is {most})",
                most + 1
            )]
        );
    }
}
