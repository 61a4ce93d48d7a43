//! The parts of a store that a session uses.

use std::sync::Arc;

use super::{Claims, Denials, DurableStore, Records, Stacks};

/// A store of pending actions: the parts that a session uses. Cheap to clone. A part can be
/// replaced by another one, such as one with a fault in front of it.
///
/// When a method reports success, the change is as durable as the store is.
#[derive(Debug, Clone)]
pub struct PendingStore {
    /// The stacks of all sessions.
    pub stacks: Arc<dyn Stacks>,
    /// The claims of the actions on them.
    pub claims: Arc<dyn Claims>,
    /// The records of these actions.
    pub records: Arc<dyn Records>,
    /// The denials of these actions.
    pub denials: Arc<dyn Denials>,
}

impl<S: Stacks + Claims + Records + Denials> From<Arc<S>> for PendingStore {
    fn from(store: Arc<S>) -> Self {
        Self {
            stacks: store.clone(),
            claims: store.clone(),
            records: store.clone(),
            denials: store,
        }
    }
}

impl From<Arc<dyn DurableStore>> for PendingStore {
    fn from(store: Arc<dyn DurableStore>) -> Self {
        Self {
            stacks: store.clone(),
            claims: store.clone(),
            records: store.clone(),
            denials: store,
        }
    }
}
