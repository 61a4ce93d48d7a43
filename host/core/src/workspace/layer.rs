//! Limits on the layer with the changes of one call.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use airlock_model::limits::Limits;
use airlock_workspace::LayerOptions;

/// The session limits that apply to a layer.
#[derive(Clone, Copy)]
pub(crate) struct LayerLimits {
    files: usize,
    bytes: u64,
    compare_time: Duration,
}

impl LayerLimits {
    pub fn of(limits: &Limits) -> Self {
        Self {
            files: limits.changed_files,
            bytes: limits.changed_bytes,
            compare_time: limits.call_time,
        }
    }

    /// Returns options for a layer whose large contents go to `spill`. Written files get the
    /// timestamp `clock`.
    pub fn options(self, spill: impl Into<PathBuf>, clock: Option<SystemTime>) -> LayerOptions {
        let mut options = LayerOptions::new(spill);
        options.clock = clock;
        options.entries = self.files;
        options.bytes = self.bytes;
        options.compare_time = Some(self.compare_time);
        options
    }
}
