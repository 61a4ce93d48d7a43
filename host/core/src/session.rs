//! A conversation: its bound tools, the files they see, and its stack of pending actions.
//!
//! [`Session`] is a facade. Its parts know only those below them:
//!
//! - `decide` claims actions, and nothing else does;
//! - `calling` calls tools, and has the actions that they push rehearsed;
//! - `review` determines the effects of an action, and never asks for a decision;
//! - `base`: `tools`, `stack`, `place` and `events`, which don't know each other.

mod approval;
mod base;
mod builder;
mod calling;
mod cancellable;
mod decide;
mod deciding;
mod events;
mod place;
mod review;
mod reviewing;
mod stack;
mod steering;
mod together;
mod tools;
mod turns;
mod undoing;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use airlock_model::call_record::CallRecord;
use airlock_model::content::CallOutcome;
use airlock_model::digest::Digest;
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::tool::{RejectedTool, ToolDefinition};
use tokio_util::sync::CancellationToken;

use crate::listeners::EventStream;
use crate::params::Params;
use base::Base;
use calling::ToolCall;
use decide::Decisions;
use review::Reviews;

pub use approval::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
pub use builder::SessionBuilder;
pub use cancellable::Cancellable;
pub use decide::{APPLY_UNDONE, Discarded, RecoveredAction, StandingHandler, StandingResult};
pub use place::{Originals, UndoRetention, originals};
pub use reviewing::Review;
pub use together::{JointReview, Together};
pub use tools::ProducerWithPolicy;

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
    base: Arc<Base>,
    reviews: Reviews,
    decisions: Decisions,
    apply_obstacle: Option<String>,
}

impl Session {
    /// Returns a builder for a [`Session`].
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// Returns the session's id.
    pub fn id(&self) -> &SessionId {
        self.base().id()
    }

    /// Returns the absolute path of the workspace, if the session has one.
    pub fn workspace(&self) -> Option<&Path> {
        self.base().place.path()
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
        self.base().tools.bind(producer.into())
    }

    /// Removes the tools of a plugin or a native producer from the session. The argument is the
    /// producer or its digest. Its pending actions can still be resolved.
    pub fn unbind(&self, producer: impl Into<Digest>) {
        self.base().tools.unbind(producer.into());
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
        let producers = producers.into_iter().map(Into::into);
        self.base().tools.rebind(producers)
    }

    /// Returns the tools that were left out when their producers were bound, each with the reason.
    ///
    /// A tool whose name was taken stays left out after that name becomes free, until its producer
    /// is bound again.
    pub fn rejected(&self) -> Vec<RejectedTool> {
        self.base().tools.rejected()
    }

    /// Returns the tools to offer to a model: all that are not hidden, in binding order.
    ///
    /// [`resolve`](crate::tool::resolve_tool) is not included; add it separately.
    pub fn tools(&self) -> Vec<ToolDefinition> {
        let tools = &self.base().tools;
        tools.definitions(|tool| !tool.traits.hidden)
    }

    /// Returns the session's tools with these names, including hidden ones, in binding order.
    pub fn tools_named(&self, names: &[&str]) -> Vec<ToolDefinition> {
        let tools = &self.base().tools;
        tools.definitions(|tool| names.contains(&tool.name.as_str()))
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
        let inner = &self.inner;
        if tool == decide::NAME {
            let resolution = decide::parse(params.value(), self.base().limits(), cancel).await?;
            let resolving = inner.decisions.resolve_for_model(resolution, cancel);
            return Ok(resolving.await?.into());
        }
        let found = self.base().tools.find(tool)?;
        let call = ToolCall {
            producer: found.producer(),
            definition: found.definition(),
            params: &params,
            place: None,
            cancel,
        };
        call.run(self.base(), &inner.reviews).await
    }

    /// Returns a stream of the session's events from now on, which ends when nothing of the session
    /// is left. It is for readers that take their time or wait for several things; an
    /// [observer](SessionBuilder::observer) gets the same events at once, on the guest's thread.
    /// [`Cancellable::events`] has those of one call.
    ///
    /// ```no_run
    /// # async fn example(session: airlock_host::Session) {
    /// let mut events = session.events();
    /// tokio::spawn(async move {
    ///     while let Some(event) = events.recv().await {
    ///         println!("{}: {:?}", event.tool, event.event);
    ///     }
    /// });
    /// # }
    /// ```
    pub fn events(&self) -> EventStream {
        self.base().events.listen()
    }

    /// Returns the call that pushed a pending action, with the preview as its caller got it, or [in
    /// full](crate::native::Preview::in_full). Returns `None` if the session has no such action, or
    /// if an older version pushed it.
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be read, and [`Error::NoStore`].
    pub async fn call_record(&self, action: &ActionId) -> Result<Option<CallRecord>, Error> {
        let records = self.base().records()?;
        Ok(records.call_record(self.id(), action).await?)
    }

    /// Instantiates every bound plugin ahead of its first call.
    ///
    /// # Errors
    /// [`Error::Trap`] and [`Error::Limit`], as for the first call.
    pub async fn start_instances(&self) -> Result<(), Error> {
        for producer in self.base().tools.producers() {
            producer.start().await?;
        }
        Ok(())
    }

    /// Drops idle instances that hold no volatile action. Call it when a conversation pauses.
    pub fn drop_idle_instances(&self) {
        for producer in self.base().tools.producers() {
            producer.make_room();
        }
    }

    fn base(&self) -> &Arc<Base> {
        &self.inner.base
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
