//! Decisions about pending actions. Nothing else claims an action.

mod approve;
mod carry_out;
mod claim;
mod clear;
mod commit;
mod conditions;
mod deny;
mod expire;
mod keep_rest;
mod lease;
mod outcome;
mod params;
mod recover;
mod refresh;
mod resolve;
mod settle;
mod standing;
mod together;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use airlock_model::error::Error;
use airlock_model::pending::{BriefAction, StackedAction};

use super::approval::Approver;
use super::base::Base;
use super::review::Reviews;
use super::turns::Turns;
pub use clear::Discarded;
pub(super) use params::{NAME, parse};
pub use recover::{APPLY_UNDONE, RecoveredAction};
use standing::StandingState;
pub use standing::{StandingHandler, StandingResult};
pub(super) use together::{JointDecision, JointPart};

/// Carries out the decisions of a session.
pub(super) struct Decisions {
    base: Arc<Base>,
    reviews: Reviews,
    approver: Option<Arc<dyn Approver>>,
    pub turns: Turns,
    standing: StandingState,
    /// True if pending actions were listed since the session was opened, or if there is no
    /// workspace to recover.
    looked: AtomicBool,
}

impl Decisions {
    pub fn new(
        base: Arc<Base>,
        reviews: Reviews,
        approver: Option<Arc<dyn Approver>>,
        turns: Turns,
    ) -> Self {
        Self {
            looked: AtomicBool::new(base.place.workspace.is_none()),
            base,
            reviews,
            approver,
            turns,
            standing: StandingState::default(),
        }
    }

    /// Returns all pending actions, topmost first. The first call also recovers interrupted
    /// applies.
    pub async fn pending(&self) -> Result<Vec<StackedAction>, Error> {
        let listed = self.base.stack.list().await?;
        if !self.looked.swap(true, Ordering::Relaxed)
            && Box::pin(self.recover_listed(&listed)).await
        {
            return self.base.stack.list().await;
        }
        Ok(listed)
    }

    /// Returns the pending actions in brief, for the query before each turn, and discards expired
    /// ones. The first call lists them in full, because recovery may resolve some.
    pub async fn pending_for_turn(&self) -> Result<Vec<BriefAction>, Error> {
        if !self.looked.load(Ordering::Relaxed) {
            self.pending().await?;
        }
        let pending = self.base.stack.list_briefly().await?;
        let now = SystemTime::now();
        if pending.iter().any(|action| action.has_expired(now)) {
            self.discard_expired().await?;
            return self.base.stack.list_briefly().await;
        }
        Ok(pending)
    }
}
