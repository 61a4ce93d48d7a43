//! Runs WebAssembly tools that can preview changes but have no effect until you approve them.
//!
//! A tool is a component that implements the world `airlock:tool/custom-tool` (in `wit/`), in any
//! language. Calling a tool makes a *preview*. During the preview the sandbox keeps the workspace
//! read-only, and the tool pushes a *pending action*. The session keeps pending actions on a stack.
//! [Resolving](Session::resolve) the top one applies it through the tool, or discards it.
//!
//! ```no_run
//! use airlock_host::pending::Actor;
//! use airlock_host::{Engine, Plugin, Resolution, Session};
//! use airlock_render::{Block, Decided};
//! use serde_json::json;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::builder().user_cache("my-agent").build()?;
//! let plugin = Plugin::load(&engine, "batch_rename.wasm").await?;
//! let session = Session::builder().workspace("photos").bind(&plugin).model_decides().open()?;
//!
//! let params = json!({"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"});
//! let preview = session.call("batch_rename_preview", &params).await?;
//! // The preview, and the actions that wait for a decision.
//! println!("{}", Block::call(&preview));
//!
//! let resolution = Resolution::apply("the names are right");
//! let outcome = session.resolve(resolution.clone(), Actor::person("Ada")).await;
//! println!("{}", Block::decision(&Decided::resolved(&resolution, None, &outcome)));
//! # Ok(())
//! # }
//! ```
//!
//! | to | see |
//! | --- | --- |
//! | set up a process | [`Engine`], [`EngineBuilder`]; [`compile`]: the compile cache, and the process that compiles |
//! | load a plugin | [`Plugin`]; [`load`]: load errors |
//! | add tools that are part of the host | [`native`] |
//! | limit what a plugin may do | [`Policy`], [`Limits`]; [`policy`], [`limits`] |
//! | open a conversation, call and resolve | [`Session`], [`SessionBuilder`]; [`cancel`] |
//! | read the result of a call | [`Error`]; [`content`], [`error`] |
//! | decide | [`Resolution`], [`PendingAction`]; [`pending`] |
//! | decide when nothing is pending | [`standing`] |
//! | offer tools to a model, and steer it | [`tool`], [`steering`], [`provider`]; [`Session::next_turn`] |
//! | store pending actions | [`store`]; crates `airlock-store-sqlite`, `airlock-store-postgres` |
//! | record and control who decides | [`pending::Actor`], [`approval`] |
//! | observe a session | [`event`] |
//! | identify plugins and workspaces | [`digest`], [`identity`] |
//! | read untrusted input | [`json`]; [`regular`]: files that others can change |
//! | show it to people | the crate `airlock-render` |

#![warn(missing_docs)]

mod budget;
pub mod compile;
mod engine;
mod instance;
mod listeners;
mod load_error;
mod lost;
mod modules;
mod params;
mod plugin;
mod producer;
mod pushing;
mod reserved;
mod runtime;
mod secret;
mod session;
mod tenant;
mod workspace;
mod world;

/// The directory in which a workspace keeps the data that its commits need. No tool sees it.
pub const PRIVATE_FOLDER: &str = airlock_workspace::PRIVATE;

/// Tools that are part of the host: the trait to implement, and its arguments.
///
/// ```
/// use airlock_host::native::{
///     ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
/// };
/// use airlock_host::content::{Content, ToolResult};
/// use airlock_host::json::Json;
/// use airlock_host::tool::{ToolDefinition, ToolTraits};
/// use airlock_host::{Error, Session};
/// use serde_json::{Value, json};
///
/// /// Sends a message after it is approved.
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
///         call.begin_effects()?;
///         // Send the message here.
///         let text = String::from_utf8_lossy(&action.state);
///         Ok(ToolResult::text(format!("Sent {text:?}.")))
///     }
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let send = NativeProducer::new(Send)?;
/// let session = Session::builder().model_decides().bind(&send).open()?;
/// session.call("send", &json!({"text": "hello"})).await?;
/// # Ok(())
/// # }
/// ```
pub mod native {
    pub use crate::producer::native::{
        ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
        RunningCall, STACK_BYTES, Stop, UNDO, Undo,
    };

    /// The workspace, as native tools see it.
    pub mod folder {
        pub use crate::workspace::{EntryKind, ReadFile, ReadableFolder, Unread, WritableFolder};
    }
}

pub use airlock_model::error::Error;
pub use airlock_model::limits::Limits;
pub use airlock_model::pending::{PendingAction, Resolution};
pub use airlock_model::policy::Policy;
pub use engine::{Engine, EngineBuilder};
pub use modules::*;
pub use plugin::Plugin;
pub use session::{Originals, Session, SessionBuilder, UndoRetention, originals};
pub use tenant::Tenant;
