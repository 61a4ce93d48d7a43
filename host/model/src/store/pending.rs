//! What a store of pending actions does.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{
    ActionBasis, Budget, Claim, Completion, Lease, PluginBytes, Push, Replacement, SessionRoom,
    Spending, Spent, StoreError, Watch,
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
/// An action is *pending* until somebody [claims](PendingStore::claim) it. A claim ends in exactly
/// one of five ways: [`complete`](PendingStore::complete) when the decision was carried out,
/// [`requeue`](PendingStore::requeue) when it failed, [`release`](PendingStore::release) when it
/// was not tried, [`recovered`](PendingStore::recovered) when it served to find out that an apply
/// which was cut off has changed nothing, [`abandon`](PendingStore::abandon) when whoever held it
/// went away, or was thought to. What a method reports as done is as durable as the store is,
/// before the method returns.
///
/// One that is pending can also be [replaced](PendingStore::replace), and is discarded then without
/// a claim.
///
/// The stack has an order, topmost first: a push goes on top, and so does a requeue. An abandoned
/// action stays where it was, below what was pushed meanwhile, so that who asks for the topmost one
/// never gets an interrupted apply for what they have just seen previewed.
#[async_trait]
pub trait PendingStore: fmt::Debug + Send + Sync + 'static {
    /// How much a session has at this moment, and how much the store takes beside it: to be asked
    /// before a push of `more` bytes. Another host may be faster.
    ///
    /// # Errors
    /// [`StoreError::StoreFull`] where the store doesn't take `more` bytes, and
    /// [`StoreError::Backend`] where it can't be read.
    async fn room(&self, session: &SessionId, more: u64) -> Result<SessionRoom, StoreError>;

    /// Puts actions on top of their session's stack: all of them, or none.
    ///
    /// Where the future is dropped before it returned, they are taken back as soon as it is known
    /// that they got there, unless somebody has claimed them meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Full`] where more than the push's capacity would be on the stack or claimed,
    /// [`StoreError::SessionFull`] where they would have more bytes than it allows, and
    /// [`StoreError::StoreFull`] where the store would; nothing was pushed then. After
    /// [`StoreError::Backend`] a store that can't tell takes them back too.
    async fn push(&self, push: Push) -> Result<(), StoreError>;

    /// Puts actions in the place of pending ones, which are discarded without having been claimed,
    /// all in one step: who looks, also after a crash, sees the old ones or the new. The new ones
    /// lie together, where the topmost of the old ones was, and what is above and below stays
    /// there.
    ///
    /// What is claimed is not pending, and left alone. So is what is
    /// [interrupted](crate::pending::ActionState::Interrupted), since nobody knows what it has
    /// done. Answers which were discarded, the lowest first: none where the one that
    /// [must be](Replacement::action) pending is not, and then nothing was pushed either. Where the
    /// push is empty, they are discarded all the same.
    ///
    /// Where the future is dropped before it returned, that may have happened all the same.
    ///
    /// # Errors
    /// Those of [`push`](PendingStore::push), and nothing has changed then. What is discarded takes
    /// no room. After [`StoreError::Backend`] it may have happened, as a whole.
    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError>;

    /// Discards pending actions without a claim, all in one step, and answers which these were, the
    /// lowest first. As for [`replace`](PendingStore::replace): what is claimed or interrupted is
    /// left alone, and where the future is dropped before it returned, it may have happened all the
    /// same.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written. It may have happened then, as a
    /// whole.
    async fn discard(
        &self,
        session: &SessionId,
        actions: &[ActionId],
        reason: &str,
        decided_by: &DecidedBy,
    ) -> Result<Vec<ActionId>, StoreError> {
        let mut actions = actions;
        // Of one that somebody else was faster with, nothing more is to be said.
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

    /// The topmost pending action.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError>;

    /// The pending action of this id, wherever it lies on the session's stack.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn peek_at(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let listed = self.list(session).await?;
        Ok(listed.into_iter().find(|it| it.action.id == *action))
    }

    /// The pending action of a call that lies lowest on the session's stack.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn lowest_of_call(
        &self,
        session: &SessionId,
        call: &CallId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let listed = self.list(session).await?;
        let mut of_call = listed.into_iter().rev();
        Ok(of_call.find(|it| it.action.call.as_ref() == Some(call)))
    }

    /// All pending actions, topmost first. Claimed ones are not among them.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError>;

    /// The same in brief: asked before each turn of a model, however much is pending, and so to be
    /// read without states, details and effects.
    ///
    /// The first is the one that [`peek`](PendingStore::peek) gives. Below it, an action of which
    /// only the rest can't be read may be among them, which [`list`](PendingStore::list) leaves
    /// out.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn list_briefly(&self, session: &SessionId) -> Result<Vec<BriefAction>, StoreError> {
        let listed = self.list(session).await?;
        Ok(listed.into_iter().map(BriefAction::from).collect())
    }

    /// Takes the action that `resolution` names off the stack, for the caller alone, and records
    /// the decision, whose it is and, for an apply, one more attempt. Whoever calls at the same
    /// time gets another answer.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written; nothing was claimed then.
    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError>;

    /// How long a claim lasts that is not [renewed](PendingStore::renew). None where claims end
    /// with the process that holds them.
    fn lease_time(&self) -> Option<Duration> {
        None
    }

    /// Prolongs a claim by another [`lease_time`](PendingStore::lease_time) from now.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] where it has run out and the action has passed to somebody else. A
    /// store may say so as soon as it has run out.
    async fn renew(&self, _lease: &Lease) -> Result<(), StoreError> {
        Ok(())
    }

    /// The decision was carried out: the action is gone for good.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] where the claim has passed to somebody else meanwhile.
    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError>;

    /// The decision could not be carried out: the very same action goes back on top.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] where the claim has passed to somebody else meanwhile.
    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError>;

    /// Takes the claim back, as if it had not been: nothing was tried, so it counts as no attempt,
    /// and the action stands where it stood.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] where the claim has passed to somebody else meanwhile.
    async fn release(&self, lease: Lease) -> Result<(), StoreError>;

    /// It was found out that an apply which was cut off before has changed nothing: the action is
    /// pending where it stood, no longer
    /// [interrupted](crate::pending::ActionState::Interrupted), with this as its
    /// [last error](StackedAction::last_error). This claim counts as no attempt.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] where the claim has passed to somebody else meanwhile.
    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError>;

    /// The caller of `claim` was dropped in the middle, so that nobody will tell how it ended: the
    /// action is back in its place on the stack,
    /// [interrupted](crate::pending::ActionState::Interrupted) where it was being applied. Never
    /// blocks, and may take effect later.
    fn abandon(&self, lease: Lease);

    /// The guest's instance that held these volatile actions in memory has ended, though its host
    /// goes on: they are [lost](crate::pending::ActionState::Lost) from now on, those that are
    /// claimed as soon as they are on the stack again. Never blocks, and may take effect later; the
    /// session that lost them knows by itself.
    fn lose(&self, session: &SessionId, actions: &[ActionId]);

    /// The plugin that pushed actions which are still open, where the store keeps plugins.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn plugin(&self, _digest: Digest) -> Result<Option<PluginBytes>, StoreError> {
        Ok(None)
    }

    /// What is known of the call that pushed the action: kept as long as the action is open, and by
    /// a durable store for some time after. No listing reads it.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store or this record can't be read.
    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError>;

    /// Keeps what the host saw an open action do, in the place of what was kept before: as long as
    /// the record of its call. Where the action is not open any more, nothing is kept.
    ///
    /// # Errors
    /// [`StoreError::SessionFull`] where the session's open actions would have more than
    /// `capacity_bytes` with it, and [`StoreError::StoreFull`] where the store would; then what was
    /// kept before stays.
    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError>;

    /// What was [kept](PendingStore::keep_effects) with an action.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store or this record can't be read.
    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError>;

    /// What several actions were made from, in their order: of the first at least, and of as many
    /// more as are well read together ([`BASES_BYTES`]). Whoever wants the rest asks again. Of an
    /// action that is not there, nothing is known.
    ///
    /// # Errors
    /// As of [`call_record`](PendingStore::call_record) and [`effects`](PendingStore::effects).
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

    /// The state that an open action was pushed with; none for a volatile one. No claim is needed
    /// for that, nor taken.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
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

    /// The denials that were [kept](PendingStore::record_denial) with an action, oldest first. The
    /// number of the first shows how many earlier ones are gone.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError>;

    /// Records what an action is about to do, where a budget has room for it: with what the
    /// account's other actions have spent within [`Budget::within`] it must not exceed any limit.
    /// All sessions, processes and hosts that use the store are counted together, and of those who
    /// ask at the same time only as many are let through as there is room for.
    ///
    /// `account` is what the budget belongs to, and any text: the caller makes it of the workspace
    /// and the operator, in the same way wherever the store is used. Nothing is shared between two
    /// accounts.
    ///
    /// An action counts once. Where the account has an entry of it, that is replaced, and counts
    /// from now on; so an apply that is tried again spends nothing more, and [`Spending::default`]
    /// gives back what was spent for one that was not tried. Where the future is dropped before it
    /// returned, it may have been recorded all the same.
    ///
    /// The time is the store's own: the server's, or the machine's. Where that clock was set back,
    /// what was spent before counts as if it had been spent just now.
    ///
    /// What is older than a day, and than what its budget counts, is forgotten. What is recorded
    /// takes no [room](PendingStore::room), since it must be possible to resolve what a full store
    /// holds.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written. It may have been recorded then.
    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError>;

    /// What the account's actions have spent within a time: what [`spend`](PendingStore::spend)
    /// has counted, without counting anything.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError>;

    /// Tells when the session's stack changes from now on.
    fn watch(&self, session: &SessionId) -> Watch;
}
