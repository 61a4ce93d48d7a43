//! Loaded components in memory, by key.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Key;

/// The loads that an engine remembers: all that are still in use, and the latest few.
pub(crate) struct RememberedLoads {
    loads: Mutex<Loads>,
    /// The number of latest loads that are kept after their last use.
    kept: usize,
}

/// The result of loading a component. The loader chooses its type.
type Loaded = dyn Any + Send + Sync;

#[derive(Default)]
struct Loads {
    by_key: HashMap<Key, Weak<Loaded>>,
    /// The latest loads; the most recent one is last.
    latest: VecDeque<Arc<Loaded>>,
}

impl RememberedLoads {
    pub fn new(kept: usize) -> Self {
        let loads = Mutex::default();
        Self { loads, kept }
    }

    pub fn get<T: Any + Send + Sync>(&self, key: &Key) -> Option<Arc<T>> {
        let mut loads = self.lock();
        let loaded = loads.by_key.get(key)?.upgrade()?;
        let left_out = loads.keep(&loaded, self.kept);
        drop(loads);
        // Unmapping code takes a while, so release the lock first.
        drop(left_out);
        loaded.downcast().ok()
    }

    pub fn remember(&self, key: &Key, loaded: Arc<Loaded>) {
        let mut loads = self.lock();
        loads.by_key.retain(|_, loaded| loaded.strong_count() > 0);
        loads.by_key.insert(key.clone(), Arc::downgrade(&loaded));
        let left_out = loads.keep(&loaded, self.kept);
        drop(loads);
        drop(left_out);
    }

    fn lock(&self) -> MutexGuard<'_, Loads> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loads {
    /// Keeps a load, and returns the one that it displaces.
    fn keep(&mut self, loaded: &Arc<Loaded>, most: usize) -> Option<Arc<Loaded>> {
        self.latest.retain(|kept| !Arc::ptr_eq(kept, loaded));
        self.latest.push_back(Arc::clone(loaded));
        if self.latest.len() > most {
            self.latest.pop_front()
        } else {
            None
        }
    }
}
