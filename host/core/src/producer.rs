//! Producers of actions: plugins and parts of the host itself. A session treats both alike.

mod identity;
pub(crate) mod native;
mod wasm;

use std::pin::Pin;
use std::sync::Arc;

use airlock_model::content::ToolResult;
use airlock_model::digest::Digest;
use airlock_model::effects::Seed;
use airlock_model::error::Error;
use airlock_model::limits::Limits;
use airlock_model::pending::{ActionId, PendingAction};
use airlock_model::policy::{Phase, Policy};
use airlock_model::tool::RejectedTool;
use airlock_workspace::View;

use crate::instance::{Call, Conditions, LookedAt};
use crate::params::Params;
use crate::plugin::{LoadedTool, Plugin};
use crate::pushing::{PlaceOfOthers, SessionContext};
use crate::workspace::WorkspaceFolder;
use crate::world::DecidedAction;

pub(crate) use identity::NativeIdentity;
use native::NativeProducer;
pub(crate) use native::{UNDO, rest, rest_params};

/// A plugin or a native producer, before it is bound to a session.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    Plugin(Plugin),
    Native(NativeProducer),
}

/// The session data that a producer needs.
#[derive(Clone)]
pub(crate) struct ProducerContext {
    pub policy: Policy,
    pub workspace: Option<Arc<WorkspaceFolder>>,
    pub limits: Arc<Limits>,
    pub session: Arc<SessionContext>,
}

/// Commits the changes of an apply to the workspace after it succeeded.
pub(crate) trait CommitChanges: Sync {
    /// Commits all of `changes`, whose layer is open, or nothing. On error the layer stays open.
    fn commit<'a>(
        &'a self,
        changes: View,
        result: &'a ToolResult,
    ) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;
}

/// The outcome of a call.
pub(crate) struct Executed {
    pub result: ToolResult,
    /// The pushed actions, in push order.
    pub pushed: Vec<Arc<PendingAction>>,
    /// The effects of an apply, if the call itself produced them.
    pub drafted: Option<Draft>,
}

/// The effects of an apply, as the call that pushed the action produced them.
#[derive(Clone)]
pub(crate) struct Draft {
    /// The changes; the layer is open.
    pub changes: View,
    /// The run that produced them, if the apply is that run again.
    pub run: Option<Box<DraftRun>>,
}

/// A run of an action before its push.
#[derive(Clone)]
pub(crate) struct DraftRun {
    pub seed: Seed,
    pub looked_at: LookedAt,
    pub result: ToolResult,
}

impl Executed {
    pub fn of(result: ToolResult, pushed: Vec<Arc<PendingAction>>) -> Self {
        Self {
            result,
            pushed,
            drafted: None,
        }
    }
}

/// A successful apply whose changes are not committed yet.
pub(crate) struct Rehearsed {
    pub result: ToolResult,
    /// The changes; the layer is open. `None` if the tool can't change anything, or didn't ask for
    /// a layer.
    pub changes: Option<View>,
    pub looked_at: LookedAt,
}

/// A producer in one session, under one policy. Cloning is cheap.
#[derive(Clone)]
pub(crate) enum Producer {
    Wasm(Arc<wasm::Binding>),
    Native(Arc<native::Binding>),
}

impl Origin {
    /// Binds the producer to a session.
    ///
    /// # Errors
    /// [`Error::Workspace`] if there is no place outside the workspace for a plugin's scratch
    /// directory.
    pub fn bind(&self, context: ProducerContext) -> Result<Producer, Error> {
        match self {
            Origin::Plugin(plugin) => {
                let policy = plugin.effective_policy(context.policy);
                let context = ProducerContext { policy, ..context };
                Ok(Producer::Wasm(wasm::Binding::new(plugin, context)?))
            }
            Origin::Native(native) => Ok(Producer::Native(Arc::new(native::Binding::new(
                native, context,
            )))),
        }
    }
}

impl Producer {
    /// Returns the producer without its binding.
    pub fn origin(&self) -> Origin {
        match self {
            Producer::Wasm(binding) => Origin::Plugin(binding.plugin().clone()),
            Producer::Native(binding) => Origin::Native(binding.producer().clone()),
        }
    }

    /// Returns the producer's name, as messages show it.
    pub fn name(&self) -> &str {
        match self {
            Producer::Wasm(binding) => binding.plugin().name(),
            Producer::Native(binding) => binding.producer().name(),
        }
    }

    pub fn digest(&self) -> Digest {
        match self {
            Producer::Wasm(binding) => binding.plugin().digest(),
            Producer::Native(binding) => binding.producer().digest(),
        }
    }

    /// Returns the identity of a native producer.
    pub fn native(&self) -> Option<&NativeIdentity> {
        match self {
            Producer::Wasm(_) => None,
            Producer::Native(binding) => Some(binding.producer().identity()),
        }
    }

    pub fn policy(&self) -> &Policy {
        match self {
            Producer::Wasm(binding) => binding.policy(),
            Producer::Native(binding) => binding.policy(),
        }
    }

