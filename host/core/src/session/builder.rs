//! Options for opening a session.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::error::Error;
use airlock_model::event::{Event, EventSource, Observer};
use airlock_model::identity::Machine;
use airlock_model::limits::Limits;
use airlock_model::pending::SessionId;
use airlock_model::policy::{Policy, Rehearse};
use airlock_model::steering::ToolChoicePolicy;
use airlock_model::store::{MemoryStore, PendingStore};

use super::approval::Approver;
use super::base::Base;
use super::decide::Decisions;
use super::events::Events;
use super::place::{Opened, Place, UndoRetention};
use super::review::Reviews;
use super::stack::Stack;
use super::tools::{ProducerWithPolicy, Tools};
use super::turns::Turns;
use super::{Session, SessionInner};
use crate::engine::Engine;
use crate::listeners::Listeners;
use crate::lost::LostActions;
use crate::producer::{Origin, ProducerContext};
use crate::pushing::SessionContext;
use crate::tenant::Tenant;

/// Builder for a [`Session`].
#[derive(Default)]
#[must_use]
pub struct SessionBuilder {
    id: Option<SessionId>,
    workspace: Option<PathBuf>,
    machine: Option<Machine>,
    store: Store,
    limits: Option<Arc<Limits>>,
    observer: Option<Observer>,
    decider: Option<Decider>,
    producers: Vec<ProducerWithPolicy>,
    engine: Option<Engine>,
    tool_choice: ToolChoicePolicy,
    expires_after: Option<Duration>,
    rehearse: Rehearse,
    tenant: Tenant,
    undo: Undo,
}

/// The decider about the actions that a model wants to apply.
enum Decider {
    Model,
    Approver(Arc<dyn Approver>),
}

/// What applies keep for an undo, if anything.
struct Undo(Option<UndoRetention>);

impl Default for Undo {
    fn default() -> Self {
        Self(Some(UndoRetention::default()))
    }
}

#[derive(Default)]
enum Store {
    #[default]
    OwnMemory,
    Shared(PendingStore),
    None,
}

impl SessionBuilder {
    /// Sets the session's id. Default: a random one.
    pub fn id(mut self, id: impl Into<SessionId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the workspace, the directory that the session's tools work on. Default: none, so tools
    /// see no files.
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Sets the name by which stores know this machine. Default: its own hashed id, as described at
    /// [`Machine`]. Actions are applied only on the machine that previewed them. Give one name to
    /// replicas that share their workspaces, such as containers with one volume.
    pub fn machine(mut self, name: &str) -> Self {
        self.machine = Some(Machine::named(name));
        self
    }

    /// Sets the store for pending actions. Default: in memory, for this session alone.
    pub fn store(mut self, store: impl Into<PendingStore>) -> Self {
        self.store = Store::Shared(store.into());
        self
    }

    /// Opens the session without a store. A tool's push then fails with `store-unavailable`.
    pub fn without_store(mut self) -> Self {
        self.store = Store::None;
        self
    }

    /// Sets the limits of each guest. Default: the limits of the session's engine.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(Arc::new(limits));
        self
    }

    /// Sets a function that receives the log messages and progress of guests, on the thread that
    /// runs them. [`Session::events`] is for readers that take their time.
    pub fn observer(
        mut self,
        observer: impl Fn(EventSource<'_>, &Event) + Send + Sync + 'static,
    ) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Asks this approver before applying anything that a model wants to apply. A session needs a
    /// decider: either this or [`model_decides`](Self::model_decides). The last call wins.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.decider = Some(Decider::Approver(Arc::new(approver)));
        self
    }

    /// Lets the model decide by itself, without approval.
    pub fn model_decides(mut self) -> Self {
        self.decider = Some(Decider::Model);
        self
    }

    /// Sets the engine for plugins that earlier sessions left in the store. Default: the engine of
    /// the first plugin.
    pub fn engine(mut self, engine: &Engine) -> Self {
        self.engine = Some(engine.clone());
        self
    }

    /// Sets the tenant that the session belongs to. Sessions of one tenant share its portion of the
    /// engine's memory and descriptors. Default: a separate tenant.
    pub fn tenant(mut self, tenant: &Tenant) -> Self {
        self.tenant = tenant.clone();
        self
    }

    /// Sets when the model is forced to decide about pending actions, see [`Session::next_turn`].
    /// Default: after a turn without a decision.
    pub fn tool_choice(mut self, policy: ToolChoicePolicy) -> Self {
        self.tool_choice = policy;
        self
    }

    /// Sets how long actions pushed in this session wait for a decision. An action without an
    /// attempt to apply it expires after this time. A resolution then fails with [`Error::Expired`]
    /// and discards the action, with [`EXPIRED`](crate::pending::EXPIRED) as the reason.
    /// [`Session::discard_expired`] also discards expired actions. The time is stored with the
    /// action, so it holds in every session and process. Default: never.
    pub fn pending_expires_after(mut self, time: Duration) -> Self {
        self.expires_after = Some(time);
        self
    }

