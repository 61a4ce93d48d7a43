//! Where a test's store is.

use std::path::PathBuf;

use tempfile::TempDir;

/// A folder, and the path of a store in it.
pub struct StoreFolder {
    pub folder: TempDir,
}

impl StoreFolder {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        Self { folder }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("pending.db")
    }
}
