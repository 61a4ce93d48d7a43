//! The facade's methods about pending actions.

use std::collections::BTreeMap;
use std::sync::Arc;

use airlock_model::actor::DecidedBy;
use airlock_model::content::{CallOutcome, ResolutionOutcome};
use airlock_model::denial::Denial;
use airlock_model::effects::Effects;
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, PendingAction, Resolution, StackedAction};
use airlock_model::reads::StaleFile;

use super::Review;
use super::decide::{Discarded, RecoveredAction, StandingHandler};
use super::review::is_producer_gone;
use super::{Cancellable, Session};

impl Session {
    /// Returns all pending actions, topmost first. The first call on a session also recovers
    /// interrupted applies, like [`recover`](Self::recover).
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be read. Without a store, the list is empty.
    pub async fn pending(&self) -> Result<Vec<StackedAction>, Error> {
        self.inner.decisions.pending().await
    }

    /// Returns whether anything is pending. Each call queries the stack.
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be read.
    pub async fn has_pending(&self) -> Result<bool, Error> {
        self.base().stack.has_pending().await
    }

    /// Waits for a change of the stack of pending actions, by this session, another one, or another
    /// process that shares the store. It counts changes from the moment this function is *called*,
    /// so that you don't miss one between listing and waiting:
    ///
    /// ```no_run
    /// # async fn example(session: airlock_host::Session) -> Result<(), airlock_host::Error> {
    /// loop {
    ///     let changed = session.pending_changed();
    ///     println!("{} pending", session.pending().await?.len());
    ///     changed.await;
    /// }
    /// # }
    /// ```
    ///
    /// May return spuriously. Without a store, it never returns.
    pub fn pending_changed(&self) -> impl Future<Output = ()> + Send + use<> {
        self.base().stack.changed()
    }

    /// Returns everything that is known about a pending action, to review it before a decision.
    /// Waits for its rehearsal. Returns `None` if the action is not on the stack. If its plugin is
    /// gone, the review has no effects.
    ///
    /// ```no_run
    /// # use airlock_host::pending::{ActionId, Actor, Decision};
    /// # async fn example(
    /// #     session: airlock_host::Session,
    /// #     id: ActionId,
    /// #     ask: fn(&str) -> bool,
    /// # ) -> Result<(), airlock_host::Error> {
    /// let Some(review) = session.review(&id).await? else {
    ///     return Ok(()); // It was resolved elsewhere.
    /// };
    /// let diff = review.effects.as_ref().map(|effects| effects.unified_diff());
    /// let is_right = ask(&diff.unwrap_or_default());
    /// let decision = if is_right { Decision::Apply } else { Decision::Discard };
    /// let resolution = review.decided(decision, "read the diff");
    /// session.resolve(resolution, Actor::person("Ada")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be read, [`Error::NoStore`], [`Error::Workspace`] if the
    /// workspace can't be read, and other errors of loading the plugin.
    pub async fn review(&self, id: &ActionId) -> Result<Option<Review>, Error> {
        let effects = match self.effects(id).await {
            // It can still be discarded.
            Err(error) if is_producer_gone(&error) => None,
            effects => effects?,
        };
        let Some(action) = self.base().stack.find(Some(id)).await? else {
            return Ok(None);
        };
        Ok(Some(Review {
            action,
            call: self.call_record(id).await?,
            effects,
            stale: self.stale_files(id).await?,
        }))
    }

    /// Returns the effects of a pending action of this session, as the host saw them in the
    /// [rehearsal](crate::policy::Rehearse). Waits for a running rehearsal. If there was none, for
    /// example because the host was stopped, this rehearses the action now. Returns `None` if the
    /// action is not on the stack or is not rehearsed.
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be read, [`Error::NoStore`], and errors of loading the
    /// plugin.
    pub async fn effects(&self, id: &ActionId) -> Result<Option<Effects>, Error> {
        self.inner.reviews.effects(id).await
    }

    /// Returns the files of a pending action that have changed since its preview. If there are any,
    /// applying the action fails with [`Error::Stale`]. Returns an empty list if the action was
    /// previewed in another workspace, which is a separate error.
    ///
    /// # Errors
    /// [`Error::Store`] and [`Error::NoStore`], and [`Error::Workspace`] if the workspace can't be
    /// read.
    pub async fn stale_files(&self, id: &ActionId) -> Result<Vec<StaleFile>, Error> {
        self.inner.reviews.stale_files(id).await
    }

