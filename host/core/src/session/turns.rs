//! Steering a model through its turns.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use airlock_model::error::Error;
use airlock_model::pending::{ActionId, BriefAction};
use airlock_model::steering::{NextTurn, Steering, ToolChoicePolicy, TurnReport, TurnSettings};

use super::Session;

/// What a session remembers of its turns.
pub(super) struct Turns {
    steering: Mutex<Steering>,
    /// How often `resolve` was called, by whatever way.
    resolutions: AtomicU64,
    /// How often that was when the last turn was sent.
    at_last_turn: AtomicU64,
    /// What the model asked for, and a person must decide about.
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

    /// The model was told so, and is not to be made to ask again.
    pub fn leave_to_a_person(&self, action: &ActionId) {
        self.left().insert(action.clone());
    }

    /// Takes out what a person must decide about. Who calls `resolve` without an id means the
    /// topmost: below one of that kind, nothing is steered.
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
        match pending.first().is_some_and(is_left) {
            true => pending.clear(),
            false => pending.retain(|action| !is_left(action)),
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
    /// The reminders for the model's next turn, and whether to force a decision: to be called
    /// before each turn. Assumes that the provider can force a tool, and that `resolve` is offered.
    ///
    /// It says what happened in the turn before by itself, from whether the session's `resolve` was
    /// called meanwhile, unless [`report_turn`](Session::report_turn) said so. Of an action that an
    /// [`Approver`](crate::approval::Approver) left to a person the model has heard, and is neither
    /// reminded nor made to ask again.
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
    /// [`Error::Store`] where the store can't be read.
    pub async fn next_turn(&self) -> Result<NextTurn, Error> {
        self.next_turn_with(TurnSettings::default()).await
    }

    /// [`Session::next_turn`], for a turn of which more is known.
    ///
    /// # Errors
    /// As [`Session::next_turn`].
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
        steering.report(match resolutions == before {
            true => TurnReport::Ignored,
            false => TurnReport::Resolved,
        });
        let mut turn = steering.next_turn(&pending, settings);
        turn.pending = count;
        Ok(turn)
    }

    /// Reports the result of the last turn. Needed only if the provider refused it, if it is
    /// retried ([`TurnReport::NotSent`], before [`next_turn`](Session::next_turn) is asked for it
    /// again), or if decisions are made through another [`Session`] of the same id.
    pub fn report_turn(&self, report: TurnReport) {
        self.inner.turns.steering().report(report);
    }
}
