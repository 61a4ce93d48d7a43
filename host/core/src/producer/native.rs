//! Tools that are part of the host: trusted code that follows the rules of plugins.

mod binding;
mod call;
mod layer;
mod rest;
mod stop;
mod undo;

use std::fmt;
use std::sync::Arc;

use airlock_model::content::{Content, ToolResult};
use airlock_model::digest::Digest;
use airlock_model::error::Error;
use airlock_model::json::Json;
use airlock_model::pending::ActionId;
use airlock_model::store::PluginBytes;
use airlock_model::tool::{RejectedTool, ToolDefinition};
use serde_json::Value;

use super::NativeIdentity;
use crate::plugin::{LoadedTool, checked_native};

pub(super) use binding::Binding;
pub use binding::STACK_BYTES;
pub use call::{ApplyCall, PreviewCall, RunningCall};
pub(crate) use rest::{rest, rest_params};
pub use stop::Stop;
pub use undo::{UNDO, Undo};

/// A tool that is part of the host.
///
/// It is trusted: it runs outside any sandbox. Its arguments give it less than its code could take,
/// so that it follows the rules of plugins by default. A preview gets a workspace without functions
/// to change files, and returns its proposal instead of pushing it.
///
/// The functions may block. They run on dedicated threads, one call at a time in each session. Call
/// [`RunningCall::check`] between steps of work. A call that exceeds its time, or was cancelled, is
/// abandoned half a second later if it is still running, and can't change anything after that.
pub trait NativeTool: Send + Sync + 'static {
    /// Returns the tool's definition. Called once, by [`NativeProducer::new`].
    fn definition(&self) -> ToolDefinition;

    /// Returns the version of the format of its actions' state, at most 999. Change it whenever
    /// [`apply`](Self::apply) would interpret the state differently. Actions of another version are
    /// kept, but can't be applied.
    fn state_version(&self) -> u32;

    /// Previews a call. The params match the definition's schema. If the tool makes a
    /// [draft](PreviewCall::draft), the apply must make the same changes.
    ///
    /// # Errors
    /// [`Error::InvalidParams`] for rules that a schema can't express, [`Error::Tool`] for messages
    /// to the caller, [`Error::native`] for the tool's own failures, and errors of
    /// [`RunningCall::check`].
    fn preview(&self, params: &Value, call: &PreviewCall) -> Result<Preview, Error>;

    /// Applies an action. Changes in the [workspace](ApplyCall::folder) are committed in one step
    /// after this function returns a result. Effects elsewhere are allowed after
    /// [`begin_effects`](ApplyCall::begin_effects).
    ///
    /// The previewed data may have changed since the preview. Refuse to apply in that case.
    ///
    /// # Errors
    /// [`Error::Tool`] for messages to the caller, [`Error::native`] for the tool's own failures,
    /// and errors of [`RunningCall::check`]. The action was then not applied and stays pending.
    fn apply(&self, action: &DecidedAction, call: &ApplyCall) -> Result<ToolResult, Error>;

    /// Returns whether [`apply`](Self::apply) has no effects outside the call's
    /// [folder](ApplyCall::folder), so that the host may run it on a layer that it drops. Default:
    /// false.
    ///
    /// If so, an action can still be applied after other lines of its files have changed since the
    /// preview: see [`ApplyCall::files_moved`].
    fn can_be_rehearsed(&self) -> bool {
        false
    }

    /// Handles the discard of an action that was proposed with
    /// [`ProposedAction::hearing_of_a_discard`]. Return `None` to use the host's default text as
    /// the result.
    ///
    /// # Errors
    /// [`Error::Tool`]; the action is still discarded. (If the host can't call the tool because it
    /// is still working on a stopped call, the discard fails with [`Error::Busy`] and the action
    /// stays.)
    fn reject(
        &self,
        action: &DecidedAction,
        call: &PreviewCall,
    ) -> Result<Option<ToolResult>, Error> {
        let (_, _) = (action, call);
        Ok(None)
    }
}

/// A decision about one action, for the tool that proposed it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DecidedAction {
    /// The action's id.
    pub id: ActionId,
    /// The action's label.
    pub label: String,
    /// The source tool name of the proposal, by default the tool's name.
    pub source_tool_name: String,
    /// The state that the tool pushed with the action.
    pub state: Vec<u8>,
    /// The reason for the decision; often empty.
    pub reason: String,
    /// Extra data of the decision, a JSON object.
    pub extra: Option<Json>,
    /// 1 for the first attempt. Higher if an earlier attempt failed or was interrupted: its effects
    /// outside the workspace may be partly done.
    pub attempt: u32,
}

