//! What a call pushes, also where it fails afterwards.

use std::sync::{Arc, Mutex, PoisonError};

use airlock_host::{ActionId, Error, Event, Resolution, Session};

use crate::decider;
use crate::stage::Stage;
use crate::store::Store;

const REASON: &str = "the call that pushed it failed";

/// The ids of it. Clones are the same list.
#[derive(Clone, Default)]
pub struct Pushes(Arc<Mutex<Vec<ActionId>>>);

impl Pushes {
    pub fn observe(&self, event: &Event) {
        if let Event::Pushed { action } = event {
            self.lock().push(action.id.clone());
        }
    }

    /// Discards all of it, and tells how much that was.
    pub async fn discard_all(&self, stage: &Stage, store: &Store) -> Result<usize, Error> {
        let pushed = std::mem::take(&mut *self.lock());
        for id in pushed.iter().rev() {
            discard_unheard(stage, store, id, REASON).await?;
        }
        Ok(pushed.len())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<ActionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Discards an action without asking its plugin, which may be what went wrong: a session that has none can't ask it.
pub async fn discard_unheard(
    stage: &Stage,
    store: &Store,
    id: &ActionId,
    reason: &str,
) -> Result<(), Error> {
    let session = Session::builder()
        .id(stage.session.id().clone())
        .store(store.pending())
        .open()?;
    let resolution = Resolution::discard(reason)
        .with_id(id.clone())
        .decided_by(decider::PROGRAM);
    match session.resolve(resolution).await {
        // Somebody else was faster.
        Ok(_) | Err(Error::AlreadyResolved { .. } | Error::ResolutionInProgress(_)) => Ok(()),
        Err(error) => Err(error),
    }
}
