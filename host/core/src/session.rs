//! A conversation: its bound tools, the files they see, and its stack of pending actions.

mod approving;
mod bindings;
mod builder;
mod cancellable;
mod clear;
mod committing;
mod conditions;
mod denying;
mod elsewhere;
mod expired;
mod lease;
mod moved;
mod opening;
mod pending;
mod recovering;
mod refresh;
mod rehearsing;
mod resolve;
mod resolver;
mod review;
mod siblings;
mod stale;
mod standing;
mod turns;
mod watched;
mod with_policy;

use std::fmt;
use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use airlock_model::actor::Actor;
use airlock_model::call_record::CallRecord;
use airlock_model::content::CallOutcome;
use airlock_model::digest::Digest;
use airlock_model::error::Error;
use airlock_model::event::{Observer, ToolFunction};
use airlock_model::identity::Machine;
use airlock_model::limits::Limits;
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::policy::{Policy, Rehearse};
use airlock_model::store::PendingStore;
use airlock_model::tool::{RejectedTool, ToolDefinition};
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::instance::Call;
use crate::params::Params;
use crate::plugin::LoadedTool;
use crate::producer::{Executed, Origin, Producer, ProducerContext};
use crate::pushing::{PlaceOfOthers, SessionContext};
use crate::workspace::WorkspaceFolder;
use bindings::Bindings;
use rehearsing::Rehearsals;
use review::Told;
use standing::StandingState;
use turns::Turns;

pub use approving::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
pub use builder::SessionBuilder;
pub use cancellable::Cancellable;
pub use clear::Discarded;
pub use recovering::{APPLY_UNDONE, RecoveredAction};
pub use standing::{StandingHandler, StandingResult};
pub use with_policy::ProducerWithPolicy;

/// A conversation. Cloning is cheap; clones are the same session.
///
/// Opening a session is cheap. A plugin is instantiated on its first call. An instance can be
/// dropped between calls unless it holds a volatile action. Calls to the tools of one plugin run
/// one after the other. Sessions run in parallel, and so do the plugins of one session.
///
/// Its futures need a tokio runtime with timers enabled.
#[derive(Clone)]
pub struct Session {
    inner: Arc<SessionInner>,
}

struct SessionInner {
    context: Arc<SessionContext>,
    workspace: Option<Arc<WorkspaceFolder>>,
    apply_obstacle: Option<String>,
    /// Set once pending actions were listed since the session was opened.
    looked: AtomicBool,
    /// Overrides the machine's own identity.
    machine: Option<Machine>,
    /// Engine for plugins from the store.
    engine: Option<Engine>,
    limits: Arc<Limits>,
    observer: Option<Observer>,
    approver: Option<Arc<dyn Approver>>,
    bindings: RwLock<Bindings>,
    calls: AtomicU64,
    rehearse: Rehearse,
    rehearsals: Rehearsals,
    turns: Turns,
    standing: StandingState,
    told: Mutex<Option<Told>>,
}

impl Session {
    /// Returns a builder for a [`Session`].
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// Returns the session's id.
    pub fn id(&self) -> &SessionId {
        &self.inner.context.id
    }

    /// Returns the absolute path of the workspace, if the session has one.
    pub fn workspace(&self) -> Option<&Path> {
        self.inner
            .workspace
            .as_ref()
            .map(|workspace| workspace.path())
    }

    /// Returns why changes to the workspace can't be applied, as a clause, if this was known when
    /// the session was opened. For example, the workspace is read-only. Tools can still preview.
    pub fn apply_obstacle(&self) -> Option<&str> {
        self.inner.apply_obstacle.as_deref()
    }

    /// Adds the tools of a plugin or a native producer, under the default policy unless another is
    /// [given](ProducerWithPolicy). Leaves out tools that can't be used or whose names are taken,
    /// and returns each of them with the reason.
    ///
    /// If the producer is already bound, its policy stays. To change the policy,
    /// [unbind](Session::unbind) the producer first. Actions that it pushed before are then applied
    /// under the new policy, and its volatile actions are lost.
    ///
    /// # Errors
    /// [`Error::Workspace`] if there is no place outside the workspace for a scratch directory.
    pub fn bind(
        &self,
        producer: impl Into<ProducerWithPolicy>,
    ) -> Result<Vec<RejectedTool>, Error> {
        let ProducerWithPolicy { origin, policy } = producer.into();
        let producer = self.producer(&origin, policy)?;
        Ok(self.write_bindings(|bindings| bindings.add(producer)))
    }

