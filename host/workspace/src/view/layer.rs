//! A layer: how it is kept, while it is open and when it was taken out of its view.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::content::Spill;
use crate::lower::Kind;
use crate::tree::Tree;

/// How a layer is kept, and what it may take.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LayerOptions {
    /// Where contents go that are not kept in memory: a folder outside of the workspace, best on
    /// the same file system.
    pub spill: PathBuf,
    /// How many bytes of contents may be in memory.
    pub memory_bytes: u64,
    /// How many bytes the contents of all changed files may have.
    pub bytes: u64,
    /// How many objects may be changed, or lie on the way to such.
    pub entries: usize,
    /// What is written gets this time instead of the current one, until it is committed.
    pub clock: Option<SystemTime>,
    /// How long it may take to compare contents with those of the folder, each time that this is
    /// done. Default: none, which is as long as it takes.
    pub compare_time: Option<Duration>,
}

impl LayerOptions {
    /// 16 MiB in memory, 16 GiB in all, and a million objects.
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

/// What was changed in a layer that was taken out of its view. Another one can begin above it.
#[derive(Debug)]
pub struct Layer {
    pub(crate) tree: Tree,
}

pub(crate) struct OpenLayer {
    pub spill: Spill,
    clock: Option<SystemTime>,
    pub compare_time: Option<Duration>,
    umask: u32,
}

impl OpenLayer {
    pub fn new(options: &LayerOptions) -> Self {
        Self {
            spill: Spill::new(&options.spill, options.memory_bytes, options.bytes),
            clock: options.clock,
            compare_time: options.compare_time,
            umask: umask(),
        }
    }

    pub fn now(&self) -> SystemTime {
        self.clock.unwrap_or_else(SystemTime::now)
    }

    /// The permissions of what is made, as the process would make it.
    pub fn mode(&self, kind: Kind) -> u32 {
        let all = if kind == Kind::Directory {
            0o777
        } else {
            0o666
        };
        all & !self.umask
    }
}

/// The process's own, which can't be asked for without setting it.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let umask = line.and_then(|umask| u32::from_str_radix(umask.trim(), 8).ok());
    umask.unwrap_or(0o022)
}
