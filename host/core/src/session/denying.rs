//! Records denials.

use airlock_model::denial::{Denial, DeniedBy};
use airlock_model::event::{self, Event, EventSource};
use airlock_model::pending::PendingAction;

use super::Session;
use super::approving::{ConfirmRequest, Confirmation};

impl Session {
    /// Records a denial and emits it to the observer. If recording fails, this only logs a warning:
    /// the decision and its answer stay the same.
    pub(super) async fn record_denial(&self, action: &PendingAction, denial: Denial) {
        if let Ok(store) = self.store() {
            let recording = store.record_denial(self.id(), &action.id, &denial);
            if let Err(error) = recording.await {
                let id = &action.id;
                tracing::warn!(
                    "the log lacks that {id} was {}: {error}",
                    denial.denied_by.past()
                );
            }
        }
        let (plugin, tool) = (&action.plugin_name, &action.source_tool_name);
        let source = EventSource::new(Some(self.id()), plugin, tool);
        let action = action.id.clone();
        let denied = Event::Denied { action, denial };
        event::emit(self.inner.observer.as_ref(), source, &denied);
    }

    /// # Errors
    /// The reason not to commit, as a clause. The denial is recorded by then.
    pub(super) async fn let_commit(
        &self,
        request: &ConfirmRequest<'_>,
        confirmation: Confirmation,
    ) -> Result<(), String> {
        let (denied_by, reason) = match confirmation {
            Confirmation::Commit => return Ok(()),
            Confirmation::Drop { reason } => return Err(reason),
            Confirmation::Refuse { reason } => (DeniedBy::Rule, reason),
            Confirmation::Decline { decided_by, reason } => (DeniedBy::Person(decided_by), reason),
        };
        let (resolution, asked_by) = (request.resolution, request.decided_by.clone());
        let denial = Denial::new(resolution, asked_by, denied_by, &reason);
        self.record_denial(request.action, denial).await;
        Err(reason)
    }
}
