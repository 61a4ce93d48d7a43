//! What the commands that call and resolve share.

use std::sync::Arc;

use airlock_desk::resolution::{self, Resolved};
use airlock_host::pending::{Actor, DecidedBy, Decision, Evidence};
use airlock_host::{PendingAction, Resolution, Session};

use crate::terminal::interrupt::Interrupt;
use crate::terminal::progress::Progress;

pub struct CommandContext {
    pub session: Session,
    pub interrupt: Interrupt,
    pub progress: Progress,
    /// Who runs the program, for the audit trail.
    pub user: Actor,
}

impl CommandContext {
    /// The user, who was asked on this program's own terminal.
    pub fn at_terminal(&self) -> DecidedBy {
        self.user.clone().with_evidence(Evidence::Terminal)
    }

    /// Carries out a decision about this very action.
    pub async fn resolve(
        &self,
        action: &Arc<PendingAction>,
        resolution: Resolution,
        decided_by: DecidedBy,
    ) -> Resolved {
        let what = match resolution.decision {
            Decision::Apply => "Applying…",
            Decision::Discard => "Discarding…",
        };
        let cancelled = self.interrupt.token();
        let carrying_out =
            resolution::resolve(&self.session, action, resolution, decided_by, cancelled);
        self.progress.during(what.to_owned(), carrying_out).await
    }
}
