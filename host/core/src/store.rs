//! Where pending actions are kept, and the promise that one of them is resolved at most once.

mod memory;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::pending::{ActionId, Decision, PendingAction, Resolution, SessionId, StackedAction};

pub use memory::MemoryStore;

/// A stack of pending actions for each session.
///
/// An action is *pending* until somebody [claims](PendingStore::claim) it. A claim ends in exactly one of three
/// ways: [`complete`](PendingStore::complete) when the decision was carried out, [`requeue`](PendingStore::requeue) when it failed,
/// [`abandon`](PendingStore::abandon) when whoever held it went away. What a method reports as done is as durable as the store is,
/// before the method returns.
#[async_trait]
pub trait PendingStore: fmt::Debug + Send + Sync + 'static {
    /// Puts `action` on top of the session's stack.
    ///
    /// # Errors
    /// [`StoreError::Full`] where `capacity` actions are on the stack or claimed; nothing was pushed then.
    async fn push(
        &self,
        session: &SessionId,
        action: Arc<PendingAction>,
        capacity: usize,
    ) -> Result<(), StoreError>;

    /// The topmost pending action.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError>;

    /// All pending actions, topmost first. Claimed ones are not among them.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError>;

    /// Takes the action that `resolution` names off the stack, for the caller alone, and records the decision and, for an
    /// apply, one more attempt. Whoever calls at the same time gets another answer.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written; nothing was claimed then.
    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
    ) -> Result<Claim, StoreError>;

    /// The decision was carried out: the action is gone for good.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] where the claim has passed to somebody else meanwhile.
    async fn complete(&self, lease: Lease) -> Result<(), StoreError>;

    /// The decision could not be carried out: the very same action goes back on top.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] where the claim has passed to somebody else meanwhile.
    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError>;

    /// The caller of `claim` was dropped in the middle. Never blocks: a store in memory puts the action back on top, one
    /// on disk lets the lease run out.
    fn abandon(&self, lease: Lease);
}

/// The answer to a claim.
#[derive(Debug)]
pub enum Claim {
    /// The action is the caller's to resolve.
    Claimed(Claimed),
    /// No action was named, and there is none.
    NothingPending,
    /// The named action was never in this session, or is long forgotten.
    Unknown(ActionId),
    /// Somebody else is resolving the named action right now.
    InProgress(ActionId),
    /// The named action has been resolved.
    Resolved(ActionId, Decision),
}

/// An action that its holder alone may resolve.
#[derive(Debug)]
pub struct Claimed {
    /// The action as pushed.
    pub action: Arc<PendingAction>,
    /// Which try to resolve it this is: 1 for the first.
    pub attempt: u32,
    /// To be handed back to the store.
    pub lease: Lease,
}

/// The right to resolve one action. Used up by handing it back to the store that gave it.
#[derive(Debug, PartialEq, Eq)]
pub struct Lease {
    /// The session whose stack the action came from.
    pub session: SessionId,
    /// The action.
    pub action: ActionId,
    /// Tells this claim from earlier and later ones of the same action (a fencing token).
    pub token: u64,
}

/// Why a store did not do as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The session holds as many pending actions as it may.
    #[error(
        "this session already holds {capacity} pending actions, the most that it may; resolve some first"
    )]
    Full {
        /// The most that the session may hold.
        capacity: usize,
    },
    /// The claim has run out, and the action is no longer its holder's.
    #[error("the claim on pending action {0} was lost; somebody else may have resolved it")]
    LeaseLost(ActionId),
    /// The storage behind the store failed.
    #[error("the pending store failed: {0}")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}
