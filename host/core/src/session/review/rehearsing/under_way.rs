//! The rehearsals that are running: at most one of each action. Callers that need its result wait
//! for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_model::pending::ActionId;
use tokio::sync::watch;

use super::super::Reviews;

/// The running rehearsals of this session, by their actions. Nothing is ever sent: a rehearsal ends
/// when its sender is dropped.
#[derive(Default)]
pub(in crate::session::review) struct Rehearsals(Mutex<HashMap<ActionId, watch::Receiver<()>>>);

impl Rehearsals {
    fn lock(&self) -> MutexGuard<'_, HashMap<ActionId, watch::Receiver<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running rehearsal. It is registered until this is dropped, even by a panic.
pub(super) struct UnderWay {
    rehearsals: Arc<Rehearsals>,
    action: ActionId,
    _ends: watch::Sender<()>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.rehearsals.lock().remove(&self.action);
    }
}

impl Reviews {
    /// Registers a rehearsal. Returns `None` if one is already running for this action.
    pub(super) fn begin(&self, id: &ActionId) -> Option<UnderWay> {
        let (ends, ended) = watch::channel(());
        let mut under_way = self.rehearsals.lock();
        if under_way.contains_key(id) {
            return None;
        }
        under_way.insert(id.clone(), ended);
        Some(UnderWay {
            rehearsals: Arc::clone(&self.rehearsals),
            action: id.clone(),
            _ends: ends,
        })
    }

    /// Returns whether a rehearsal is running.
    pub fn is_rehearsed(&self, id: &ActionId) -> bool {
        self.rehearsals.lock().contains_key(id)
    }

    /// Waits for a running rehearsal.
    pub(in crate::session::review) async fn rehearsed(&self, id: &ActionId) {
        let under_way = self.rehearsals.lock().get(id).cloned();
        if let Some(mut ended) = under_way {
            // An error means that the sender was dropped.
            while ended.changed().await.is_ok() {}
        }
    }
}
