//! The options of a layer, and of opening a file or directory in it.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Storage options and limits of a layer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LayerOptions {
    /// A folder outside of the workspace for contents that don't fit in memory, preferably on the
    /// same file system.
    pub spill: PathBuf,
    /// Maximum size of contents in memory, in bytes.
    pub memory_bytes: u64,
    /// Maximum total size of all changed files, in bytes.
    pub bytes: u64,
    /// Maximum number of changed objects, including the directories above them.
    pub entries: usize,
    /// The time that written objects get until the commit, instead of the current time.
    pub clock: Option<SystemTime>,
    /// Time limit for each comparison of contents with the folder. Default: no limit.
    pub compare_time: Option<Duration>,
}

impl LayerOptions {
    /// Returns the default limits: 16 MiB in memory, 16 GiB in total, and a million objects.
    pub fn new(spill: impl Into<PathBuf>) -> Self {
        Self {
            spill: spill.into(),
            memory_bytes: 16 << 20,
            bytes: 16 << 30,
            entries: 1_000_000,
            clock: None,
            compare_time: None,
        }
    }
}

/// Options for opening a file or directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Opens it for writing.
    pub write: bool,
    /// Creates a file if nothing exists at the path.
    pub create: bool,
    /// Fails unless the file is created by this call.
    pub exclusive: bool,
    /// Truncates the file.
    pub truncate: bool,
    /// Fails unless it is a directory.
    pub directory: bool,
    /// Follows a link at the end of the path.
    pub follow: bool,
}
