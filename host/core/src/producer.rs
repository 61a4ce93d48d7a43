//! Producers of actions: a plugin, or a part of the host itself. A session treats both alike.

mod identity;
pub(crate) mod native;
mod wasm;

use std::pin::Pin;
use std::sync::Arc;

use airlock_model::content::ToolResult;
use airlock_model::digest::Digest;
use airlock_model::error::Error;
use airlock_model::event::Observer;
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

/// A plugin or a native producer, before it is bound to a session.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    Plugin(Plugin),
    Native(NativeProducer),
}

/// What a producer needs to know of its session.
#[derive(Clone)]
pub(crate) struct ProducerContext {
    pub policy: Policy,
    pub workspace: Option<Arc<WorkspaceFolder>>,
    pub limits: Arc<Limits>,
    pub observer: Option<Observer>,
    pub session: Arc<SessionContext>,
}

/// Puts what an apply has changed into the workspace, once that has succeeded.
pub(crate) trait CommitChanges: Sync {
    /// `changes` has a layer open. All of it is committed, or nothing, and then the layer is open
    /// as before.
    fn commit<'a>(
        &'a self,
        changes: View,
        result: &'a ToolResult,
    ) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;
}

/// What a call came to.
pub(crate) struct Executed {
    pub result: ToolResult,
    /// In the order in which it was pushed.
    pub pushed: Vec<Arc<PendingAction>>,
    /// What applying would do, where the call itself has done that: its layer is open.
    pub drafted: Option<View>,
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

/// An apply that came to a good end, and that nobody keeps anything of.
pub(crate) struct Rehearsed {
    /// What it has changed: the layer is open.
    pub changes: View,
    pub looked_at: LookedAt,
}

/// A producer in one session, under one policy. Cheap to clone.
#[derive(Clone)]
pub(crate) enum Producer {
    Wasm(Arc<wasm::Binding>),
    Native(Arc<native::Binding>),
}

impl Origin {
    /// # Errors
    /// [`Error::Workspace`] where a plugin could have no scratch directory outside of the
    /// workspace.
    pub fn bind(&self, context: ProducerContext) -> Result<Producer, Error> {
        match self {
            Origin::Plugin(plugin) => Ok(Producer::Wasm(wasm::Binding::new(plugin, context)?)),
            Origin::Native(native) => Ok(Producer::Native(Arc::new(native::Binding::new(
                native, context,
            )))),
        }
    }
}

impl Producer {
    /// What was bound.
    pub fn origin(&self) -> Origin {
        match self {
            Producer::Wasm(binding) => Origin::Plugin(binding.plugin().clone()),
            Producer::Native(binding) => Origin::Native(binding.producer().clone()),
        }
    }

    /// Its name in messages.
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

    /// What it is known by, where it is part of the host.
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

    /// The tools that can't be used, whatever else the session has.
    pub fn rejected(&self) -> &[RejectedTool] {
        match self {
            Producer::Wasm(binding) => binding.plugin().rejected(),
            Producer::Native(_) => &[],
        }
    }

    /// Whether this is the very same one.
    pub fn is(&self, other: &Producer) -> bool {
        match (self, other) {
            (Producer::Wasm(one), Producer::Wasm(other)) => Arc::ptr_eq(one, other),
            (Producer::Native(one), Producer::Native(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Calls a tool, with params that fit its schema. What it pushes goes to the top of the stack,
    /// or to that place.
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

    /// Applies a durable action where nobody keeps what that changes. None where it could change
    /// nothing.
    pub async fn rehearse(
        &self,
        call: &Call<'_>,
        action: &PendingAction,
        resolution: &DecidedAction<'_>,
        conditions: Conditions,
    ) -> Result<Option<Rehearsed>, Error> {
        match self {
            Producer::Wasm(binding) => binding.rehearse(call, resolution, conditions).await,
            Producer::Native(binding) => {
                binding.rehearse(call, action, resolution, conditions).await
            }
        }
    }

    /// Whether an apply can be run on a layer that is dropped. A native tool could have effects
    /// elsewhere, unless it says that it has none.
    pub fn can_be_rehearsed(&self) -> bool {
        match self {
            Producer::Wasm(_) => self.policy().allows_workspace_change(Phase::Rehearse),
            Producer::Native(binding) => binding.can_be_rehearsed(),
        }
    }

    /// Whether calls have left anything in the scratch directory, which an action that is rehearsed
    /// or applied finds empty.
    pub fn has_scratch(&self) -> bool {
        match self {
            Producer::Wasm(binding) => binding.has_scratch(),
            Producer::Native(_) => false,
        }
    }

    /// Calls the producer's reject handler, if any. None where there is no handler, or it returns
    /// nothing.
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

    /// Prepares what the next call needs, such as an instance.
    pub async fn start(&self) -> Result<(), Error> {
        match self {
            Producer::Wasm(binding) => binding.start().await,
            Producer::Native(_) => Ok(()),
        }
    }

    /// Frees what an idle producer doesn't need, such as an instance.
    pub fn make_room(&self) {
        match self {
            Producer::Wasm(binding) => binding.make_room(),
            Producer::Native(_) => {}
        }
    }

    /// A volatile action was resolved for good.
    pub fn release(&self, action: &ActionId) {
        match self {
            Producer::Wasm(binding) => binding.release(action),
            // All that it pushes is durable.
            Producer::Native(_) => {}
        }
    }
}

/// Commits what an apply has changed, if it succeeded, and drops it otherwise.
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

/// An error as code says it that is not the host's. Only the host can promise that nothing was
/// tried.
pub(crate) fn told_by_tool(error: Error) -> Error {
    match error {
        Error::Busy { .. } => Error::Tool {
            message: error.to_string(),
        },
        error => error,
    }
}
