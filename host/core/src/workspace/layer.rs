//! The layer with the changes of one call: its limits, and its start.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::limits::Limits;
use airlock_workspace::{Layer, LayerOptions, View};

/// The session limits that apply to a layer.
#[derive(Clone, Copy)]
pub(crate) struct LayerLimits {
    files: usize,
    bytes: u64,
    compare_time: Duration,
}

/// The start of a layer.
#[derive(Debug, Clone, Default)]
pub(crate) struct LayerStart {
    /// The timestamp of written files until they are committed. `None` for the machine's own clock.
    pub time: Option<SystemTime>,
    /// The changes of the actions that are applied before this one, in the same commit.
    pub above: Option<Arc<Layer>>,
}

impl LayerLimits {
    pub fn of(limits: &Limits) -> Self {
        Self {
            files: limits.changed_files,
            bytes: limits.changed_bytes,
            compare_time: limits.call_time,
        }
    }

    /// Opens a layer whose large contents go to `spill`.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn begin(
        self,
        view: &View,
        spill: impl Into<PathBuf>,
        start: &LayerStart,
    ) -> io::Result<()> {
        let mut options = LayerOptions::new(spill);
        options.clock = start.time;
        options.entries = self.files;
        options.bytes = self.bytes;
        options.compare_time = Some(self.compare_time);
        match &start.above {
            Some(above) => view.begin_above(above, &options),
            None => view.begin(&options),
        }
    }
}
