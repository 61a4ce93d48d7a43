//! Tools that are part of the host: trusted code that keeps the rules of plugins.

mod binding;
mod call;
mod layer;

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
pub use call::{ApplyCall, PreviewCall, RunningCall, Stop};

/// A tool that is part of the host.
///
/// It is trusted: it runs outside of any sandbox. What it gets is less than its code could take, so
/// that the rules are kept without thinking of them: a preview gets the workspace as something that
/// has no way to change a file, and returns what it wants decided instead of pushing it.
///
/// The functions block, and run on threads of their own that may be blocked, one call at a time in
/// each session. They are to ask [`RunningCall::check`] between any two pieces of work: a call
/// whose time is up, or that was cancelled, is left half a second later if it goes on, and changes
/// nothing any more.
pub trait NativeTool: Send + Sync + 'static {
    /// The tool's definition. Asked for once, by [`NativeProducer::new`].
    fn definition(&self) -> ToolDefinition;

    /// The version of the format of its actions' state, at most 999. To be changed whenever what
    /// [`apply`](Self::apply) reads means something else: actions of another version are kept, and
    /// can't be applied.
    fn state_version(&self) -> u32;

    /// Previews a call. The params fit the definition's schema. What it does to its
    /// [draft](PreviewCall::draft), if it makes one, is what applying will have to do.
    ///
    /// # Errors
    /// [`Error::InvalidParams`] for what a schema can't say, [`Error::Tool`] for what is to be told
    /// to the caller, and what [`RunningCall::check`] returns.
    fn preview(&self, params: &Value, call: &PreviewCall) -> Result<Preview, Error>;

    /// Applies an action: in the [workspace](ApplyCall::folder), to which that is committed in one
    /// step once this has returned a result; and elsewhere, after
    /// [`begin_effects`](ApplyCall::begin_effects).
    ///
    /// What was previewed may have changed since: an apply that finds it otherwise refuses.
    ///
    /// # Errors
    /// [`Error::Tool`] for what is to be told to the caller, and what [`RunningCall::check`]
    /// returns: then it was not applied, and stays pending.
    fn apply(&self, action: &DecidedAction, call: &ApplyCall) -> Result<ToolResult, Error>;

    /// Whether [`apply`](Self::apply) does nothing outside of the call's
    /// [folder](ApplyCall::folder), so that the host may run it on a layer that it drops. Default:
    /// no.
    ///
    /// Then an action whose files have changed since its preview, in other lines than its own, is
    /// still applied: see [`ApplyCall::files_moved`].
    fn can_be_rehearsed(&self) -> bool {
        false
    }

    /// Called when an action is discarded that was proposed with
    /// [`ProposedAction::hearing_of_a_discard`]. With none, the result is the host's default text.
    ///
    /// # Errors
    /// [`Error::Tool`]; the action is discarded all the same. (It is not where the tool could not
    /// be called, since it was still at work on a call that was stopped: [`Error::Busy`].)
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
    /// The name under which it was proposed, by default the tool's.
    pub source_tool_name: String,
    /// The state that the tool pushed with the action.
    pub state: Vec<u8>,
    /// The reason that was given for the decision; often empty.
    pub reason: String,
    /// What else came with the decision, a JSON object.
    pub extra: Option<Json>,
    /// 1 for the first try. More where an earlier try failed, or was interrupted: then what it did
    /// outside of the workspace may be done in part.
    pub attempt: u32,
}

/// The outcome of a preview.
#[derive(Debug, Clone)]
#[must_use]
pub struct Preview {
    pub(super) result: ToolResult,
    pub(super) action: Option<ProposedAction>,
    /// In place of the result's content, for whoever decides.
    pub(super) in_full: Option<Vec<Content>>,
}

impl Preview {
    /// There is nothing to decide.
    pub fn of(result: ToolResult) -> Self {
        Self {
            result,
            action: None,
            in_full: None,
        }
    }

    /// What is to be decided.
    pub fn proposing(self, action: ProposedAction) -> Self {
        Self {
            action: Some(action),
            ..self
        }
    }

    /// What whoever decides sees in place of the result's content, where that leaves something out
    /// for its caller, as a model's context has little room. The record of the call has it, and so
    /// has an [`Approver`](crate::approval::Approver); the caller does not get it. May be as large
    /// as a result, and is dropped where nothing is proposed.
    pub fn in_full(self, content: Vec<Content>) -> Self {
        Self {
            in_full: Some(content),
            ..self
        }
    }
}

/// An action that a preview proposes. It is always durable: its state has all that applying it
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
    /// An action with a label, which is one line that says what would happen, and the state from
    /// which it can be applied, also by another process.
    pub fn new(label: impl Into<String>, state: impl Into<Vec<u8>>) -> Self {
        Self {
            label: label.into(),
            source_tool_name: None,
            details: None,
            has_reject: false,
            state: state.into(),
        }
    }

    /// Details that programs and people can inspect before they decide.
    pub fn details(self, details: Json) -> Self {
        Self {
            details: Some(details),
            ..self
        }
    }

    /// The source tool's name in listings. Default: the tool's name.
    pub fn source_tool_name(self, name: impl Into<String>) -> Self {
        Self {
            source_tool_name: Some(name.into()),
            ..self
        }
    }

    /// [`NativeTool::reject`] is called where it is discarded.
    pub fn hearing_of_a_discard(self) -> Self {
        Self {
            has_reject: true,
            ..self
        }
    }
}

/// A [`NativeTool`], ready to be bound to sessions: see
/// [`Session::bind`](crate::Session::bind). Cheap to clone.
///
/// The tool obeys the rules of plugins' tools: params are checked against its schema, names are
/// unique in a session, calls end with their time or when cancelled, actions count toward the
/// limits and go to the same store.
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
    /// # Errors
    /// What is wrong with the tool's definition, by the same checks as a plugin's.
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

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.inner.identity.name
    }

    /// What it is known by in a store: the SHA-256 of a text with its name and
    /// [`state_version`](NativeProducer::state_version).
    pub fn digest(&self) -> Digest {
        self.inner.source.digest
    }

    /// The version of the format of its actions' state. Another version can't apply them.
    pub fn state_version(&self) -> u32 {
        self.inner.identity.state_version
    }

    /// Its tools.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolDefinition> {
        self.inner.tools.iter().map(|tool| &tool.definition)
    }

    pub(super) fn identity(&self) -> &NativeIdentity {
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
