//! Durable stores: the operations that operators need.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{PendingStore, StoreError};
use crate::actor::DecidedBy;
use crate::denial::DenialRecord;
use crate::digest::Digest;
use crate::effects::EffectsSummary;
use crate::pending::{ActionId, ActionState, Decision, PendingAction, SessionId};

/// A store on a disk or a server, with an audit trail of what was resolved.
#[async_trait]
pub trait DurableStore: PendingStore {
    /// What is kept of one action, whatever its session and its state.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn find(&self, id: &ActionId) -> Result<Option<ActionRecord>, StoreError>;

    /// Ids that begin or end with this, open or resolved, at most so many.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn ids_like(&self, part: &str, most: usize) -> Result<Vec<ActionId>, StoreError>;

    /// All actions that are on a stack or claimed, as far as they are in the scope. Sessions are
    /// sorted by their ids; within one, the topmost action comes first, and a claimed one stands
    /// where it was. What can't be read is left out, see [`DurableStore::unreadable_actions`].
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn open_actions(&self, scope: Scope<'_>) -> Result<Vec<ActionRecord>, StoreError>;

    /// Sessions with open actions, sorted by their ids: at most so many, those behind `after`. What
    /// is open may be more than fits into memory, and is read session by session then.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn open_sessions(
        &self,
        after: Option<&SessionId>,
        most: usize,
    ) -> Result<Vec<SessionId>, StoreError>;

    /// Actions that were resolved, the last resolved first.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn resolved_actions(
        &self,
        query: &ResolvedQuery,
    ) -> Result<Vec<ActionRecord>, StoreError>;

    /// Denials, latest first, with the actions as they are now.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn denied_actions(&self, query: &ResolvedQuery) -> Result<Vec<DeniedAction>, StoreError>;

    /// How much is kept.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn stats(&self) -> Result<StoreStats, StoreError>;

    /// Reads everything, and gives a sentence for each thing that is not as it should be.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read at all.
    async fn check(&self) -> Result<Vec<String>, StoreError>;

    /// Forgets actions that were resolved at least `age` ago, and plugins that no open action
    /// needs.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written.
    async fn prune(&self, age: Duration) -> Result<Pruned, StoreError>;

    /// Forgets all that is kept of an action that was resolved, and of its call where no other
    /// action is of it. Whether there was such an action.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written.
    async fn forget(&self, id: &ActionId) -> Result<bool, StoreError>;

    /// How long resolved actions are kept; none means for ever, as it is at first.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn retention(&self) -> Result<Option<Duration>, StoreError>;

    /// Sets how long resolved actions are kept, for all who use the store. It is kept to a whole
    /// second.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written.
    async fn set_retention(&self, retention: Option<Duration>) -> Result<(), StoreError>;

    /// The most bytes that the store may keep, before it takes no more pushes; none means that
    /// there is no limit. At first it is 4 GiB.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read.
    async fn byte_limit(&self) -> Result<Option<u64>, StoreError>;

    /// Sets the most bytes that the store may keep, for all who use it.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written.
    async fn set_byte_limit(&self, limit: Option<u64>) -> Result<(), StoreError>;

    /// Open actions that this version can't read, which no listing has: somebody changed them, or a
    /// newer version pushed them.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be read at all.
    async fn unreadable_actions(&self) -> Result<Vec<UnreadableAction>, StoreError>;

    /// Which storage it is: a path, or an address without its password.
    fn location(&self) -> String;
}

/// Whose open actions to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All that the store has.
    All,
    /// Those of one session.
    Session(&'a SessionId),
    /// Those that were previewed in a workspace at this very path, of whatever session, and on
    /// whichever machine: [`PendingAction::workspace_identity`] tells.
    Workspace(&'a Path),
}

/// What a store keeps of an action.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ActionRecord {
    /// Whose stack it is or was on.
    pub session: SessionId,
    /// The action as pushed.
    pub action: PendingAction,
    /// Where it stands.
    pub state: ActionState,
    /// How often somebody has tried to apply it.
    pub attempts: u32,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// What the host saw it do when it was [rehearsed](crate::policy::Rehearse); none where it was
    /// not, or that was long ago.
    pub effects: Option<EffectsSummary>,
    /// Who is resolving it, or was when it was interrupted.
    pub lease: Option<LeaseRecord>,
    /// How it ended.
    pub resolved: Option<ResolvedRecord>,
}

