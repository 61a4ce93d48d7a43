//! Durable stores: the operations that operators need.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{Budgets, Claims, Denials, Records, Stacks, StoreError};
use crate::actor::DecidedBy;
use crate::denial::DenialRecord;
use crate::digest::Digest;
use crate::effects::{AppliedPart, EffectsSummary};
use crate::pending::{ActionId, ActionState, Decision, PendingAction, SessionId};

/// A store on a disk or a server, with an audit trail of resolved actions.
#[async_trait]
pub trait DurableStore: Stacks + Claims + Records + Denials + Budgets {
    /// Returns everything stored about one action, in any session and state.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn find(&self, id: &ActionId) -> Result<Option<ActionRecord>, StoreError>;

    /// Returns at most `most` ids, of open or resolved actions, that begin or end with `part`.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn ids_like(&self, part: &str, most: usize) -> Result<Vec<ActionId>, StoreError>;

    /// Returns all actions in the scope that are on a stack or claimed. Sessions are sorted by id.
    /// Within a session, the topmost action comes first, and a claimed one keeps its place. Leaves
    /// out actions that can't be read, see [`DurableStore::unreadable_actions`].
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn open_actions(&self, scope: Scope<'_>) -> Result<Vec<ActionRecord>, StoreError>;

    /// Returns sessions with open actions, sorted by their ids: at most `most` of those after
    /// `after`. The open actions may not fit into memory all at once; read them session by session
    /// then.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn open_sessions(
        &self,
        after: Option<&SessionId>,
        most: usize,
    ) -> Result<Vec<SessionId>, StoreError>;

    /// Returns resolved actions, last resolved first.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn resolved_actions(
        &self,
        query: &ResolvedQuery,
    ) -> Result<Vec<ActionRecord>, StoreError>;

    /// Returns denials, latest first, with the current state of their actions.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn denied_actions(&self, query: &ResolvedQuery) -> Result<Vec<DeniedAction>, StoreError>;

    /// Returns at most `most` actions in any state, in the order of their ids: those after `after`.
    /// Leaves out their details, so that a page is small, and actions that can't be read. An empty
    /// page is the end.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn outlines(
        &self,
        after: Option<&ActionId>,
        most: usize,
    ) -> Result<Vec<ActionOutline>, StoreError>;

    /// Returns the numbers and sizes of stored items.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn stats(&self) -> Result<StoreStats, StoreError>;

    /// Reads everything, and returns a sentence for each problem.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read at all.
    async fn check(&self) -> Result<Vec<String>, StoreError>;

    /// Removes actions that were resolved at least `age` ago, and plugins that no open action
    /// needs.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be written.
    async fn prune(&self, age: Duration) -> Result<Pruned, StoreError>;

    /// Removes a resolved action, and its call if no other action belongs to it. Returns true if
    /// there was such an action.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be written.
    async fn forget(&self, id: &ActionId) -> Result<bool, StoreError>;

    /// Returns how long resolved actions are kept. `None`, the default, means forever.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn retention(&self) -> Result<Option<Duration>, StoreError>;

    /// Sets how long resolved actions are kept, in whole seconds, for all users of the store.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be written.
    async fn set_retention(&self, retention: Option<Duration>) -> Result<(), StoreError>;

    /// Returns the size in bytes at which the store stops accepting pushes. `None` means no limit.
    /// Default: 4 GiB.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn byte_limit(&self) -> Result<Option<u64>, StoreError>;

    /// Sets the maximum size in bytes, for all users of the store.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be written.
    async fn set_byte_limit(&self, limit: Option<u64>) -> Result<(), StoreError>;

    /// Returns open actions that this version can't read and that listings leave out: they were
    /// modified, or a newer version pushed them.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read at all.
    async fn unreadable_actions(&self) -> Result<Vec<UnreadableAction>, StoreError>;

    /// Returns the storage's location: a path, or an address without its password.
    fn location(&self) -> String;
}

/// A selection of open actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// The actions of all sessions.
    All,
    /// The actions of one session.
    Session(&'a SessionId),
    /// The actions of any session that were previewed in a workspace at exactly this path, on any
    /// machine: see [`PendingAction::workspace_identity`].
    Workspace(&'a Path),
}

/// A store's record of an action.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ActionRecord {
    /// The session of its stack.
    pub session: SessionId,
    /// The action as pushed.
    pub action: PendingAction,
    /// The state.
    pub state: ActionState,
    /// The number of attempts to apply it.
    pub attempts: u32,
    /// The error of the last failed attempt.
    pub last_error: Option<String>,
    /// The effects that the host saw when it [rehearsed](crate::policy::Rehearse) the action.
    /// `None` if it was not rehearsed, or if that was long ago.
    pub effects: Option<EffectsSummary>,
    /// The current claim, or the one during which the action was interrupted.
    pub lease: Option<LeaseRecord>,
    /// The resolution.
    pub resolved: Option<ResolvedRecord>,
}

impl ActionRecord {
    /// Creates the record of an action that has not been claimed, for stores. Set the other fields
    /// directly.
    pub fn new(session: SessionId, action: PendingAction, state: ActionState) -> Self {
        Self {
            session,
            action,
            state,
            attempts: 0,
            last_error: None,
            effects: None,
            lease: None,
            resolved: None,
        }
    }
}

