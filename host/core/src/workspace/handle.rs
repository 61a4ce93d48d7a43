//! What an instance has open, counted: against its own limit, against what its session may take of
//! the engine's descriptors, and for files of the scratch directory, against the directory's quota.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::quota::Counted;
use crate::budget::{Held, Portion};

/// How many files, directories and listings an instance has open.
#[derive(Debug, Clone)]
pub(super) struct OpenCount {
    open: Arc<AtomicUsize>,
    most: usize,
}

/// Something that is open. A file is until its descriptor and all streams of it are gone.
#[derive(Debug)]
pub(crate) struct OpenHandle {
    /// Files of the scratch directory.
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

    /// For another handle on a descriptor that is open already. None where there are as many
    /// handles as there may be.
    pub fn another(&self) -> Option<OpenHandle> {
        self.enter(1, None)
    }

    /// For something that takes so many descriptors. None where it is too much, for the instance or
    /// for its tenant.
    pub fn taking(&self, count: usize, of: &Portion) -> Option<OpenHandle> {
        if self.open.load(Ordering::Relaxed) + count > self.most {
            return None;
        }
        let held = of.take(count)?;
        self.enter(count, Some(held))
    }

    fn enter(&self, weight: usize, held: Option<Held>) -> Option<OpenHandle> {
        // An instance has one thread: nobody else enters in between.
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