    pub fn tools(&self) -> &[LoadedTool] {
        match self {
            Producer::Wasm(binding) => binding.plugin().loaded_tools(),
            Producer::Native(binding) => binding.producer().loaded_tools(),
        }
    }

    /// Returns the tools that can't be used in any session.
    pub fn rejected(&self) -> &[RejectedTool] {
        match self {
            Producer::Wasm(binding) => binding.plugin().rejected(),
            Producer::Native(_) => &[],
        }
    }

    /// Returns whether both are the same binding.
    pub fn is(&self, other: &Producer) -> bool {
        match (self, other) {
            (Producer::Wasm(one), Producer::Wasm(other)) => Arc::ptr_eq(one, other),
            (Producer::Native(one), Producer::Native(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Calls a tool, with params that match its schema. Pushed actions go to the top of the stack,
    /// or to `place`.
    pub async fn execute(
        &self,
        call: &Call<'_>,
        params: &Params<'_>,
        place: Option<&PlaceOfOthers>,
    ) -> Result<Executed, Error> {
        match self {
            Producer::Wasm(binding) => binding.execute(call, params, place).await,
            Producer::Native(binding) => binding.execute(call, params, place).await,
        }
    }

    /// Applies a claimed action.
    pub async fn apply(
        &self,
        call: &Call<'_>,
        action: &PendingAction,
        resolution: &DecidedAction<'_>,
        conditions: Conditions,
        commit: &dyn CommitChanges,
    ) -> Result<ToolResult, Error> {
        match self {
            Producer::Wasm(binding) => {
                binding
                    .apply(call, action, resolution, conditions, commit)
                    .await
            }
            Producer::Native(binding) => {
                binding
                    .apply(call, action, resolution, conditions, commit)
                    .await
            }
        }
    }

    /// Applies a durable action without committing its changes.
    pub async fn rehearse(
        &self,
        call: &Call<'_>,
        action: &PendingAction,
        resolution: &DecidedAction<'_>,
        conditions: Conditions,
    ) -> Result<Rehearsed, Error> {
        match self {
            Producer::Wasm(binding) => binding.rehearse(call, resolution, conditions).await,
            Producer::Native(binding) => {
                binding.rehearse(call, action, resolution, conditions).await
            }
        }
    }

    /// Returns whether an apply can run on a layer that is dropped. A native tool may have effects
    /// elsewhere, unless it declares that it has none.
    pub fn can_be_rehearsed(&self) -> bool {
        match self {
            Producer::Wasm(_) => self.policy().allows_workspace_change(Phase::Rehearse),
            Producer::Native(binding) => binding.can_be_rehearsed(),
        }
    }

    /// Returns whether calls have left anything in the scratch directory, which is empty in a
    /// rehearsal or apply.
    pub fn has_scratch(&self) -> bool {
        match self {
            Producer::Wasm(binding) => binding.has_scratch(),
            Producer::Native(_) => false,
        }
    }

    /// Calls the producer's reject handler, if any. Returns `None` if there is no handler or if it
    /// returns nothing.
    pub async fn reject(
        &self,
        call: &Call<'_>,
        action: &PendingAction,
        resolution: &DecidedAction<'_>,
    ) -> Result<Option<ToolResult>, Error> {
        match self {
            Producer::Wasm(binding) => binding.reject(call, action, resolution).await,
            Producer::Native(binding) => binding.reject(call, action, resolution).await,
        }
    }

    /// Prepares for the next call, for example by making an instance.
    pub async fn start(&self) -> Result<(), Error> {
        match self {
            Producer::Wasm(binding) => binding.start().await,
            Producer::Native(_) => Ok(()),
        }
    }

    /// Frees the resources of an idle producer, such as an instance.
    pub fn make_room(&self) {
        match self {
            Producer::Wasm(binding) => binding.make_room(),
            Producer::Native(_) => {}
        }
    }

    /// Notes that a volatile action was finally resolved.
    pub fn release(&self, action: &ActionId) {
        match self {
            Producer::Wasm(binding) => binding.release(action),
            // All its actions are durable.
            Producer::Native(_) => {}
        }
    }
}

/// Commits the changes of an apply if it succeeded, and drops them otherwise.
async fn committed(
    changes: Option<View>,
    result: Result<ToolResult, Error>,
    commit: &dyn CommitChanges,
) -> Result<ToolResult, Error> {
    let Some(changes) = changes else {
        return result;
    };
    let result = match result {
        Ok(result) => {
            let committed = commit.commit(changes.clone(), &result).await;
            committed.map(|()| result)
        }
        Err(error) => Err(error),
    };
    if result.is_err() {
        changes.abandon();
    }
    result
}

/// Converts an error of code that is not the host's. Only the host can promise that nothing was
/// tried.
pub(crate) fn told_by_tool(error: Error) -> Error {
    match error {
        Error::Busy { .. } => Error::Tool {
            message: error.to_string(),
        },
        error => error,
    }
}