/// An action in a list of all actions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ActionOutline {
    /// The record, without the action's details.
    pub record: ActionRecord,
    /// The number of its denials, including those that are not kept.
    pub denials: u64,
}

impl ActionOutline {
    /// Creates an entry from the parts of a row, for stores.
    pub fn new(record: ActionRecord, denials: u64) -> Self {
        Self { record, denials }
    }
}

/// A claim, as others see it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LeaseRecord {
    /// The host that holds it, by a name for people: `machine/process`.
    pub holder: String,
    /// The time when the action was claimed, by the holder's clock or the server's.
    pub since: SystemTime,
    /// The decision that is being carried out.
    pub decision: Decision,
}

impl LeaseRecord {
    /// Creates a record of what a store has read.
    pub fn new(holder: String, since: SystemTime, decision: Decision) -> Self {
        Self {
            holder,
            since,
            decision,
        }
    }
}

/// The resolution of an action, for the audit trail.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResolvedRecord {
    /// The decision.
    pub decision: Decision,
    /// The time at which it was carried out.
    pub at: SystemTime,
    /// The actor that decided, and the evidence for it.
    pub decided_by: DecidedBy,
    /// The reason.
    pub reason: String,
    /// The extra values of the decision.
    pub extra: Option<Map<String, Value>>,
    /// The part of the changes that was applied; `None` for all of them.
    pub part: Option<AppliedPart>,
    /// The SHA-256 of the result as JSON.
    pub result: Option<Digest>,
    /// The plugin's error if it failed to handle a discard.
    pub error: Option<String>,
}

impl ResolvedRecord {
    /// Creates the record of a resolution without a reason, for stores. Set the other fields
    /// directly.
    pub fn new(decision: Decision, at: SystemTime, decided_by: DecidedBy) -> Self {
        Self {
            decision,
            at,
            decided_by,
            reason: String::new(),
            extra: None,
            part: None,
            result: None,
            error: None,
        }
    }
}

/// A denial and its action.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DeniedAction {
    /// The action as it is now.
    pub record: ActionRecord,
    /// The denial.
    pub denied: DenialRecord,
}

impl DeniedAction {
    /// Creates an entry from the parts of a row, for stores.
    pub fn new(record: ActionRecord, denied: DenialRecord) -> Self {
        Self { record, denied }
    }
}

/// An open action whose row can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableAction {
    /// The action; empty if its id can't be read.
    pub id: ActionId,
    /// The session; empty if it can't be read.
    pub session: SessionId,
    /// The problem, as a clause.
    pub problem: String,
}

impl UnreadableAction {
    /// Creates an entry from the parts that a store could read.
    pub fn new(id: ActionId, session: SessionId, problem: String) -> Self {
        Self {
            id,
            session,
            problem,
        }
    }
}

/// The time for which the details of a resolved action are kept. Its state is removed when it is
/// resolved, and the row of the decision stays.
pub const DETAILS_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The number of denials kept per action. Each has two texts of at most
/// [`DENIAL_TEXT_BYTES`](crate::denial::DENIAL_TEXT_BYTES), so a model that asks in a loop can't
/// fill a store.
pub const DENIALS_KEPT: u64 = 10;

/// The default limit on the size of a store, in bytes.
pub const DEFAULT_BYTE_LIMIT: u64 = 4 << 30;

/// A query for resolved actions or for denials.
#[derive(Debug, Clone)]
pub struct ResolvedQuery {
    /// The session to query; `None` for all.
    pub session: Option<SessionId>,
    /// The path of the workspace in which the actions were previewed, on any machine; `None` for
    /// all.
    pub workspace: Option<PathBuf>,
    /// The maximum number of results.
    pub limit: usize,
}

/// The numbers and sizes of a store's items.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct StoreStats {
    /// The version of the store's schema.
    pub schema: u32,
    /// Sessions with open actions.
    pub sessions: u64,
    /// Actions on a stack, including interrupted and lost ones.
    pub pending: u64,
    /// Pending actions with an apply of unknown outcome.
    pub interrupted: u64,
    /// Pending actions that are volatile and whose host is gone.
    pub lost: u64,
    /// Actions that are being resolved right now.
    pub resolving: u64,
    /// Actions that were applied and are remembered.
    pub applied: u64,
    /// Actions that were discarded and are remembered.
    pub discarded: u64,
    /// Plugins in the store.
    pub plugins: u64,
    /// Bytes of these plugins.
    pub plugin_bytes: u64,
    /// Bytes that count towards limits of open actions, such as labels, details and states.
    pub pending_bytes: u64,
    /// Bytes of the whole store on disk.
    pub bytes: u64,
}

/// The items that [`DurableStore::prune`] removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Pruned {
    /// Resolved actions.
    pub actions: u64,
    /// Plugins.
    pub plugins: u64,
}

impl Pruned {
    /// Creates a report from the numbers of actions and plugins.
    pub fn new(actions: u64, plugins: u64) -> Self {
        Self { actions, plugins }
    }
}
