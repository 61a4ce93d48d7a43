//! The hunks that the user has marked as reviewed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use airlock_host::digest::Digest;
use airlock_host::regular::read_regular_file;

use crate::store::state_folder;

/// The most marks that are kept. The oldest ones are dropped.
const MAX_MARKS: usize = 10_000;

/// The longest file of marks that is read, in bytes: a digest with its prefix, and a line feed, for
/// each, and room for what others wrote to it.
const MAX_BYTES: u64 = 100 * MAX_MARKS as u64;

/// The hunks that the user has marked as reviewed, by the digest of their contents. They are kept
/// in the user's state folder, so that a long review can go on later.
///
/// A mark helps a person to remember, and has no part in any decision. Without a place to keep
/// them, marks last as long as this value.
#[derive(Debug, Default)]
pub struct ReviewedHunks {
    path: Option<PathBuf>,
    /// The oldest first.
    marks: Vec<Digest>,
    known: HashSet<Digest>,
}

impl ReviewedHunks {
    /// Reads the user's marks.
    pub fn open() -> Self {
        let Ok(folder) = state_folder() else {
            return Self::default();
        };
        let path = folder.join("reviewed");
        Self::at(&path).unwrap_or_else(|error| {
            tracing::warn!("{} can't be read: {error}", path.display());
            Self::default()
        })
    }

    fn at(path: &Path) -> io::Result<Self> {
        let text = match read_regular_file(path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            text => text?,
        };
        let text = String::from_utf8_lossy(&text);
        // Other lines are not ours, or were cut off.
        let marks: Vec<Digest> = text.lines().filter_map(|line| line.parse().ok()).collect();
        Ok(Self {
            path: Some(path.to_owned()),
            known: marks.iter().copied().collect(),
            marks,
        })
    }

    /// Returns whether a hunk is marked.
    pub fn has(&self, hunk: &Digest) -> bool {
        self.known.contains(hunk)
    }

    /// Marks hunks.
    pub fn mark(&mut self, hunks: impl IntoIterator<Item = Digest>) {
        for hunk in hunks {
            if self.known.insert(hunk) {
                self.marks.push(hunk);
            }
        }
        if let Some(path) = &self.path
            && let Err(error) = self.save(path)
        {
            tracing::warn!("{} can't be written: {error}", path.display());
        }
    }

    fn save(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        let first = self.marks.len().saturating_sub(MAX_MARKS);
        for mark in &self.marks[first..] {
            writeln!(file, "{mark}")?;
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let _: File = file.persist(path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(number: usize) -> Digest {
        Digest::of(&number.to_le_bytes())
    }

    #[test]
    fn marks_are_kept_and_the_oldest_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/reviewed");
        let mut marks = ReviewedHunks::at(&path).unwrap();
        marks.mark([digest(0), digest(1)]);
        fs::write(&path, fs::read_to_string(&path).unwrap() + "half a li").unwrap();
        let mut marks = ReviewedHunks::at(&path).unwrap();
        assert!(marks.has(&digest(0)) && marks.has(&digest(1)));
        marks.mark((1..=MAX_MARKS).map(digest));
        assert!(marks.has(&digest(0)), "until it is read again");
        let marks = ReviewedHunks::at(&path).unwrap();
        assert!(!marks.has(&digest(0)));
        assert!((1..=MAX_MARKS).all(|it| marks.has(&digest(it))));
    }
}
