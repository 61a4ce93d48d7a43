//! The library's public modules, beside those that are in files of their own. Each public item is
//! in one of them alone, or at the root.

/// Who may decide what a model wants applied.
pub mod approval {
    pub use crate::session::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
}

/// Cancelling from elsewhere what a session is asked to do.
pub mod cancel {
    pub use crate::session::Cancellable;
    pub use tokio_util::sync::CancellationToken;
}

/// What calls and decisions give.
pub mod content {
    pub use airlock_model::content::{
        CallOutcome, Content, ForModel, ResolutionDetails, ResolutionOutcome, Resolved, ToolResult,
    };
}

/// By what a plugin is known: the SHA-256 of its bytes.
pub mod digest {
    pub use airlock_model::digest::{Digest, ParseDigestError};
}

/// Showing what guests and files are called.
#[doc(hidden)]
pub mod visible {
    pub use airlock_model::visible::side_of_diff;
}

/// What the host saw an action do to the workspace, before anybody decided and when it was
/// applied.
pub mod effects {
    pub use airlock_model::effects::{
        ActionEffects, Change, ChangeKind, Counts, Difference, Effects, EffectsRecord,
        EffectsSummary, Facts, Identity, ObjectKind, OwnerChange, PackedEffects, Seed, SideEffects,
        Withheld,
    };
}

/// More about an [`Error`](crate::Error).
pub mod error {
    pub use airlock_model::error::{KnownTools, Violation};
}

/// What a tool has read, and what of that has changed since.
pub mod reads {
    pub use airlock_model::reads::{Fingerprints, ReadFile, ReadFiles, StaleFile, Staleness};
}

/// What whoever watches a session is told.
pub mod event {
    pub use airlock_model::event::{Event, EventSource, LogLevel, Observer, Refusal, ToolFunction};
}

/// Which directory a workspace is, and on which machine, also after a restart.
pub mod identity {
    pub use airlock_model::identity::{Machine, WorkspaceDifference, WorkspaceIdentity};
}

/// JSON of others: checked, and kept as text.
pub mod json {
    pub use crate::plugin::Schema;
    pub use airlock_model::json::{Json, MAX_JSON_DEPTH, TooDeep};
}

/// More about [`Limits`](crate::Limits).
pub mod limits {
    pub use airlock_model::limits::LimitKind;
}

/// Which components can be loaded as a [`Plugin`](crate::Plugin), and why one could not be.
pub mod load {
    pub use crate::load_error::LoadError;
    pub use crate::plugin::Misfit;
    pub use crate::world::WORLD_VERSION;
}

/// What is on a session's stack, and what is decided about it.
pub mod pending {
    pub use crate::session::Discarded;
    pub use airlock_model::actor::{Actor, DecidedBy, Evidence};
    pub use airlock_model::call_record::{CallRecord, PackedBody, PackedCall};
    pub use airlock_model::denial::{DENIAL_TEXT_BYTES, Denial, DenialRecord, DeniedBy};
    pub use airlock_model::pending::{
        ActionId, ActionState, BriefAction, CallId, DEFAULT_SOURCE_TOOL_NAME, Decision, EXPIRED,
        Interruption, NamedAction, SessionId, StackedAction,
    };
}

/// What a [`Policy`](crate::Policy) grants, when, and to whom.
pub mod policy {
    pub use crate::session::ProducerWithPolicy;
    pub use airlock_model::policy::{Phase, Rehearse, WorkspaceGrant};
}

/// The shapes that providers of models take tool choices and reminders in.
pub mod provider {
    pub use airlock_model::provider::Provider;
}

/// Opening files that others can change.
pub mod regular {
    pub use airlock_model::regular::{open_regular_file, read_regular_file};
}

/// Who decides when `resolve` is called and nothing is pending.
pub mod standing {
    pub use crate::session::{StandingHandler, StandingResult};
}

/// What a model is told and made to do before its next turn.
pub mod steering {
    pub use airlock_model::steering::{
        NextTurn, REMINDER, Reminder, ReminderKind, ToolChoice, ToolChoicePolicy, TurnReport,
        TurnSettings,
    };
}

/// What became of applies whose host stopped in the middle.
pub mod recovery {
    pub use crate::session::{APPLY_UNDONE, RecoveredAction};
}

/// Where pending actions are kept: the traits, what they take and give, and the store in memory.
pub mod store {
    pub use airlock_model::store::{
        APPLY_INTERRUPTED, ActionBasis, ActionRecord, BASES_BYTES, BackendError, BackendErrorKind,
        Budget, Claim, Claimed, Completion, DENIALS_KEPT, DISCARD_INTERRUPTED, DeniedAction,
        DurableStore, Lease, LeaseRecord, MemoryStore, NewAction, PendingStore, PluginBytes,
        Pruned, Push, Replacement, ResolvedQuery, ResolvedRecord, Room, SPENDING_KEPT, Scope,
        SessionRoom, Spending, Spent, StoreError, StoreStats, UnreadableAction, Watch, Watchers,
    };
}

/// What a tool says of itself, and the params of its calls.
pub mod tool {
    pub use crate::params::Params;
    pub use airlock_model::tool::{
        RESOLVE, RejectedTool, ToolDefinition, ToolTraits, portable, resolve_tool,
    };
}
