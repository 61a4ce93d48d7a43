//! The stacks of a store.

use std::fmt;

use async_trait::async_trait;

use super::{Push, Replacement, SessionRoom, Standing, StoreError, Watch};
use crate::actor::DecidedBy;
use crate::pending::{ActionId, BriefAction, CallId, SessionId, StackedAction};

/// A stack of pending actions for each session.
///
/// The stack is ordered, topmost first. A push and a requeue put actions on top. An abandoned
/// action keeps its place below newer actions, so that a request for the topmost action never
/// returns an interrupted apply instead of an action that was just previewed.
///
/// [`Claims`](super::Claims) has the states of an action. A pending one can also be
/// [replaced](Stacks::replace), which discards it without a claim.
#[async_trait]
pub trait Stacks: fmt::Debug + Send + Sync + 'static {
    /// Returns the current size of a session, and how much more the store accepts. Call it before a
    /// push of `more` bytes. Another host may push in between.
    ///
    /// # Errors
    /// [`StoreError::StoreFull`] if the store doesn't accept `more` bytes, and
    /// [`StoreError::Backend`] if it can't be read.
    async fn room(&self, session: &SessionId, more: u64) -> Result<SessionRoom, StoreError>;

    /// Puts actions on top of their session's stack: all of them, or none.
    ///
    /// If the future is dropped before it returns, the actions are removed again as soon as the
    /// store knows that they were pushed, unless they were claimed in the meantime.
    ///
    /// # Errors
    /// [`StoreError::Full`] if the stack and claimed actions would exceed the push's capacity,
    /// [`StoreError::SessionFull`] if they would exceed its bytes, and [`StoreError::StoreFull`] if
    /// the store would be full. Nothing was pushed then. After [`StoreError::Backend`], a store
    /// that can't tell removes the actions too.
    async fn push(&self, push: Push) -> Result<(), StoreError>;

    /// Atomically replaces pending actions with new ones. The old ones are discarded without a
    /// claim. Readers see either the old or the new actions, even after a crash. The new ones lie
    /// together in the place of the topmost old one; actions above and below keep their places.
    ///
    /// Claimed actions are not pending and are left alone. So are
    /// [interrupted](crate::pending::ActionState::Interrupted) ones, since their effect is unknown.
    /// Returns the discarded actions, lowest first. If the [required](Replacement::action) action
    /// isn't pending, it returns none and pushes nothing. An empty push still discards.
    ///
    /// If the future is dropped before it returns, the replacement may have happened.
    ///
    /// # Errors
    /// The errors of [`push`](Stacks::push); nothing has changed then. Discarded actions need
    /// no room. After [`StoreError::Backend`], the replacement may have happened as a whole.
    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError>;

    /// Atomically discards pending actions without a claim, and returns them, lowest first. As in
    /// [`replace`](Stacks::replace), claimed and interrupted actions are left alone, and if
    /// the future is dropped before it returns, the discard may have happened.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be written. The discard may have happened then,
    /// as a whole.
    async fn discard(
        &self,
        session: &SessionId,
        actions: &[ActionId],
        reason: &str,
        decided_by: &DecidedBy,
    ) -> Result<Vec<ActionId>, StoreError> {
        let mut actions = actions;
        // Skips an action that another caller resolved first.
        while let Some((action, others)) = actions.split_first() {
            let replacement = Replacement {
                action: action.clone(),
                others: others.to_vec(),
                reason: reason.to_owned(),
                decided_by: decided_by.clone(),
            };
            let discarded = self.replace(Push::nothing(session), replacement).await?;
            if !discarded.is_empty() {
                return Ok(discarded);
            }
            actions = others;
        }
        Ok(Vec::new())
    }

    /// Returns the topmost pending action.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError>;

    /// Returns the state of an action without claiming it. Fails like `peek`.
    async fn standing(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Standing, StoreError>;

    /// Returns the pending action with this id, at any place of the session's stack.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn peek_at(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let listed = self.list(session).await?;
        Ok(listed.into_iter().find(|it| it.action.id == *action))
    }

    /// Returns the pending action of a call that lies lowest on the session's stack.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn lowest_of_call(
        &self,
        session: &SessionId,
        call: &CallId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let listed = self.list(session).await?;
        let mut of_call = listed.into_iter().rev();
        Ok(of_call.find(|it| it.action.call.as_ref() == Some(call)))
    }

    /// Returns all pending actions, topmost first. Claimed ones are not included.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError>;

    /// Returns all pending actions in brief. Called before each turn of a model, so stores should
    /// not read states, details and effects.
    ///
    /// The first one is the action that [`peek`](Stacks::peek) returns. The others may
    /// include actions whose remaining data can't be read, which [`list`](Stacks::list)
    /// leaves out.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn list_briefly(&self, session: &SessionId) -> Result<Vec<BriefAction>, StoreError> {
        let listed = self.list(session).await?;
        Ok(listed.into_iter().map(BriefAction::from).collect())
    }

    /// Marks volatile actions as [lost](crate::pending::ActionState::Lost) after the guest's
    /// instance that held them in memory has ended. Claimed ones are lost once they are back on the
    /// stack. Never blocks, and may take effect later; the session that lost them knows already.
    fn lose(&self, session: &SessionId, actions: &[ActionId]);

    /// Watches the session's stack for changes from now on.
    fn watch(&self, session: &SessionId) -> Watch;
}