    /// Returns the changed files of every pending action that was previewed in this workspace, by
    /// action. Compares each file once. Leaves out actions without any known read or changed file.
    ///
    /// # Errors
    /// See [`stale_files`](Self::stale_files).
    pub async fn all_stale_files(&self) -> Result<BTreeMap<ActionId, Vec<StaleFile>>, Error> {
        self.inner.reviews.all_stale_files().await
    }

    /// Returns the current effects of a pending action if other lines of its files have changed
    /// since the preview and its edits are the same: an apply would do this. Returns `None` in any
    /// other case. Stores nothing.
    ///
    /// # Errors
    /// See [`stale_files`](Self::stale_files).
    pub async fn moved_effects(&self, id: &ActionId) -> Result<Option<Effects>, Error> {
        self.inner.reviews.moved_effects(id).await
    }

    /// Carries out a decision about a pending action: the topmost one, unless the resolution names
    /// another.
    ///
    /// An apply needs the approval of the session's [`Approver`](super::Approver), if it has one.
    /// The approver decides whether the model may apply the action, or whether another actor's
    /// decision is enough.
    ///
    /// A decision to apply is about the effects that it [names](Resolution::review), or about the
    /// effects at the push.
    ///
    /// # Errors
    /// - [`Error::NothingPending`], [`Error::AlreadyResolved`], [`Error::ResolutionInProgress`] or
    ///   [`Error::UnknownAction`] if there is no such action to resolve.
    /// - [`Error::OtherWorkspace`] or [`Error::WorkspaceReplaced`] if the action was previewed
    ///   elsewhere and the resolution doesn't [say it is the same
    ///   workspace](Resolution::same_workspace). Nothing was tried, and the action stays as it was.
    ///   You can still discard it, without a notification of its plugin, unless an apply was tried
    ///   on another machine.
    /// - [`Error::Busy`]: nothing was tried.
    /// - [`Error::ApplyFailed`], or the tool's own [`Error::Tool`], if an apply failed. The action
    ///   is on top of the stack again. The same goes for [`Error::Cancelled`] during an apply.
    ///   After a failed reject, the action is gone.
    /// - [`Error::Refused`] and [`Error::NeedsPerson`] from the approver. The action stays as it
    ///   was.
    /// - [`Error::NotReviewed`] if the action's effects have changed.
    /// - [`Error::Unrecovered`] if an interrupted apply may have taken effect in a workspace that
    ///   is not here, and the action is to be discarded without [`abandon`](Resolution::abandon).
    /// - [`Error::Expired`] if the action was not decided [in
    ///   time](super::SessionBuilder::pending_expires_after). It is then discarded.
    pub fn resolve<'a>(
        &'a self,
        resolution: Resolution,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<ResolutionOutcome, Error>> {
        self.resolving(resolution, decided_by.into())
    }

