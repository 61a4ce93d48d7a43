//! Layers: their options, and layers that were taken out of their view.

use std::time::{Duration, SystemTime};

use crate::content::Spill;
use crate::lower::Kind;
use crate::options::LayerOptions;
use crate::tree::Tree;

/// The changes of a layer that was taken out of its view. Another layer can be opened on top of
/// it.
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

    /// Returns the permissions of a new object, as the process would create it.
    pub fn mode(&self, kind: Kind) -> u32 {
        let all = if kind == Kind::Directory {
            0o777
        } else {
            0o666
        };
        all & !self.umask
    }
}

/// Returns the process's umask. The system call for that would also set it.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let umask = line.and_then(|umask| u32::from_str_radix(umask.trim(), 8).ok());
    umask.unwrap_or(0o022)
}
