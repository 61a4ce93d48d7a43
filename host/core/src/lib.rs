//! Runs WebAssembly tools that cannot have an effect before somebody has decided.
//!
//! A tool is a component that implements the world `airlock:tool/custom-tool` (in `wit/`), in any language. Calling it
//! makes a *preview*, during which the sandbox keeps its workspace read-only, and pushes a *pending action*. The session keeps
//! these on a stack, and [resolving](Session::resolve) the top one lets the tool carry it out, or drops it.
//!
//! ```no_run
//! use airlock_host::render::{Block, Decided};
//! use airlock_host::{Engine, Plugin, Resolution, Session};
//! use serde_json::json;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new()?;
//! let plugin = Plugin::load(&engine, "batch_rename.wasm").await?;
//! let session = Session::builder().workspace("photos").plugin(&plugin).open()?;
//!
//! let params = json!({"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"});
//! let preview = session.call("batch_rename_preview", &params).await?;
//! // What it would do, and what waits for a decision.
//! println!("{}", Block::call(&preview));
//!
//! let resolution = Resolution::apply("the names are right");
//! let outcome = session.resolve(resolution.clone()).await;
//! println!("{}", Block::decision(&Decided::resolved(&resolution, None, &outcome)));
//! # Ok(())
//! # }
//! ```
//!
//! | to | see |
//! | --- | --- |
//! | set up a process | [`Engine`], [`EngineBuilder`], [`CompileCache`], [`CompileLimits`], [`compiler_main`] |
//! | load a plugin | [`Plugin`], [`ToolDefinition`], [`LoadError`] |
//! | have tools that are part of the host | [`NativeProducer`] |
//! | bound what it may do | [`Policy`], [`Phase`], [`Limits`] |
//! | open a conversation, call and resolve | [`Session`], [`SessionBuilder`], [`resolve_tool`] |
//! | decide | [`Resolution`], [`PendingAction`], [`StackedAction`] |
//! | steer a model | [`Session::next_turn`], [`ToolChoicePolicy`], [`NextTurn`], [`Reminder`], [`TurnReport`], [`Provider`] |
//! | decide about more than previews | [`StandingHandler`] |
//! | keep what is pending | [`PendingStore`], [`MemoryStore`], [`DurableStore`], [`SqliteStore`] |
//! | watch | [`Event`], [`Observer`] |
//! | show it to people | [`render`] |

#![warn(missing_docs)]

mod content;
mod descriptors;
mod digest;
mod engine;
mod error;
mod event;
mod identity;
mod instance;
mod json;
mod limits;
mod lost;
mod pending;
mod plugin;
mod policy;
mod producer;
mod provider;
mod pushing;
mod regular;
pub mod render;
mod session;
mod steering;
mod store;
mod workspace;

pub use content::{CallOutcome, Content, ResolutionDetails, ResolutionOutcome};
pub use digest::{Digest, ParseDigestError};
pub use engine::{Engine, EngineBuilder};
pub use error::{Error, Violation};
pub use event::{Event, EventSource, LogLevel, Observer, Refusal};
pub use identity::{Machine, WorkspaceDifference, WorkspaceIdentity};
pub use json::{Json, MAX_JSON_DEPTH, TooDeep};
pub use limits::{LimitKind, Limits};
pub use pending::{
    ActionId, ActionState, DEFAULT_SOURCE_TOOL_NAME, Decision, PendingAction, Resolution,
    SessionId, StackedAction,
};
#[cfg(unix)]
pub use plugin::compiler_main;
pub use plugin::{
    CompileCache, CompileLimits, Complexity, LoadError, Plugin, RejectedTool, ToolDefinition,
    ToolTraits, WORLD_VERSION,
};
pub use policy::{Phase, Policy, WorkspaceGrant};
#[cfg(feature = "ast-edit")]
pub use producer::NativeProducer;
pub use provider::Provider;
pub use regular::{open_regular_file, read_regular_file};
pub use session::{Session, SessionBuilder, StandingHandler, StandingResult, resolve_tool};
pub use steering::{
    NextTurn, REMINDER, RemindedAction, Reminder, ReminderKind, ToolChoice, ToolChoicePolicy,
    TurnReport, TurnSettings,
};
pub use store::{
    APPLY_INTERRUPTED, ActionRecord, BackendError, BackendErrorKind, Claim, Claimed, Completion,
    DISCARD_INTERRUPTED, DurableStore, Lease, LeaseRecord, MemoryStore, PendingStore, PluginBytes,
    Pruned, Push, ResolvedQuery, ResolvedRecord, StoreError, StoreStats, UnreadableAction, Watch,
    Watchers,
};
#[cfg(feature = "postgres")]
pub use store::{PostgresStore, PostgresStoreBuilder};
#[cfg(feature = "sqlite")]
pub use store::{SqliteStore, SqliteStoreBuilder};
pub use tokio_util::sync::CancellationToken;