    fn resolving(
        &self,
        resolution: Resolution,
        decided_by: DecidedBy,
    ) -> Cancellable<'_, Result<ResolutionOutcome, Error>> {
        let decisions = &self.inner.decisions;
        Cancellable::new(move |cancel| decisions.resolve(resolution, decided_by, cancel))
    }

    /// Records that an apply of a pending action was denied, for example because the person who was
    /// asked [about its review](Self::review) declined. The action stays pending. The session's
    /// observer is notified.
    ///
    /// If the store can't record it, this only logs a warning: the answer stays the same.
    pub async fn record_denial(&self, action: &PendingAction, denial: Denial) {
        self.base().record_denial(action, denial).await;
    }

    /// Discards all pending actions and returns their ids, topmost first. Tools that asked for it
    /// are notified. The actions are gone whatever the tools answer. Actions that another caller is
    /// resolving stay.
    ///
    /// # Errors
    /// The errors of [`Session::resolve`] that leave an action in place, such as [`Error::Store`]
    /// and [`Error::Cancelled`]. Other actions may already be discarded.
    pub fn clear<'a>(
        &'a self,
        reason: &'a str,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<Vec<ActionId>, Error>> {
        self.clearing(reason, decided_by.into())
    }

    fn clearing<'a>(
        &'a self,
        reason: &'a str,
        decided_by: DecidedBy,
    ) -> Cancellable<'a, Result<Vec<ActionId>, Error>> {
        let decisions = &self.inner.decisions;
        Cancellable::new(move |cancel| decisions.clear(reason, decided_by, cancel))
    }

    /// Discards these actions of the session, and returns the result for each, in their order.
    ///
    /// Actions whose tools did not ask to be notified are discarded in one step of the store,
    /// however many there are. The others follow, several at a time. If one of them stays as it
    /// was, the remaining ones are left alone and are not in the result.
    ///
    /// # Errors
    /// [`Error::InvalidParams`] if the reason is too long, [`Error::Cancelled`], and
    /// [`Error::Store`] if the store can't be used. Then either nothing is discarded, or all the
    /// actions whose tools are not notified, and possibly some of the others.
    pub fn discard_all<'a>(
        &'a self,
        actions: &'a [StackedAction],
        reason: &'a str,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<Vec<Discarded>, Error>> {
        self.discarding(actions, reason, decided_by.into())
    }

    fn discarding<'a>(
        &'a self,
        actions: &'a [StackedAction],
        reason: &'a str,
        decided_by: DecidedBy,
    ) -> Cancellable<'a, Result<Vec<Discarded>, Error>> {
        let decisions = &self.inner.decisions;
        Cancellable::new(move |cancel| decisions.discard_all(actions, reason, decided_by, cancel))
    }

    /// Discards the actions that have [expired](super::SessionBuilder::pending_expires_after), and
    /// returns their ids. Tools that asked for it are notified. Actions with an attempted apply, or
    /// that are being resolved, stay.
    ///
    /// [`Session::next_turn`] does this by itself, so that no model is forced to decide about them.
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be used. Without a store, nothing is pending.
    pub async fn discard_expired(&self) -> Result<Vec<ActionId>, Error> {
        self.inner.decisions.discard_expired().await
    }

    /// Re-runs the call that produced `id` and atomically replaces its pending actions with the new
    /// ones. The old actions are discarded with the reason `refreshed as` and the ids of the new
    /// ones. The call is made by the same plugin, under the same grants as the original call.
    ///
    /// The new actions are placed together, in push order, at the position of the topmost old one.
    /// The order of the rest of the stack does not change, even if the tool now proposes more or
    /// fewer actions. A new action does not have to match an old one.
    ///
    /// Actions that another caller has claimed in the meantime are left alone. Afterwards the tool
    /// is notified of each discard if it [asked for that](crate::PendingAction::has_reject); a
    /// failure of this notification changes nothing.
    ///
    /// # Errors
    /// - The errors of [`call`](Self::call).
    /// - The errors of a [resolution](Self::resolve) if there is no such pending action, if it is
    ///   no longer pending when the tool returns, or if it was previewed in another workspace.
    /// - [`Error::Unrecovered`] if an apply of the action was interrupted and its outcome can't be
    ///   determined here.
    /// - [`Error::PluginGone`] and [`Error::ProducerGone`].
    ///
    /// On error, everything stays as it was.
    pub fn refresh<'a>(
        &'a self,
        id: &'a ActionId,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<CallOutcome, Error>> {
        self.refreshing(id, decided_by.into())
    }

    fn refreshing<'a>(
        &'a self,
        id: &'a ActionId,
        decided_by: DecidedBy,
    ) -> Cancellable<'a, Result<CallOutcome, Error>> {
        let decisions = &self.inner.decisions;
        Cancellable::new(move |cancel| decisions.refresh(id, decided_by, cancel))
    }

    /// Determines the outcome of [interrupted](crate::pending::ActionState::Interrupted) applies
    /// and records it in the store. An apply commits its workspace changes in one step. So either
    /// the workspace has a record of the commit, and the action is applied, or no file was touched,
    /// and the action is pending again in its old place.
    ///
    /// Some actions stay as they are: those of native tools without a
    /// [draft](crate::native::PreviewCall::draft), unless they were committed; those whose
    /// workspace is not here; and those applied by versions of this library without atomic commits.
    /// A [resolution](Session::resolve) recovers its own action in the same way.
    ///
    /// # Errors
    /// [`Error::Store`], and [`Error::NotCommitted`] if the workspace can't be examined.
    pub async fn recover(&self) -> Result<Vec<RecoveredAction>, Error> {
        self.inner.decisions.recover().await
    }

    /// Sets the handler for `resolve` calls while nothing is pending, or removes it with `None`.
    pub fn set_standing_handler(&self, handler: Option<Arc<dyn StandingHandler>>) {
        self.inner.decisions.set_standing_handler(handler);
    }
}
