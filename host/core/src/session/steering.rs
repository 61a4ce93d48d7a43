//! The facade's methods about the turns of a model.

use airlock_model::error::Error;
use airlock_model::steering::{NextTurn, TurnReport, TurnSettings};

use super::Session;

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

    /// Returns the result of [`Session::next_turn`], with settings for this turn.
    ///
    /// # Errors
    /// See [`Session::next_turn`].
    pub async fn next_turn_with(&self, settings: TurnSettings) -> Result<NextTurn, Error> {
        let decisions = &self.inner.decisions;
        let resolutions = decisions.turns.resolutions();
        let pending = decisions.pending_for_turn().await?;
        Ok(decisions.turns.next(resolutions, pending, settings))
    }

    /// Reports the result of the last turn. Call this only if the provider refused the turn, if you
    /// retry it ([`TurnReport::NotSent`], before you call [`next_turn`](Session::next_turn) for it
    /// again), or if decisions are made through another [`Session`] with the same id.
    pub fn report_turn(&self, report: TurnReport) {
        self.inner.decisions.turns.report(report);
    }
}