impl ActionRecord {
    /// For stores: an action that nobody has tried to resolve; what else they have read is set
    /// field by field.
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

/// A claim, as others see it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LeaseRecord {
    /// The host that holds it, by a name for people: `machine/process`.
    pub holder: String,
    /// When the action was claimed, by the holder's clock or the server's.
    pub since: SystemTime,
    /// What is being carried out.
    pub decision: Decision,
}

impl LeaseRecord {
    /// For stores: what they have read.
    pub fn new(holder: String, since: SystemTime, decision: Decision) -> Self {
        Self {
            holder,
            since,
            decision,
        }
    }
}

/// How an action ended: the audit trail.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResolvedRecord {
    /// What was decided.
    pub decision: Decision,
    /// When that was carried out.
    pub at: SystemTime,
    /// Who decided, and how that is known.
    pub decided_by: DecidedBy,
    /// Why.
    pub reason: String,
    /// What else came with the decision.
    pub extra: Option<Map<String, Value>>,
    /// The SHA-256 of the result as JSON.
    pub result: Option<Digest>,
    /// What the plugin said when it failed to take note of a discard.
    pub error: Option<String>,
}

impl ResolvedRecord {
    /// For stores: the end of an action, with no word of why; what else they have read is set field
    /// by field.
    pub fn new(decision: Decision, at: SystemTime, decided_by: DecidedBy) -> Self {
        Self {
            decision,
            at,
            decided_by,
            reason: String::new(),
            extra: None,
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
    /// For stores: the parts of a row.
    pub fn new(record: ActionRecord, denied: DenialRecord) -> Self {
        Self { record, denied }
    }
}

/// An open action whose row can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableAction {
    /// The action; empty where not even that can be read.
    pub id: ActionId,
    /// Whose stack it is on; empty where that can't be read.
    pub session: SessionId,
    /// What can't be read of it, as a clause.
    pub problem: String,
}

impl UnreadableAction {
    /// For stores: what they could read.
    pub fn new(id: ActionId, session: SessionId, problem: String) -> Self {
        Self {
            id,
            session,
            problem,
        }
    }
}

/// For how long the details of a resolved action are kept. Its state goes with the end, and the row
/// of the decision stays.
pub const DETAILS_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How many denials of an action are kept. Each has two texts of at most
/// [`DENIAL_TEXT_BYTES`](crate::denial::DENIAL_TEXT_BYTES), so a model that asks in a loop can't
/// fill a store.
pub const DENIALS_KEPT: u64 = 10;

/// The default limit on what a store may hold.
pub const DEFAULT_BYTE_LIMIT: u64 = 4 << 30;

/// Which resolved actions, or which denials, to list.
#[derive(Debug, Clone)]
pub struct ResolvedQuery {
    /// Of this session alone.
    pub session: Option<SessionId>,
    /// Of those alone that were previewed in a workspace at this very path, on whichever machine.
    pub workspace: Option<PathBuf>,
    /// The maximum number.
    pub limit: usize,
}

/// How much a store keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct StoreStats {
    /// The version of its schema.
    pub schema: u32,
    /// Sessions with open actions.
    pub sessions: u64,
    /// Actions on a stack, interrupted and lost ones too.
    pub pending: u64,
    /// Of those, the ones with an apply of unknown end.
    pub interrupted: u64,
    /// Of those, the volatile ones whose host is gone.
    pub lost: u64,
    /// Actions that are being resolved right now.
    pub resolving: u64,
    /// Actions that were applied and are remembered.
    pub applied: u64,
    /// Actions that were discarded and are remembered.
    pub discarded: u64,
    /// Plugins.
    pub plugins: u64,
    /// Bytes of those plugins.
    pub plugin_bytes: u64,
    /// Bytes of what is open: of labels, details and states.
    pub pending_bytes: u64,
    /// Bytes of all of it, on disk.
    pub bytes: u64,
}

/// What [`DurableStore::prune`] has forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Pruned {
    /// Resolved actions.
    pub actions: u64,
    /// Plugins.
    pub plugins: u64,
}

impl Pruned {
    /// The numbers of each.
    pub fn new(actions: u64, plugins: u64) -> Self {
        Self { actions, plugins }
    }
}
