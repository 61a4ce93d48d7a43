//! What was made of components before, by what these are.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Key;

/// What an engine remembers of its loads: all that somebody still has, and the latest few.
pub(crate) struct RememberedLoads {
    loads: Mutex<Loads>,
    /// How many of the latest are kept though nobody has them.
    kept: usize,
}

/// What a component became, which is for whoever loads it to say.
type Loaded = dyn Any + Send + Sync;

#[derive(Default)]
struct Loads {
    by_key: HashMap<Key, Weak<Loaded>>,
    /// The latest last.
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
        // Unmapping code takes a while, and others load meanwhile.
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
    /// Gives what is not kept any more.
    fn keep(&mut self, loaded: &Arc<Loaded>, most: usize) -> Option<Arc<Loaded>> {
        self.latest.retain(|kept| !Arc::ptr_eq(kept, loaded));
        self.latest.push_back(Arc::clone(loaded));
        match self.latest.len() > most {
            true => self.latest.pop_front(),
            false => None,
        }
    }
}
