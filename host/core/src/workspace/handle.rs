//! Counts the open handles of an instance: against its own limit, against its tenant's portion of
//! the engine's descriptors, and for files of the scratch directory, against the directory's quota.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::quota::Counted;
use crate::budget::{Held, Portion};

/// Number of files, directories and listings that an instance has open.
#[derive(Debug, Clone)]
pub(super) struct OpenCount {
    open: Arc<AtomicUsize>,
    most: usize,
}

/// An open handle. A file counts until its descriptor and all its streams are gone.
#[derive(Debug)]
pub(crate) struct OpenHandle {
    /// Set for files of the scratch directory.
    counted: Option<Counted>,
    _descriptors: Option<Held>,
    count: OpenCount,
    weight: usize,
}

impl OpenCount {
    pub fn new(most: usize) -> Self {
        Self {
            open: Arc::default(),
            most,
        }
    }

    /// Returns another handle on an open descriptor, or `None` at the maximum number of handles.
    pub fn another(&self) -> Option<OpenHandle> {
        self.enter(1, None)
    }

    /// Returns a handle that takes `count` descriptors, or `None` if that exceeds the limit of the
    /// instance or its tenant.
    pub fn taking(&self, count: usize, of: &Portion) -> Option<OpenHandle> {
        if self.open.load(Ordering::Relaxed) + count > self.most {
            return None;
        }
        let held = of.take(count)?;
        self.enter(count, Some(held))
    }

    fn enter(&self, weight: usize, held: Option<Held>) -> Option<OpenHandle> {
        // An instance has one thread, so nothing changes in between.
        if self.open.load(Ordering::Relaxed) + weight > self.most {
            return None;
        }
        self.open.fetch_add(weight, Ordering::Relaxed);
        Some(OpenHandle {
            counted: None,
            _descriptors: held,
            count: self.clone(),
            weight,
        })
    }
}

impl OpenHandle {
    pub fn counting(mut self, counted: Option<Counted>) -> Self {
        self.counted = counted;
        self
    }

    pub fn counted(&self) -> Option<&Counted> {
        self.counted.as_ref()
    }
}

impl Drop for OpenHandle {
    fn drop(&mut self) {
        self.count.open.fetch_sub(self.weight, Ordering::Relaxed);
    }
}
