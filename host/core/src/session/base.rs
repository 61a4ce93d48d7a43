//! The parts of a session that its reviews and decisions use.

use std::sync::Arc;

use airlock_model::denial::Denial;
use airlock_model::error::Error;
use airlock_model::limits::Limits;
use airlock_model::pending::{PendingAction, SessionId};
use airlock_model::store::{Claims, Records, Stacks};

use super::events::Events;
use super::place::Place;
use super::stack::Stack;
use super::tools::Tools;

/// The parts of a session that know nothing of reviews and decisions, nor of each other.
pub(super) struct Base {
    pub stack: Stack,
    pub place: Place,
    pub tools: Tools,
    pub events: Events,
}

impl Base {
    pub fn id(&self) -> &SessionId {
        self.stack.id()
    }

    /// # Errors
    /// [`Error::NoStore`].
    pub fn stacks(&self) -> Result<&dyn Stacks, Error> {
        Ok(&*self.stack.store()?.stacks)
    }

    /// # Errors
    /// [`Error::NoStore`].
    pub fn claims(&self) -> Result<&Arc<dyn Claims>, Error> {
        Ok(&self.stack.store()?.claims)
    }

    /// # Errors
    /// [`Error::NoStore`].
    pub fn records(&self) -> Result<&dyn Records, Error> {
        Ok(&*self.stack.store()?.records)
    }

    pub fn limits(&self) -> &Arc<Limits> {
        self.tools.limits()
    }

    /// Records a denial and reports it to the observer. If recording fails, this only logs a
    /// warning: the decision and its answer stay the same.
    pub async fn record_denial(&self, action: &PendingAction, denial: Denial) {
        if let Ok(store) = self.stack.store() {
            let recording = store.denials.record_denial(self.id(), &action.id, &denial);
            if let Err(error) = recording.await {
                let id = &action.id;
                tracing::warn!(
                    "the log lacks that {id} was {}: {error}",
                    denial.denied_by.past()
                );
            }
        }
        self.events.denied(action, denial);
    }
}