    /// Removes the tools of a plugin or a native producer from the session. The argument is the
    /// producer or its digest. Its pending actions can still be resolved.
    pub fn unbind(&self, producer: impl Into<Digest>) {
        let digest = producer.into();
        self.write_bindings(|bindings| bindings.remove_tools(digest));
    }

    /// Replaces all bound producers by these, in this order and in one step. A call finds either
    /// the old tools or the new ones; a running call is not affected. Returns the tools that were
    /// left out, each with the reason.
    ///
    /// A producer that was bound before under the same policy keeps its live instance and its
    /// volatile actions. The pending actions of the others can still be resolved by the same bytes:
    /// as after [`Session::unbind`], the session holds their code until it ends.
    ///
    /// # Errors
    /// [`Error::Workspace`], as for [`Session::bind`]. The bindings are then unchanged.
    pub fn rebind<P: Into<ProducerWithPolicy>>(
        &self,
        producers: impl IntoIterator<Item = P>,
    ) -> Result<Vec<RejectedTool>, Error> {
        let bound = producers.into_iter().map(|producer| {
            let ProducerWithPolicy { origin, policy } = producer.into();
            self.producer(&origin, policy)
        });
        let bound = bound.collect::<Result<Vec<_>, _>>()?;
        let (rejected, unbound) = self.write_bindings(|bindings| bindings.replace(bound));
        for producer in unbound {
            producer.make_room();
        }
        Ok(rejected)
    }

    /// Returns the tools that were left out when their producers were bound, each with the reason.
    ///
    /// A tool whose name was taken stays left out after that name becomes free, until its producer
    /// is bound again.
    pub fn rejected(&self) -> Vec<RejectedTool> {
        self.read_bindings(Bindings::rejected)
    }

    /// Returns the tools to offer to a model: all that are not hidden, in binding order.
    ///
    /// [`resolve`](crate::tool::resolve_tool) is not included; add it separately.
    pub fn tools(&self) -> Vec<ToolDefinition> {
        self.read_bindings(|bindings| {
            let tools = bindings.definitions();
            tools.filter(|tool| !tool.traits.hidden).cloned().collect()
        })
    }

    /// Returns the session's tools with these names, including hidden ones, in binding order.
    pub fn tools_named(&self, names: &[&str]) -> Vec<ToolDefinition> {
        self.read_bindings(|bindings| {
            let tools = bindings.definitions();
            tools
                .filter(|tool| names.contains(&tool.name.as_str()))
                .cloned()
                .collect()
        })
    }

