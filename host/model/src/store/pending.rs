//! The interface of stores of pending actions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{
    ActionBasis, Budget, Claim, Completion, Lease, PluginBytes, Push, Replacement, SessionRoom,
    Spending, Spent, Standing, StoreError, Watch,
};
use crate::actor::DecidedBy;
use crate::call_record::CallRecord;
use crate::denial::{Denial, DenialRecord};
use crate::digest::Digest;
use crate::effects::{EffectsRecord, PackedEffects};
use crate::pending::{ActionId, BriefAction, CallId, Resolution, SessionId, StackedAction};

/// A stack of pending actions for each session.
///
/// ```text
///             push
///               |
///               v     claim: who, since, decision, attempt
///   +------> pending ------------------------------------> resolving
///   |           ^                                         |  |  |  |
///   |           |  requeue: the apply failed, error kept  |  |  |  |  complete
///   |           +-----------------------------------------+  |  |  +-----------> applied
///   |                                                        |  +--------------> discarded
///   |  abandon, or the lease ran out, of a discard           |
///   +--------------------------------------------------------+
///   |  abandon, or the lease ran out, of an apply            |
///   |                interrupted <---------------------------+
///   |                     |
///   |                     +--------- claim ------> resolving, with one attempt more; applied,
///   |                                              if it is found that it was before
///   |
///   +-- a volatile action whose host or instance is gone is *lost*: it can still be claimed, and only be discarded
/// ```
///
/// An action is *pending* until a caller [claims](PendingStore::claim) it. A claim ends in exactly
/// one of five ways: [`complete`](PendingStore::complete) if the decision was carried out,
/// [`requeue`](PendingStore::requeue) if it failed, [`release`](PendingStore::release) if it was
/// not tried, [`recovered`](PendingStore::recovered) if the claim served to find out that an
/// interrupted apply had changed nothing, and [`abandon`](PendingStore::abandon) if the holder went
/// away or was believed to. When a method reports success, the change is as durable as the store
/// is.
///
/// A pending action can also be [replaced](PendingStore::replace), which discards it without a
/// claim.
///
/// The stack is ordered, topmost first. A push and a requeue put actions on top. An abandoned
/// action keeps its place below newer actions, so that a request for the topmost action never
/// returns an interrupted apply instead of an action that was just previewed.
#[async_trait]
pub trait PendingStore: fmt::Debug + Send + Sync + 'static {
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
    /// The errors of [`push`](PendingStore::push); nothing has changed then. Discarded actions need
    /// no room. After [`StoreError::Backend`], the replacement may have happened as a whole.
    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError>;

    /// Atomically discards pending actions without a claim, and returns them, lowest first. As in
    /// [`replace`](PendingStore::replace), claimed and interrupted actions are left alone, and if
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
    /// The first one is the action that [`peek`](PendingStore::peek) returns. The others may
    /// include actions whose remaining data can't be read, which [`list`](PendingStore::list)
    /// leaves out.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn list_briefly(&self, session: &SessionId) -> Result<Vec<BriefAction>, StoreError> {
        let listed = self.list(session).await?;
        Ok(listed.into_iter().map(BriefAction::from).collect())
    }

    /// Takes the action that `resolution` names off the stack for the caller alone. Records the
    /// decision, its author and, for an apply, another attempt. Concurrent callers get a different
    /// answer.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be written; nothing was claimed then.
    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError>;

    /// Returns how long a claim lasts unless it is [renewed](PendingStore::renew). `None` if claims
    /// end with the process that holds them.
    fn lease_time(&self) -> Option<Duration> {
        None
    }

    /// Extends a claim by another [`lease_time`](PendingStore::lease_time) from now.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if the claim has expired and the action has passed to another
    /// holder. A store may return it as soon as the claim has expired.
    async fn renew(&self, _lease: &Lease) -> Result<(), StoreError> {
        Ok(())
    }

    /// Ends a claim after the decision was carried out. The action leaves the stack for good.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if the claim has passed to another holder.
    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError>;

    /// Ends a claim after the decision failed. The action goes back on top.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if the claim has passed to another holder.
    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError>;

    /// Undoes a claim after which nothing was tried. It counts as no attempt, and the action keeps
    /// its place.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if the claim has passed to another holder.
    async fn release(&self, lease: Lease) -> Result<(), StoreError>;

    /// Ends a claim that found that an interrupted apply had changed nothing. The action is pending
    /// in its place, no longer [interrupted](crate::pending::ActionState::Interrupted), with `what`
    /// as its [last error](StackedAction::last_error). This claim counts as no attempt.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if the claim has passed to another holder.
    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError>;

    /// Ends the claim of a caller that was dropped midway, so that its outcome will not be
    /// reported. The action is back in its place on the stack,
    /// [interrupted](crate::pending::ActionState::Interrupted) if it was being applied. Never
    /// blocks, and may take effect later.
    fn abandon(&self, lease: Lease);

    /// Marks volatile actions as [lost](crate::pending::ActionState::Lost) after the guest's
    /// instance that held them in memory has ended. Claimed ones are lost once they are back on the
    /// stack. Never blocks, and may take effect later; the session that lost them knows already.
    fn lose(&self, session: &SessionId, actions: &[ActionId]);

    /// Returns the plugin that pushed actions that are still open, if the store keeps plugins.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn plugin(&self, _digest: Digest) -> Result<Option<PluginBytes>, StoreError> {
        Ok(None)
    }

    /// Returns the record of the call that pushed the action. It is kept while the action is open,
    /// and by a durable store for some time after. Listings don't read it.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store or the record can't be read.
    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError>;

    /// Stores the effects that the host saw of an open action, replacing earlier ones. They are
    /// kept as long as the record of its call. Does nothing if the action isn't open.
    ///
    /// # Errors
    /// [`StoreError::SessionFull`] if the session's open actions would exceed `capacity_bytes`, and
    /// [`StoreError::StoreFull`] if the store would be full. The earlier effects stay then.
    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError>;

    /// Returns the effects that were [stored](PendingStore::keep_effects) with an action.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store or the record can't be read.
    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError>;

    /// Returns the bases of several actions, in order: of the first at least, and of as many more
    /// as are worth reading together ([`BASES_BYTES`]). Call it again for the rest. A missing
    /// action has an empty basis.
    ///
    /// # Errors
    /// The errors of [`call_record`](PendingStore::call_record) and
    /// [`effects`](PendingStore::effects).
    ///
    /// [`BASES_BYTES`]: super::BASES_BYTES
    async fn bases(
        &self,
        session: &SessionId,
        actions: &[ActionId],
    ) -> Result<Vec<ActionBasis>, StoreError> {
        let Some(first) = actions.first() else {
            return Ok(Vec::new());
        };
        let call = self.call_record(session, first).await?;
        let read = Arc::new(call.map(|call| call.read).unwrap_or_default());
        let effects = self.effects(session, first).await?;
        Ok(vec![ActionBasis::new(read, effects)])
    }

    /// Returns the state that an open action was pushed with; `None` for a volatile one. It neither
    /// needs nor takes a claim.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError>;

    /// Keeps a denial with an open action, together with the latest earlier ones: [`DENIALS_KEPT`]
    /// of an action, as long as its record. Does nothing if the action isn't open. If the future is
    /// dropped before it returned, the denial may have been kept.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written.
    ///
    /// [`DENIALS_KEPT`]: super::DENIALS_KEPT
    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError>;

    /// Returns the denials that were [recorded](PendingStore::record_denial) for an action, oldest
    /// first. The number of the first shows how many earlier ones are gone.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError>;

    /// Records what an action is about to spend, if the budget has room. Together with the
    /// account's other actions within [`Budget::within`], it must not exceed any limit. All
    /// sessions, processes and hosts that use the store count together, and concurrent callers
    /// can't exceed the budget.
    ///
    /// `account` is the owner of the budget, as any text. The caller derives it from the workspace
    /// and the operator, in the same way wherever the store is used. Accounts share nothing.
    ///
    /// An action counts once. If the account already has an entry for it, the new entry replaces it
    /// and counts from now on. So retrying an apply spends nothing more, and [`Spending::default`]
    /// gives back what was spent for an apply that was not tried. If the future is dropped before
    /// it returns, the entry may have been recorded.
    ///
    /// The time is that of the store: the server's, or the machine's. If that clock is set back,
    /// earlier spending counts as if it had just happened.
    ///
    /// Entries that are older than a day and than their budget's period are dropped. Entries take
    /// no [room](PendingStore::room), since the actions of a full store must remain resolvable.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be written. The entry may have been recorded
    /// then.
    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError>;

    /// Returns what the account's actions have spent within a period, as counted by
    /// [`spend`](PendingStore::spend), without recording anything.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError>;

    /// Watches the session's stack for changes from now on.
    fn watch(&self, session: &SessionId) -> Watch;
}
