//! Bounds the disk space of compiled plugins. Removes entries that were not loaded for long, and
//! the least recently loaded ones if there are too many.
//!
//! The modification time of an entry's file is the time of its last load, to the day.

use std::fs::{self, DirEntry, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::entry::ENDING;

/// File name suffix of entries that are being written. Those of a killed host remain.
pub const PART: &str = ".part";

/// Default maximum size of all entries.
pub const MAX_BYTES: u64 = 1 << 30;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The time after which an unused entry is removed.
const UNUSED: Duration = Duration::from_secs(60 * DAY.as_secs());

/// Notes that an entry was loaded. If this fails, the entry counts as older than it is, which costs
/// a compilation.
pub fn used(entry: &File, metadata: &Metadata) {
    let modified = metadata.modified();
    if modified.is_ok_and(|modified| is_older(modified, DAY)) {
        let _ = entry.set_modified(SystemTime::now());
    }
}

/// Removes entries that are too old or too many, but never `newest`, which was just written.
pub fn evict(folder: &Path, newest: &Path, max_bytes: u64) -> io::Result<()> {
    let mut kept: Vec<CacheFile> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let Some(found) = CacheFile::at(&entry?) else {
            continue;
        };
        let keep = if found.is_part {
            !is_older(found.modified, DAY)
        } else {
            found.path == newest || !is_older(found.modified, UNUSED)
        };
        if keep {
            kept.push(found)
        } else {
            found.remove()
        }
    }
    let mut bytes: u64 = kept.iter().map(|found| found.bytes).sum();
    kept.sort_by_key(|found| found.modified);
    let entries = kept
        .iter()
        .filter(|found| !found.is_part && found.path != newest);
    for found in entries {
        if bytes <= max_bytes {
            break;
        }
        found.remove();
        bytes -= found.bytes;
    }
    Ok(())
}

/// A file that this cache has made.
struct CacheFile {
    path: PathBuf,
    is_part: bool,
    bytes: u64,
    modified: SystemTime,
}

impl CacheFile {
    fn at(entry: &DirEntry) -> Option<Self> {
        let name = entry.file_name();
        let name = name.to_str()?;
        let is_part = name.ends_with(PART);
        if !is_part && !name.ends_with(ENDING) {
            return None;
        }
        let metadata = entry
            .metadata()
            .ok()
            .filter(|metadata| metadata.is_file())?;
        Some(Self {
            path: entry.path(),
            is_part,
            bytes: metadata.len(),
            modified: metadata.modified().ok()?,
        })
    }

    /// Removes the file. Other processes that load it have it open. On failure, another host may
    /// have been faster.
    fn remove(&self) {
        match fs::remove_file(&self.path) {
            Ok(()) => tracing::debug!("removed {}, to make room", self.path.display()),
            Err(error) => tracing::debug!("could not remove {}: {error}", self.path.display()),
        }
    }
}

/// Returns whether `time` is older than `age` by this machine's clock; times in the future are not.
fn is_older(time: SystemTime, age: Duration) -> bool {
    time.elapsed().is_ok_and(|elapsed| elapsed > age)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Files as name, size in bytes, and days since the last use. The first was just written.
    #[track_caller]
    fn check(max_bytes: u64, files: &[(&str, usize, u32)], expected: &[&str]) {
        let folder = TempDir::new().unwrap();
        for (name, size, days) in files {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_len(*size as u64).unwrap();
            // One extra minute, because time passes during the test.
            let age = DAY * *days + Duration::from_secs(60);
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        evict(folder.path(), &folder.path().join(files[0].0), max_bytes).unwrap();
        let left = fs::read_dir(folder.path()).unwrap();
        let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<String> = left.collect();
        left.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn what_was_used_longest_ago_goes_first_and_what_was_just_written_stays() {
        let files = [
            ("a.compiled", 10, 0),
            ("b.compiled", 10, 3),
            ("c.compiled", 10, 1),
            ("d.compiled", 10, 2),
        ];
        check(
            40,
            &files,
            &["a.compiled", "b.compiled", "c.compiled", "d.compiled"],
        );
        check(39, &files, &["a.compiled", "c.compiled", "d.compiled"]);
        check(20, &files, &["a.compiled", "c.compiled"]);
        check(5, &files, &["a.compiled"]);
    }

    #[test]
    fn what_nobody_used_for_long_goes_and_what_is_not_ours_stays() {
        check(
            u64::MAX,
            &[
                ("new.compiled", 1, 90),
                ("used.compiled", 1, 59),
                ("unused.compiled", 1, 60),
                ("key", 1, 90),
                ("now.part", 1, 0),
                ("left.part", 1, 1),
            ],
            &["key", "new.compiled", "now.part", "used.compiled"],
        );
    }

    #[test]
    fn an_entry_that_is_loaded_counts_as_used_today() {
        let folder = TempDir::new().unwrap();
        let file = File::create(folder.path().join("a.compiled")).unwrap();
        let at = |ago: Duration| {
            let time = SystemTime::now() - ago;
            file.set_modified(time).unwrap();
            used(&file, &file.metadata().unwrap());
            file.metadata().unwrap().modified().unwrap()
        };
        assert!(!is_older(at(DAY * 3), DAY));
        // Not written on each load.
        assert!(is_older(at(DAY / 2), DAY / 3));
    }
}
