//! Steers a model through its turns.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use airlock_model::pending::{ActionId, BriefAction};
use airlock_model::steering::{NextTurn, Steering, ToolChoicePolicy, TurnReport, TurnSettings};

/// State of a session across the model's turns.
pub(super) struct Turns {
    steering: Mutex<Steering>,
    /// Number of calls of `resolve`, by any route.
    resolutions: AtomicU64,
    /// Value of `resolutions` when the last turn was sent.
    at_last_turn: AtomicU64,
    /// Actions that the model wants applied and that a person must decide about.
    left_to_a_person: Mutex<HashSet<ActionId>>,
}

impl Turns {
    pub fn new(policy: ToolChoicePolicy) -> Self {
        Self {
            steering: Mutex::new(Steering::new(policy)),
            resolutions: AtomicU64::new(0),
            at_last_turn: AtomicU64::new(0),
            left_to_a_person: Mutex::default(),
        }
    }

    /// Returns the next turn, with these actions pending. `resolutions` were counted before they
    /// were listed.
    pub fn next(
        &self,
        resolutions: u64,
        mut pending: Vec<BriefAction>,
        settings: TurnSettings,
    ) -> NextTurn {
        let count = pending.len();
        self.leave_out_left(&mut pending);
        let before = self.at_last_turn.swap(resolutions, Ordering::Relaxed);
        let mut steering = self.steering();
        steering.report(if resolutions == before {
            TurnReport::Ignored
        } else {
            TurnReport::Resolved
        });
        let mut turn = steering.next_turn(&pending, settings);
        turn.pending = count;
        turn
    }

    pub fn report(&self, report: TurnReport) {
        self.steering().report(report);
    }

    /// Returns how many resolutions were counted.
    pub fn resolutions(&self) -> u64 {
        self.resolutions.load(Ordering::Relaxed)
    }

    pub fn count_resolution(&self) {
        self.resolutions.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a person must decide. The model has been informed and must not be forced to ask
    /// again.
    pub fn leave_to_a_person(&self, action: &ActionId) {
        self.lock().insert(action.clone());
    }

    /// Removes the actions that a person must decide about. `resolve` without an id means the
    /// topmost action, so if that one is left to a person, nothing is steered.
    fn leave_out_left(&self, pending: &mut Vec<BriefAction>) {
        let mut left = self.lock();
        if left.is_empty() {
            return;
        }
        let still: HashSet<ActionId> = pending
            .iter()
            .filter_map(|action| left.take(action.id()))
            .collect();
        *left = still;
        let is_left = |action: &BriefAction| left.contains(action.id());
        if pending.first().is_some_and(is_left) {
            pending.clear()
        } else {
            pending.retain(|action| !is_left(action))
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<ActionId>> {
        let left = self.left_to_a_person.lock();
        left.unwrap_or_else(PoisonError::into_inner)
    }

    fn steering(&self) -> MutexGuard<'_, Steering> {
        self.steering.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
