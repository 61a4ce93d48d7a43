//! Steers a model through its turns.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use airlock_model::error::Error;
use airlock_model::pending::{ActionId, BriefAction};
use airlock_model::steering::{NextTurn, Steering, ToolChoicePolicy, TurnReport, TurnSettings};

use super::Session;

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

    pub fn count_resolution(&self) {
        self.resolutions.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a person must decide. The model has been informed and must not be forced to ask
    /// again.
    pub fn leave_to_a_person(&self, action: &ActionId) {
        self.left().insert(action.clone());
    }

    /// Removes the actions that a person must decide about. `resolve` without an id means the
    /// topmost action, so if that one is left to a person, nothing is steered.
    fn leave_out_left(&self, pending: &mut Vec<BriefAction>) {
        let mut left = self.left();
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

    fn left(&self) -> MutexGuard<'_, HashSet<ActionId>> {
        let left = self.left_to_a_person.lock();
        left.unwrap_or_else(PoisonError::into_inner)
    }

    fn steering(&self) -> MutexGuard<'_, Steering> {
        self.steering.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Returns the reminders for the model's next turn, and whether to force a decision. Call it
    /// before each turn. It assumes that the provider can force a tool, and that `resolve` is
    /// offered.
    ///
    /// The session derives the result of the previous turn from calls of its `resolve`, unless you
    /// reported it with [`report_turn`](Session::report_turn). If an
    /// [`Approver`](crate::approval::Approver) left an action to a person, the model already knows:
    /// it is neither reminded nor forced to ask again.
    ///
    /// ```no_run
    /// # use airlock_host::Session;
    /// # async fn example(session: Session) -> Result<(), airlock_host::Error> {
    /// let turn = session.next_turn().await?;
    /// for reminder in &turn.reminders {
    ///     println!("to the model, as a message of the type {}: {}", reminder.kind, reminder.text);
    /// }
    /// if let Some(tool) = turn.tool_choice.tool() {
    ///     println!("it must call `{tool}`");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be read.
    pub async fn next_turn(&self) -> Result<NextTurn, Error> {
        self.next_turn_with(TurnSettings::default()).await
    }

    /// Same as [`Session::next_turn`], with settings for this turn.
    ///
    /// # Errors
    /// As for [`Session::next_turn`].
    pub async fn next_turn_with(&self, settings: TurnSettings) -> Result<NextTurn, Error> {
        let turns = &self.inner.turns;
        let resolutions = turns.resolutions.load(Ordering::Relaxed);
        let mut pending = self.pending_briefly().await?;
        let now = SystemTime::now();
        if pending.iter().any(|action| action.has_expired(now)) {
            self.discard_expired().await?;
            pending = self.pending_briefly().await?;
        }
        let count = pending.len();
        turns.leave_out_left(&mut pending);
        let before = turns.at_last_turn.swap(resolutions, Ordering::Relaxed);
        let mut steering = turns.steering();
        steering.report(if resolutions == before {
            TurnReport::Ignored
        } else {
            TurnReport::Resolved
        });
        let mut turn = steering.next_turn(&pending, settings);
        turn.pending = count;
        Ok(turn)
    }

    /// Reports the result of the last turn. Call this only if the provider refused the turn, if you
    /// retry it ([`TurnReport::NotSent`], before you call [`next_turn`](Session::next_turn) for it
    /// again), or if decisions are made through another [`Session`] with the same id.
    pub fn report_turn(&self, report: TurnReport) {
        self.inner.turns.steering().report(report);
    }
}
