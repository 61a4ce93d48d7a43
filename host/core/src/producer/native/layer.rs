//! The layer for the changes of one call. It is opened when the tool first asks for it, and closed
//! with the call.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_model::limits::Limits;
use airlock_workspace::View;

use crate::instance::Conditions;
use crate::workspace::{LayerLimits, LayerStart, WorkspaceFolder, WritableFolder};

/// The layer of one call. Clones share it.
#[derive(Clone)]
pub(super) struct CallLayer {
    slot: Arc<Mutex<Slot>>,
    /// Timestamp for written files until they are committed. `None` for a draft.
    start: LayerStart,
    limits: LayerLimits,
}

enum Slot {
    Unopened,
    Open(View),
    /// The call has ended. If its tool is still running, it can no longer write.
    Closed,
}

impl CallLayer {
    /// Creates a layer that is never committed.
    pub fn draft(limits: &Limits) -> Self {
        Self::new(LayerStart::default(), limits)
    }

    pub fn of_apply(conditions: &Conditions, limits: &Limits) -> Self {
        let start = LayerStart {
            time: Some(conditions.time()),
            above: conditions.above.clone(),
        };
        Self::new(start, limits)
    }

    fn new(start: LayerStart, limits: &Limits) -> Self {
        Self {
            slot: Arc::new(Mutex::new(Slot::Unopened)),
            start,
            limits: LayerLimits::of(limits),
        }
    }

    /// # Errors
    /// Any I/O error; also if the call has ended.
    pub fn folder(&self, workspace: &WorkspaceFolder) -> io::Result<WritableFolder> {
        let mut slot = self.slot();
        let view = match &*slot {
            Slot::Open(view) => view.clone(),
            Slot::Closed => return Err(io::Error::other("the call has ended")),
            Slot::Unopened => {
                let view = match self.start.time {
                    Some(_) => workspace.noted_view()?,
                    None => workspace.view()?,
                };
                self.limits.begin(&view, workspace.spill()?, &self.start)?;
                *slot = Slot::Open(view.clone());
                view
            }
        };
        Ok(WritableFolder::of(view, workspace.path()))
    }

    /// Takes the changes, with their layer open. Returns `None` if the tool never asked for it.
    pub fn take(&self) -> Option<View> {
        match std::mem::replace(&mut *self.slot(), Slot::Closed) {
            Slot::Open(view) => Some(view),
            Slot::Unopened | Slot::Closed => None,
        }
    }

    /// Returns a guard that drops the remaining layer at the end.
    pub fn close_on_drop(&self) -> Closing {
        Closing(self.clone())
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the layer when a call ends in any way; nothing is written after that.
pub(super) struct Closing(CallLayer);

impl Drop for Closing {
    fn drop(&mut self) {
        if let Some(view) = self.0.take() {
            view.abandon();
        }
    }
}