    /// Calls a tool with its params, an object that must match the tool's schema. Pass a value, or
    /// [a text](Params::from_text) if you have one. `resolve` can be called like any other tool.
    ///
    /// # Errors
    /// - [`Error::UnknownTool`] and [`Error::InvalidParams`]: the guest was not called.
    /// - [`Error::Tool`] and [`Error::Failed`], with the tool's message.
    /// - [`Error::Trap`] and [`Error::Limit`], with the cause.
    /// - [`Error::Cancelled`].
    /// - [`Error::Busy`] if a native tool is still working on a call that was stopped.
    /// - [`Error::Store`] if the store rejected the pushed actions.
    ///
    /// A call that fails, or whose future is dropped, leaves nothing on the stack.
    pub fn call<'a>(
        &'a self,
        tool: &'a str,
        params: impl Into<Params<'a>>,
    ) -> Cancellable<'a, Result<CallOutcome, Error>> {
        self.calling(tool, params.into())
    }

    fn calling<'a>(
        &'a self,
        tool: &'a str,
        params: Params<'a>,
    ) -> Cancellable<'a, Result<CallOutcome, Error>> {
        Cancellable::new(move |cancel| self.call_until(tool, params, cancel))
    }

    async fn call_until(
        &self,
        tool: &str,
        params: Params<'_>,
        cancel: Option<&CancellationToken>,
    ) -> Result<CallOutcome, Error> {
        if tool == resolve::NAME {
            let resolution = resolve::parse(params.value(), &self.inner.limits, cancel).await?;
            let outcome = self.resolve_until(resolution, Actor::Model.into(), cancel);
            let outcome = outcome.await;
            self.remember_told(&outcome);
            return Ok(outcome?.into());
        }
        let found = self.read_bindings(|bindings| {
            bindings.find(tool).ok_or_else(|| {
                let known = bindings.definitions().map(|tool| tool.name.as_str());
                Error::unknown_tool(tool, known)
            })
        });
        let found = found?;
        let place = None;
        let (producer, definition) = (found.producer(), found.definition());
        self.call_tool(producer, definition, tool, &params, place, cancel)
            .await
    }

    async fn call_tool(
        &self,
        producer: &Producer,
        definition: &LoadedTool,
        tool: &str,
        params: &Params<'_>,
        place: Option<&PlaceOfOthers>,
        cancel: Option<&CancellationToken>,
    ) -> Result<CallOutcome, Error> {
        let schema = &definition.params;
        let spent = schema
            .check(tool, params.value(), &self.inner.limits, cancel)
            .await?;
        let call = Call {
            number: self.next_call(),
            tool,
            limits: &self.inner.limits,
            cancel,
            spent,
        };
        let executing = pin!(async {
            let executed = producer.execute(&call, params, place).await?;
            self.tell_pushed(&call, producer.name(), &executed.pushed);
            Ok(executed)
        });
        let watched = self.watched(&call, producer.name(), ToolFunction::Execute, executing);
        let Executed {
            result,
            mut pushed,
            drafted,
        } = watched.await?;
        let mut effects = if pushed.is_empty() || !self.may_rehearse() {
            Vec::new()
        } else {
            // Boxed, to keep this future small.
            Box::pin(self.rehearse_pushed(producer, &pushed, drafted)).await
        };
        pushed.reverse();
        effects.reverse();
        let mut outcome = CallOutcome::new(result, pushed);
        outcome.effects = effects;
        let unseen = outcome.pushed.iter().map(|action| &action.id);
        let unseen = unseen.filter(|id| !outcome.effects.iter().any(|it| it.action == **id));
        outcome.rehearsing = unseen.filter(|id| self.is_rehearsed(id)).cloned().collect();
        Ok(outcome)
    }

    /// Returns the call that pushed a pending action, with the preview as its caller got it, or [in
    /// full](crate::native::Preview::in_full). Returns `None` if the session has no such action, or
    /// if an older version pushed it.
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be read, and [`Error::NoStore`].
    pub async fn call_record(&self, action: &ActionId) -> Result<Option<CallRecord>, Error> {
        Ok(self.store()?.call_record(self.id(), action).await?)
    }

    /// Instantiates every bound plugin ahead of its first call.
    ///
    /// # Errors
    /// [`Error::Trap`] and [`Error::Limit`], as for the first call.
    pub async fn start_instances(&self) -> Result<(), Error> {
        for producer in self.read_bindings(Bindings::producers) {
            producer.start().await?;
        }
        Ok(())
    }

    /// Drops idle instances that hold no volatile action. Call it when a conversation pauses.
    pub fn drop_idle_instances(&self) {
        for producer in self.read_bindings(Bindings::producers) {
            producer.make_room();
        }
    }

    fn producer(&self, origin: &Origin, policy: Policy) -> Result<Producer, Error> {
        let inner = &self.inner;
        origin.bind(ProducerContext {
            policy,
            workspace: inner.workspace.clone(),
            limits: Arc::clone(&inner.limits),
            observer: inner.observer.clone(),
            session: Arc::clone(&inner.context),
        })
    }

    fn store(&self) -> Result<&Arc<dyn PendingStore>, Error> {
        self.inner.context.store.as_ref().ok_or(Error::NoStore)
    }

    fn read_bindings<R>(&self, body: impl FnOnce(&Bindings) -> R) -> R {
        body(
            &self
                .inner
                .bindings
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn write_bindings<R>(&self, body: impl FnOnce(&mut Bindings) -> R) -> R {
        body(
            &mut self
                .inner
                .bindings
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", self.id())
            .field("workspace", &self.workspace())
            .finish_non_exhaustive()
    }
}
