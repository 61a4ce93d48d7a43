//! Runs WebAssembly tools that cannot have an effect before somebody has decided.
//!
//! A tool is a component that implements the world `airlock:tool/custom-tool` (in `wit/`), in any
//! language. Calling it makes a *preview*, during which the sandbox keeps its workspace read-only,
//! and pushes a *pending action*. The session keeps these on a stack, and
//! [resolving](Session::resolve) the top one lets the tool carry it out, or drops it.
//!
//! ```no_run
//! use airlock_host::{Engine, Plugin, Resolution, Session};
//! use airlock_render::{Block, Decided};
//! use serde_json::json;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::builder().user_cache("my-agent").build()?;
//! let plugin = Plugin::load(&engine, "batch_rename.wasm").await?;
//! let session = Session::builder().workspace("photos").bind(&plugin).open()?;
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
//! | check a value as params are checked | [`Json`], [`Schema`] |
//! | have tools that are part of the host | [`native`] |
//! | bound what it may do | [`Policy`], [`Phase`], [`Limits`] |
//! | open a conversation, call and resolve | [`Session`], [`SessionBuilder`], [`resolve_tool`] |
//! | decide | [`Resolution`], [`PendingAction`], [`StackedAction`] |
//! | steer a model | [`Session::next_turn`], [`ToolChoicePolicy`], [`NextTurn`], [`Reminder`], [`TurnReport`], [`Provider`] |
//! | decide about more than previews | [`StandingHandler`] |
//! | keep what is pending | [`PendingStore`], [`MemoryStore`], [`DurableStore`]; `airlock-store-sqlite` and `airlock-store-postgres` have durable ones |
//! | watch | [`Event`], [`Observer`] |
//! | show it to people | the crate `airlock-render` |

#![warn(missing_docs)]

mod compile;
mod descriptors;
mod engine;
mod instance;
mod load_error;
mod lost;
mod plugin;
mod producer;
mod pushing;
mod reserved;
mod runtime;
mod session;
mod workspace;
mod world;

/// Tools that are part of the host: the trait to write one with, and what it gets.
///
/// ```
/// use airlock_host::native::{
///     ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
/// };
/// use airlock_host::{Content, Error, Json, Session, ToolDefinition, ToolResult, ToolTraits};
/// use serde_json::{Value, json};
///
/// /// Sends a message, once somebody has let it.
/// struct Send;
///
/// impl NativeTool for Send {
///     fn definition(&self) -> ToolDefinition {
///         ToolDefinition {
///             name: "send".to_owned(),
///             label: "Send".to_owned(),
///             description: "Sends a message.".to_owned(),
///             parameters: Json::of_own(&json!({
///                 "type": "object",
///                 "properties": {"text": {"type": "string"}},
///                 "required": ["text"],
///             })),
///             output: None,
///             traits: ToolTraits::default(),
///         }
///     }
///
///     fn state_version(&self) -> u32 {
///         1
///     }
///
///     fn preview(&self, params: &Value, _: &PreviewCall) -> Result<Preview, Error> {
///         let text = params["text"].as_str().unwrap_or_default();
///         let action = ProposedAction::new(format!("Send {text:?}"), text);
///         Ok(Preview::of(ToolResult::text("1 message would be sent.")).proposing(action))
///     }
///
///     fn apply(&self, action: &DecidedAction, call: &ApplyCall) -> Result<ToolResult, Error> {
///         call.begin_changes()?;
///         // Here it is sent.
///         let text = String::from_utf8_lossy(&action.state);
///         Ok(ToolResult::text(format!("Sent {text:?}.")))
///     }
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let send = NativeProducer::new(Send)?;
/// let session = Session::builder().bind(&send).open()?;
/// session.call("send", &json!({"text": "hello"})).await?;
/// # Ok(())
/// # }
/// ```
pub mod native {
    pub use crate::producer::native::{
        ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
        RunningCall, STACK_BYTES, Stop,
    };

    /// The workspace, as native tools get it.
    ///
    /// This is kept small, and is not stable: a transactional workspace will replace what is behind
    /// it.
    pub mod folder {
        pub use crate::workspace::{
            EntryKind, ReadFile, ReadableFolder, Staged, Stamp, Unread, WritableFolder,
        };
    }
}

pub use airlock_model::content::{
    CallOutcome, Content, ResolutionDetails, ResolutionOutcome, ToolResult,
};
pub use airlock_model::digest::{Digest, ParseDigestError};
pub use airlock_model::error::{Error, Violation};
pub use airlock_model::event::{Event, EventSource, LogLevel, Observer, Refusal, ToolFunction};
pub use airlock_model::identity::{Machine, WorkspaceDifference, WorkspaceIdentity};
pub use airlock_model::json::{Json, MAX_JSON_DEPTH, TooDeep};
pub use airlock_model::limits::{LimitKind, Limits};
pub use airlock_model::pending::{
    ActionId, ActionState, DEFAULT_SOURCE_TOOL_NAME, Decision, PendingAction, Resolution,
    SessionId, StackedAction,
};
pub use airlock_model::policy::{Phase, Policy, WorkspaceGrant};
pub use airlock_model::provider::Provider;
pub use airlock_model::regular::{open_regular_file, read_regular_file};
pub use airlock_model::steering::{
    NextTurn, REMINDER, RemindedAction, Reminder, ReminderKind, ToolChoice, ToolChoicePolicy,
    TurnReport, TurnSettings,
};
pub use airlock_model::store::{
    APPLY_INTERRUPTED, ActionRecord, BackendError, BackendErrorKind, Claim, Claimed, Completion,
    DISCARD_INTERRUPTED, DurableStore, Lease, LeaseRecord, MemoryStore, PendingStore, PluginBytes,
    Pruned, Push, ResolvedQuery, ResolvedRecord, StoreError, StoreStats, UnreadableAction, Watch,
    Watchers,
};
pub use airlock_model::tool::{RejectedTool, ToolDefinition, ToolTraits, resolve_tool};
#[cfg(unix)]
pub use compile::compiler_main;
pub use compile::{CompileCache, CompileLimits, Complexity};
pub use engine::{Engine, EngineBuilder};
pub use load_error::LoadError;
pub use plugin::{Misfit, Plugin, Schema};
pub use session::{
    Binding, Cancellable, Session, SessionBuilder, StandingHandler, StandingResult, Work,
};
pub use tokio_util::sync::CancellationToken;
pub use world::WORLD_VERSION;
