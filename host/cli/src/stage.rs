//! Where a call and its resolutions take place.

use std::sync::Arc;

use airlock_host::{Decision, PendingAction, Resolution, Session};

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
        Resolved {
            action: Arc::clone(action),
            resolution,
            outcome,
        }
    }
}