    /// Sets when the host rehearses a pushed action: it applies the action on a layer that is never
    /// committed, to see the effects before the decision. [`Session::effects`] and
    /// [`CallOutcome::effects`](crate::content::CallOutcome::effects) return them. A
    /// [policy](crate::Policy::rehearse) can override this for a plugin. Default:
    /// [`Rehearse::Auto`].
    pub fn rehearse(mut self, rehearse: Rehearse) -> Self {
        self.rehearse = rehearse;
        self
    }

    /// Sets what applies keep in the workspace for an [undo](Session::undo): the files that they
    /// replace and remove. `None` keeps nothing. Default: [`UndoRetention::default`].
    pub fn undo_retention(mut self, retention: Option<UndoRetention>) -> Self {
        self.undo = Undo(retention);
        self
    }

    /// Binds a plugin or a native producer, under the default policy unless another is
    /// [given](ProducerWithPolicy). Both kinds of tools are listed together, in binding order.
    pub fn bind(mut self, producer: impl Into<ProducerWithPolicy>) -> Self {
        self.producers.push(producer.into());
        self
    }

    /// Opens the session. Leaves out tools that can't be used or whose names are taken;
    /// [`Session::rejected`] lists them.
    ///
    /// If a crash interrupted a commit in the workspace, this finishes or undoes it before any
    /// guest sees the files. If that fails, [`Session::apply_obstacle`] says why. The outcome of
    /// the action reaches the store with the first [`Session::pending`] or [`Session::next_turn`],
    /// or when the action is resolved.
    ///
    /// # Errors
    /// - [`Error::NoDecider`] unless [`approver`](Self::approver) or
    ///   [`model_decides`](Self::model_decides) was called.
    /// - [`Error::Workspace`] if the workspace is missing, is not a directory, or leaves no place
    ///   for a scratch directory.
    pub fn open(self) -> Result<Session, Error> {
        let approver = match self.decider {
            Some(Decider::Approver(approver)) => Some(approver),
            Some(Decider::Model) => None,
            None => return Err(Error::NoDecider),
        };
        let opened = match self.workspace {
            Some(path) => {
                let machine = self.machine.as_ref().unwrap_or_else(|| Machine::this());
                Some(Opened::at(&path, machine.clone())?)
            }
            None => None,
        };
        let (workspace, apply_obstacle) = match opened {
            Some(opened) => (Some(opened.folder), opened.obstacle),
            None => (None, None),
        };
        let engine = self.engine.or_else(|| {
            let mut producers = self.producers.iter();
            producers.find_map(|producer| match &producer.origin {
                Origin::Plugin(plugin) => Some(plugin.engine().clone()),
                Origin::Native(_) => None,
            })
        });
        let limits = self.limits.unwrap_or_else(|| match &engine {
            Some(engine) => Arc::clone(engine.shared_limits()),
            None => Arc::default(),
        });
        let store = match self.store {
            Store::OwnMemory => Some(PendingStore::from(Arc::new(MemoryStore::new()))),
            Store::Shared(store) => Some(store),
            Store::None => None,
        };
        let id = self
            .id
            .unwrap_or_else(|| SessionId::generate(SystemTime::now()));
        let context = Arc::new(SessionContext {
            id,
            store,
            workspace: workspace.as_ref().map(|it| it.path().into()),
            workspace_identity: workspace.as_ref().map(|it| Arc::clone(it.lasting())),
            expires_after: self.expires_after,
            lost: LostActions::default(),
            reserved: Arc::default(),
            tenant: self.tenant,
            observer: self.observer,
            listeners: Listeners::default(),
        });
        let producers = ProducerContext {
            policy: Policy::default(),
            workspace: workspace.clone(),
            limits,
            session: Arc::clone(&context),
        };
        let base = Arc::new(Base {
            stack: Stack::new(Arc::clone(&context)),
            place: Place::new(Arc::clone(&context), workspace, self.machine, self.undo.0),
            tools: Tools::new(producers, engine),
            events: Events::new(context),
        });
        let reviews = Reviews::new(Arc::clone(&base), self.rehearse);
        let turns = Turns::new(self.tool_choice);
        let decisions = Decisions::new(Arc::clone(&base), reviews.clone(), approver, turns);
        let session = Session {
            inner: Arc::new(SessionInner {
                base,
                reviews,
                decisions,
                apply_obstacle,
            }),
        };
        for producer in self.producers {
            session.bind(producer)?;
        }
        Ok(session)
    }
}

impl fmt::Debug for SessionBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionBuilder")
            .field("id", &self.id)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}