/// The outcome of a preview.
#[derive(Debug, Clone)]
#[must_use]
pub struct Preview {
    pub(super) result: ToolResult,
    pub(super) action: Option<ProposedAction>,
    /// Replaces the result's content for the decider.
    pub(super) in_full: Option<Vec<Content>>,
}

impl Preview {
    /// Returns a preview with nothing to decide.
    pub fn of(result: ToolResult) -> Self {
        Self {
            result,
            action: None,
            in_full: None,
        }
    }

    /// Adds the action to decide about.
    pub fn proposing(self, action: ProposedAction) -> Self {
        Self {
            action: Some(action),
            ..self
        }
    }

    /// Sets the content that the decider sees in place of the result's content. Use it if the
    /// result leaves something out because a model's context is small. The call record and an
    /// [`Approver`](crate::approval::Approver) get it; the caller does not. It may be as large as a
    /// result, and is dropped if the preview proposes no action.
    pub fn in_full(self, content: Vec<Content>) -> Self {
        Self {
            in_full: Some(content),
            ..self
        }
    }
}

/// An action that a preview proposes. It is always durable: its state has everything that the apply
/// needs.
#[derive(Debug, Clone)]
#[must_use]
pub struct ProposedAction {
    pub(super) label: String,
    pub(super) source_tool_name: Option<String>,
    pub(super) details: Option<Json>,
    pub(super) has_reject: bool,
    pub(super) state: Vec<u8>,
}

impl ProposedAction {
    /// Creates an action with a label and a state. The label is one line that says what would
    /// happen. The state is enough to apply the action, even in another process.
    pub fn new(label: impl Into<String>, state: impl Into<Vec<u8>>) -> Self {
        Self {
            label: label.into(),
            source_tool_name: None,
            details: None,
            has_reject: false,
            state: state.into(),
        }
    }

    /// Adds details that programs and people can inspect before they decide.
    pub fn details(self, details: Json) -> Self {
        Self {
            details: Some(details),
            ..self
        }
    }

    /// Sets the source tool's name in listings. Default: the tool's name.
    pub fn source_tool_name(self, name: impl Into<String>) -> Self {
        Self {
            source_tool_name: Some(name.into()),
            ..self
        }
    }

    /// Requests a call of [`NativeTool::reject`] when the action is discarded.
    pub fn hearing_of_a_discard(self) -> Self {
        Self {
            has_reject: true,
            ..self
        }
    }
}

/// A [`NativeTool`], ready to be bound to sessions: see [`Session::bind`](crate::Session::bind).
/// Cloning is cheap.
///
/// The tool follows the rules of plugin tools: params are checked against its schema, names are
/// unique in a session, calls end when their time is up or they are cancelled, and actions count
/// toward the limits and go to the same store.
#[derive(Clone)]
pub struct NativeProducer {
    inner: Arc<NativeProducerInner>,
}

struct NativeProducerInner {
    identity: NativeIdentity,
    source: PluginBytes,
    tools: Vec<LoadedTool>,
    tool: Box<dyn NativeTool>,
}

impl NativeProducer {
    /// Wraps a tool.
    ///
    /// # Errors
    /// The problem with the tool's definition, by the same checks as for plugins.
    pub fn new(tool: impl NativeTool) -> Result<Self, RejectedTool> {
        let definition = tool.definition();
        let state_version = tool.state_version();
        if state_version > NativeIdentity::LAST_STATE_VERSION {
            let reason = format!(
                "its state version is {state_version}; the limit is {}",
                NativeIdentity::LAST_STATE_VERSION
            );
            return Err(RejectedTool::new(&definition.name, reason));
        }
        let identity = NativeIdentity::new(&definition.name, state_version);
        Ok(Self {
            inner: Arc::new(NativeProducerInner {
                source: identity.source(),
                identity,
                tools: vec![checked_native(definition)?],
                tool: Box::new(tool),
            }),
        })
    }

    /// Returns the producer's name, as messages show it.
    pub fn name(&self) -> &str {
        &self.inner.identity.name
    }

    /// Returns its identity in a store: the SHA-256 of a text with its name and
    /// [`state_version`](NativeProducer::state_version).
    pub fn digest(&self) -> Digest {
        self.inner.source.digest
    }

    /// Returns the version of its actions' state format. Another version can't apply them.
    pub fn state_version(&self) -> u32 {
        self.inner.identity.state_version
    }

    /// Returns its tools.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolDefinition> {
        self.inner.tools.iter().map(|tool| &tool.definition)
    }

    pub(crate) fn identity(&self) -> &NativeIdentity {
        &self.inner.identity
    }

    pub(super) fn loaded_tools(&self) -> &[LoadedTool] {
        &self.inner.tools
    }
}

impl fmt::Debug for NativeProducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeProducer")
            .field("name", &self.name())
            .field("state_version", &self.state_version())
            .finish_non_exhaustive()
    }
}
