//! Discarding actions without asking the plugin that pushed them, which may be what failed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_host::event::Event;
use airlock_host::pending::{ActionId, SessionId, StackedAction};
use airlock_host::{Error, PendingAction, Resolution, Session};

use crate::decider;
use crate::store::Store;

const CALL_FAILED: &str = "the call that pushed it failed";

/// What a call has pushed, even if it fails afterwards. Clones share one list.
#[derive(Debug, Clone, Default)]
pub struct PushedActions(Arc<Mutex<Vec<ActionId>>>);

impl PushedActions {
    /// Records an event; to be called by the session's observer.
    pub fn observe(&self, event: &Event) {
        if let Event::Pushed { action } = event {
            self.lock().push(action.id.clone());
        }
    }

    /// Discards all of it, since the call failed, and returns how many actions that were.
    ///
    /// # Errors
    /// If the store can't be used.
    pub async fn discard_all(&self, session: &SessionId, store: &Store) -> Result<usize, Error> {
        let pushed = std::mem::take(&mut *self.lock());
        for id in pushed.iter().rev() {
            discard(session, store, id, CALL_FAILED).await?;
        }
        Ok(pushed.len())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ActionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Discards an action without asking its plugin: a session that has none can't ask it. Where
/// somebody else was faster, that is as well.
///
/// # Errors
/// If the store can't be used.
pub async fn discard(
    session: &SessionId,
    store: &Store,
    id: &ActionId,
    reason: &str,
) -> Result<(), Error> {
    let session = Session::builder()
        .id(session.clone())
        .store(store.pending())
        .open()?;
    let resolution = Resolution::discard(reason)
        .with_id(id.clone())
        .decided_by(decider::PROGRAM);
    match session.resolve(resolution).await {
        Ok(_) | Err(Error::AlreadyResolved { .. } | Error::ResolutionInProgress(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Discards those of the pushed actions that nobody has decided about, and that end with the
/// session: their tool keeps the preview in its memory. Tells how many these were.
///
/// # Errors
/// If the store can't be used.
pub async fn discard_volatile(
    session: &Session,
    store: &Store,
    pushed: &[Arc<PendingAction>],
    reason: &str,
) -> Result<usize, Error> {
    if pushed.iter().all(|action| action.durable) {
        return Ok(0);
    }
    let mut left = left_of(pushed, &session.pending().await?);
    left.retain(|action| !action.durable);
    for action in &left {
        discard(session.id(), store, &action.id, reason).await?;
    }
    Ok(left.len())
}

/// Those of the pushed actions that are pending, in their order.
pub fn left_of(
    pushed: &[Arc<PendingAction>],
    pending: &[StackedAction],
) -> Vec<Arc<PendingAction>> {
    let is_pending = |action: &PendingAction| {
        let mut pending = pending.iter();
        pending.any(|pending| pending.action.id == action.id)
    };
    let pushed = pushed.iter().filter(|action| is_pending(action));
    pushed.cloned().collect()
}
