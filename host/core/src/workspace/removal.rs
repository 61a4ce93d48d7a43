//! Removes a directory that a guest has filled.

use std::fs;
use std::io;
use std::path::Path;

/// Name prefix of directories that wait to be removed.
const WAITING: &str = ".removing-";

/// Removes a directory with everything in it. Links are removed, not followed.
///
/// A guest may have nested directories as deep as its scratch space has entries. Descending would
/// take a descriptor and stack space of the host for each level. So each directory is moved to the
/// top before it is emptied.
///
/// # Errors
/// The system's error for the first entry that can't be removed. The rest is still there, in other
/// places.
pub(super) fn remove(top: &Path) -> io::Result<()> {
    let mut moved = 0;
    loop {
        let mut folders = Vec::new();
        for entry in fs::read_dir(top)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path())
            } else {
                fs::remove_file(entry.path())?
            }
        }
        if folders.is_empty() {
            return fs::remove_dir(top);
        }
        for folder in folders {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    move_up(&entry.path(), top, &mut moved)?
                } else {
                    fs::remove_file(entry.path())?
                }
            }
            fs::remove_dir(&folder)?;
        }
    }
}

/// Moves a folder to an unused name at the top.
fn move_up(folder: &Path, top: &Path, moved: &mut u64) -> io::Result<()> {
    loop {
        *moved += 1;
        let waiting = top.join(format!("{WAITING}{moved}"));
        match waiting.symlink_metadata() {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return fs::rename(folder, waiting);
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tempfile::TempDir;

    use super::*;

    /// Nested directories, deeper than a path can name.
    fn nested(parent: &Path, depth: usize) -> std::path::PathBuf {
        let (inner, outer) = (parent.join("inner"), parent.join("outer"));
        fs::create_dir(&inner).unwrap();
        for _ in 0..depth {
            fs::create_dir(&outer).unwrap();
            fs::write(outer.join("file"), "text").unwrap();
            fs::rename(&inner, outer.join("d")).unwrap();
            fs::rename(&outer, &inner).unwrap();
        }
        inner
    }

    #[test]
    fn directories_that_are_deep_inside_of_each_other_take_neither_stack_nor_descriptors() {
        let parent = TempDir::new().unwrap();
        let folder = nested(parent.path(), 3000);
        // Descending would overflow it and end the process.
        let small = thread::Builder::new().stack_size(64 << 10);
        let removed = small.spawn(move || remove(&folder)).unwrap();
        removed.join().unwrap().unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn links_are_removed_and_not_followed_and_names_may_be_any() {
        let (parent, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        fs::write(outside.path().join("kept"), "text").unwrap();
        let folder = parent.path().join("folder");
        for name in [
            "a/b/c",
            "a/.removing-1",
            ".removing-1/x",
            ".removing-2/.removing-3",
        ] {
            fs::create_dir_all(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("file"), "text").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), folder.join("a/b/link")).unwrap();
        remove(&folder).unwrap();
        assert!(!folder.exists());
        assert!(outside.path().join("kept").exists());
    }
}
