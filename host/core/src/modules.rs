//! The library's inline public modules. Each public item is in exactly one module, or at the root.

/// Approval of the actions that a model wants to apply.
pub mod approval {
    pub use crate::session::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
}

/// Cancellation of session operations.
pub mod cancel {
    pub use crate::session::Cancellable;
    pub use tokio_util::sync::CancellationToken;
}

/// Results of calls and decisions.
pub mod content {
    pub use airlock_model::content::{
        CallOutcome, Content, ForModel, ResolutionDetails, ResolutionOutcome, Resolved, ToolResult,
    };
}

/// Plugin identity: the SHA-256 of the component's bytes.
pub mod digest {
    pub use airlock_model::digest::{Digest, ParseDigestError};
}

/// Escaping of names from guests and files for display.
#[doc(hidden)]
pub mod visible {
    pub use airlock_model::visible::side_of_diff;
}

/// Effects of an action on the workspace, as the host saw them in the rehearsal and in the apply.
pub mod effects {
    pub use crate::workspace::needs;
    pub use airlock_model::effects::{
        ActionEffects, Answer, AppliedPart, Change, ChangeKind, Choice, Counts, Difference,
        EditedFile, Effects, EffectsRecord, EffectsSummary, Facts, Hunk, Identity, LeftOut,
        NoPatch, ObjectKind, OwnerChange, PackedEffects, PartlyApplied, Replacement, Seed,
        Selection, SideEffects, Withheld, replaced,
    };
    pub use airlock_workspace::Needs;
}

/// Details of an [`Error`](crate::Error).
pub mod error {
    pub use airlock_model::error::{HostError, KnownTools, Violation};
}

/// The files that a tool has read, and how they have changed since.
pub mod reads {
    pub use airlock_model::reads::{Fingerprints, ReadFile, ReadFiles, StaleFile, Staleness};
}

/// Events that a session sends to its observer and its streams.
pub mod event {
    pub use crate::listeners::{EventStream, SessionEvent};
    pub use airlock_model::event::{
        Event, EventSource, LogLevel, Observer, PathAccess, PathRefusal, Refusal, ToolFunction,
    };
}

/// Identity of a workspace and its machine, stable across restarts.
pub mod identity {
    pub use airlock_model::identity::{Machine, WorkspaceDifference, WorkspaceIdentity};
}

/// Untrusted JSON, checked and kept as text.
pub mod json {
    pub use crate::plugin::Schema;
    pub use airlock_model::json::{Json, MAX_JSON_DEPTH, TooDeep};
}

/// Details of [`Limits`](crate::Limits).
pub mod limits {
    pub use airlock_model::limits::LimitKind;
}

/// The memory of the process. Calling [`limit_arenas`](memory::limit_arenas) is up to the program.
pub mod memory {
    pub use airlock_worker::limit_arenas;
}

/// Requirements on components to load as a [`Plugin`](crate::Plugin), and load errors.
pub mod load {
    pub use crate::load_error::LoadError;
    pub use crate::plugin::Misfit;
    pub use crate::world::{COMMAND_TOOL, WORLD_VERSION, World};
}

/// Actions on a session's stack, and decisions about them.
pub mod pending {
    pub use crate::session::{Discarded, JointReview, Review, Together};
    pub use airlock_model::actor::{Actor, DecidedBy, Evidence};
    pub use airlock_model::call_record::{CallRecord, PackedBody, PackedCall};
    pub use airlock_model::denial::{DENIAL_TEXT_BYTES, Denial, DenialRecord, DeniedBy};
    pub use airlock_model::pending::{
        ActionId, ActionState, BriefAction, CallId, DEFAULT_SOURCE_TOOL_NAME, Decision, EXPIRED,
        Interruption, NamedAction, SessionId, StackedAction,
    };
}

/// Grants of a [`Policy`](crate::Policy), by phase and by producer.
pub mod policy {
    pub use crate::session::ProducerWithPolicy;
    pub use airlock_model::policy::{
        Paths, Pattern, Phase, Rehearse, VariableName, WorkspaceGrant,
    };
}

/// A component's own metadata and wants.
pub mod wants {
    pub use crate::world::with_wants;
    pub use airlock_model::wants::{About, Scheme, Want, WantedHost, WantedPhase, Wants};
}

/// Formats of tool choices and reminders for model providers.
pub mod provider {
    pub use airlock_model::provider::Provider;
}

/// Safe opening of files that others can change.
pub mod regular {
    pub use airlock_model::regular::{open_regular_file, read_regular_file};
}

/// Handling of `resolve` calls when nothing is pending.
pub mod standing {
    pub use crate::session::{StandingHandler, StandingResult};
}

/// Reminders and forced tool choices for a model's next turn.
pub mod steering {
    pub use airlock_model::steering::{
        NextTurn, REMINDER, Reminder, ReminderKind, ToolChoice, ToolChoicePolicy, TurnReport,
        TurnSettings,
    };
}

/// Recovery of applies that were interrupted when their host stopped.
pub mod recovery {
    pub use crate::session::{APPLY_UNDONE, RecoveredAction};
}

/// Storage of pending actions: the traits, their types, and the in-memory store.
pub mod store {
    pub use airlock_model::store::{
        APPLY_INTERRUPTED, ActionBasis, ActionOutline, ActionRecord, BASES_BYTES, BackendError,
        BackendErrorKind, Budget, Budgets, Claim, Claimed, Claims, Completion, DENIALS_KEPT,
        DISCARD_INTERRUPTED, Denials, DeniedAction, DurableStore, Lease, LeaseRecord, MemoryStore,
        NewAction, PendingStore, PluginBytes, Pruned, Push, Records, Replacement, ResolvedQuery,
        ResolvedRecord, Room, SPENDING_KEPT, Scope, SessionRoom, Spending, Spent, Stacks, Standing,
        StoreError, StoreStats, UnreadableAction, Watch, Watchers,
    };
}

/// Tool definitions, and the params of calls.
pub mod tool {
    pub use crate::params::Params;
    pub use crate::world::with_command_tools;
    pub use airlock_model::tool::command;
    pub use airlock_model::tool::{
        RESOLVE, RejectedTool, ToolDefinition, ToolTraits, portable, resolve_tool,
    };
}
