//! The claims of a store.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use super::{Claim, Completion, Lease, StoreError};
use crate::actor::DecidedBy;
use crate::pending::{Resolution, SessionId};

/// The claims of pending actions.
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
/// An action is *pending* until a caller [claims](Claims::claim) it. A claim ends in exactly one of
/// five ways: [`complete`](Claims::complete) if the decision was carried out,
/// [`requeue`](Claims::requeue) if it failed, [`release`](Claims::release) if it was not tried,
/// [`recovered`](Claims::recovered) if the claim served to find out that an interrupted apply had
/// changed nothing, and [`abandon`](Claims::abandon) if the holder went away or was believed to.
#[async_trait]
pub trait Claims: fmt::Debug + Send + Sync + 'static {
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

    /// Returns how long a claim lasts unless it is [renewed](Claims::renew). `None` if claims
    /// end with the process that holds them.
    fn lease_time(&self) -> Option<Duration> {
        None
    }

    /// Extends a claim by another [`lease_time`](Claims::lease_time) from now.
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
    /// as its [last error](crate::pending::StackedAction::last_error). This claim counts as no
    /// attempt.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if the claim has passed to another holder.
    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError>;

    /// Ends the claim of a caller that was dropped midway, so that its outcome will not be
    /// reported. The action is back in its place on the stack,
    /// [interrupted](crate::pending::ActionState::Interrupted) if it was being applied. Never
    /// blocks, and may take effect later.
    fn abandon(&self, lease: Lease);
}
