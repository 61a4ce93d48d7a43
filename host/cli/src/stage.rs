//! Where a call and its resolutions take place.

use std::sync::Arc;

use airlock_host::{ActionState, Decision, PendingAction, Resolution, Session, StackedAction};

use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::resolution::Resolved;

pub struct Stage {
    pub session: Session,
    pub interrupt: Interrupt,
    pub progress: Progress,
    /// Who decides, for the audit trail.
    pub decider: String,
}

impl Stage {
    /// Carries out a decision about this very action.
    pub async fn resolve(&self, action: &Arc<PendingAction>, resolution: Resolution) -> Resolved {
        let resolution = resolution
            .with_id(action.id.clone())
            .decided_by(self.decider.as_str());
        let what = match resolution.decision {
            Decision::Apply => "Applying…",
            Decision::Discard => "Discarding…",
        };
        let carrying_out = self
            .session
            .resolve_with(resolution.clone(), Some(self.interrupt.token()));
        let outcome = self.progress.during(what.to_owned(), carrying_out).await;
        let is_lost = outcome.is_err() && !action.durable && self.lists_as_lost(action).await;
        Resolved {
            is_lost,
            action: Arc::clone(action),
            resolution,
            outcome,
        }
    }

    /// Where the store can't be read, that is told elsewhere.
    async fn lists_as_lost(&self, action: &PendingAction) -> bool {
        let pending = self.session.pending().await.unwrap_or_default();
        let is_lost =
            |it: &StackedAction| it.state == ActionState::Lost && it.action.id == action.id;
        pending.iter().any(is_lost)
    }
}
