//! The client that made each preview.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use airlock_host::pending::ActionId;
use airlock_host::{PendingAction, Session};

/// The number of actions that are remembered before those that are no longer pending are dropped.
const PRUNE_ABOVE: usize = 256;

/// The clients of the actions whose push this server has seen. Clones share state.
#[derive(Clone, Default)]
pub struct Owners {
    by_id: Arc<Mutex<HashMap<ActionId, Arc<str>>>>,
}

impl Owners {
    /// Returns the client that made a preview, or `None` if it was made before this server started.
    pub fn of(&self, id: &ActionId) -> Option<String> {
        self.with(|by_id| by_id.get(id).map(|it| it.to_string()))
    }

    /// Remembers the client of the actions that a call in this session pushed.
    pub async fn remember(&self, session: &Session, pushed: &[Arc<PendingAction>], client: &str) {
        if !pushed.is_empty()
            && self.add(pushed, client)
            && let Ok(pending) = session.pending().await
        {
            self.keep(pending.iter().map(|it| &it.action.id));
        }
    }

    /// Adds actions. Returns whether it is time to drop those that are no longer pending.
    fn add(&self, pushed: &[Arc<PendingAction>], client: &str) -> bool {
        let client: Arc<str> = client.into();
        self.with(|by_id| {
            let before = by_id.len();
            let new = pushed.iter().map(|it| (it.id.clone(), Arc::clone(&client)));
            by_id.extend(new);
            // Only once per `PRUNE_ABOVE` actions, however many are pending.
            before / PRUNE_ABOVE != by_id.len() / PRUNE_ABOVE
        })
    }

    /// Drops all actions except these.
    fn keep<'a>(&self, pending: impl Iterator<Item = &'a ActionId>) {
        self.with(|by_id| {
            let kept = pending.filter_map(|id| by_id.remove_entry(id)).collect();
            *by_id = kept;
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<ActionId, Arc<str>>) -> T) -> T {
        act(&mut self.by_id.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
