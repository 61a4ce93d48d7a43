//! Opening a session.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, SystemTime};

use airlock_model::error::Error;
use airlock_model::event::{Event, EventSource, Observer};
use airlock_model::identity::Machine;
use airlock_model::limits::Limits;
use airlock_model::pending::SessionId;
use airlock_model::policy::Rehearse;
use airlock_model::steering::ToolChoicePolicy;
use airlock_model::store::{MemoryStore, PendingStore};

use super::approving::Approver;
use super::opening::{obstacle, recover};
use super::rehearsing::Rehearsals;
use super::standing::StandingState;
use super::turns::Turns;
use super::with_policy::ProducerWithPolicy;
use super::{Session, SessionInner};
use crate::engine::Engine;
use crate::lost::LostActions;
use crate::producer::Origin;
use crate::pushing::SessionContext;
use crate::tenant::Tenant;
use crate::workspace::WorkspaceFolder;

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
}

/// Who decides whether an action is applied that a model wants to apply.
enum Decider {
    Model,
    Approver(Arc<dyn Approver>),
}

#[derive(Default)]
enum Store {
    #[default]
    OwnMemory,
    Shared(Arc<dyn PendingStore>),
    None,
}

impl SessionBuilder {
    /// Sets the session's id. Default: a random one.
    pub fn id(mut self, id: impl Into<SessionId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The workspace: the directory that the session's tools work on. Default: they see no files.
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// What stores know this machine by. Default: its own id, hashed, as [`Machine`] tells. Actions
    /// are applied on the machine that previewed them alone, so replicas that share their
    /// workspaces, say containers with one volume, are to be given one name.
    pub fn machine(mut self, name: &str) -> Self {
        self.machine = Some(Machine::named(name));
        self
    }

    /// Where pending actions are kept. Default: in memory, for this session alone.
    pub fn store(mut self, store: Arc<dyn PendingStore>) -> Self {
        self.store = Store::Shared(store);
        self
    }

    /// Without a store, a tool's push fails with `store-unavailable`.
    pub fn without_store(mut self) -> Self {
        self.store = Store::None;
        self
    }

    /// Limits of each guest. Default: the limits of the session's engine.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(Arc::new(limits));
        self
    }

    /// Called with what guests log and with their progress, on the thread that runs them.
    pub fn observer(
        mut self,
        observer: impl Fn(EventSource<'_>, &Event) + Send + Sync + 'static,
    ) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Asked before whatever a model wants applied. Who decides has to be said: this, or
    /// [`model_decides`](Self::model_decides). The last one counts.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.decider = Some(Decider::Approver(Arc::new(approver)));
        self
    }

    /// The model decides by itself, without asking anyone.
    pub fn model_decides(mut self) -> Self {
        self.decider = Some(Decider::Model);
        self
    }

    /// The engine for plugins that earlier sessions left in the store. Default: the first plugin's.
    pub fn engine(mut self, engine: &Engine) -> Self {
        self.engine = Some(engine.clone());
        self
    }

    /// Whom the session works for: sessions of one tenant share what one tenant gets of the
    /// engine's memory and descriptors. Default: a tenant of its own.
    pub fn tenant(mut self, tenant: &Tenant) -> Self {
        self.tenant = tenant.clone();
        self
    }

    /// When the model is forced to decide about what is pending, see [`Session::next_turn`].
    /// Default: after a turn that did not decide.
    pub fn tool_choice(mut self, policy: ToolChoicePolicy) -> Self {
        self.tool_choice = policy;
        self
    }

    /// How long what is pushed in this session waits for a decision. An action that nobody has
    /// tried to apply by then can't be: a resolution that would fails with [`Error::Expired`], and
    /// it is discarded, then or by [`Session::discard_expired`], with
    /// [`EXPIRED`](crate::pending::EXPIRED) as the reason. The action keeps its time, so that it
    /// holds in every session and process. Default: for ever.
    pub fn pending_expires_after(mut self, time: Duration) -> Self {
        self.expires_after = Some(time);
        self
    }

    /// Whether the host applies what is pushed on a layer that is never committed, to see what it
    /// does, before anybody decides: [`Session::effects`] has it, and so has
    /// [`CallOutcome::effects`](crate::content::CallOutcome::effects). A
    /// [policy](crate::Policy::rehearse) may say otherwise for a plugin. Default:
    /// [`Rehearse::Auto`].
    pub fn rehearse(mut self, rehearse: Rehearse) -> Self {
        self.rehearse = rehearse;
        self
    }

    /// Binds a plugin or a native producer, under the default policy unless another is
    /// [given](ProducerWithPolicy). Tools of both kinds stand beside each other, in the order in
    /// which these are bound.
    pub fn bind(mut self, producer: impl Into<ProducerWithPolicy>) -> Self {
        self.producers.push(producer.into());
        self
    }

    /// Opens the session. Tools that can't be used, or whose names are taken, are left out:
    /// [`Session::rejected`] has them.
    ///
    /// A commit that a crash has cut off in the workspace is finished, or undone, before anybody
    /// sees a file of it. Where that can't be, [`Session::apply_obstacle`] says why. The store is
    /// told what became of the action by the first [`Session::pending`] or
    /// [`Session::next_turn`], or by whoever resolves it.
    ///
    /// # Errors
    /// [`Error::NoDecider`] unless [`approver`](Self::approver) or
    /// [`model_decides`](Self::model_decides) was called;
    /// [`Error::Workspace`] where the workspace is not there, is no directory, or leaves no place
    /// for a scratch directory.
    pub fn open(self) -> Result<Session, Error> {
        let approver = match self.decider {
            Some(Decider::Approver(approver)) => Some(approver),
            Some(Decider::Model) => None,
            None => return Err(Error::NoDecider),
        };
        let (workspace, apply_obstacle) = match self.workspace {
            Some(path) => {
                let machine = self.machine.as_ref().unwrap_or_else(|| Machine::this());
                let folder = open_workspace(&path, machine.clone())?;
                let unrecovered = recover(&folder);
                let in_the_way = unrecovered.or_else(|| obstacle(&folder));
                (Some(folder), in_the_way)
            }
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
            Store::OwnMemory => Some(Arc::new(MemoryStore::new()) as Arc<dyn PendingStore>),
            Store::Shared(store) => Some(store),
            Store::None => None,
        };
        let id = self
            .id
            .unwrap_or_else(|| SessionId::generate(SystemTime::now()));
        let session = Session {
            inner: Arc::new(SessionInner {
                context: Arc::new(SessionContext {
                    id,
                    store,
                    workspace: workspace.as_ref().map(|it| it.path().into()),
                    workspace_identity: workspace.as_ref().map(|it| Arc::clone(it.lasting())),
                    expires_after: self.expires_after,
                    lost: LostActions::default(),
                    reserved: Arc::default(),
                    tenant: self.tenant,
                }),
                apply_obstacle,
                looked: AtomicBool::new(workspace.is_none()),
                workspace,
                machine: self.machine,
                engine,
                limits,
                observer: self.observer,
                approver,
                bindings: RwLock::default(),
                calls: AtomicU64::new(0),
                rehearse: self.rehearse,
                rehearsals: Rehearsals::default(),
                turns: Turns::new(self.tool_choice),
                standing: StandingState::default(),
                told: Mutex::default(),
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

fn open_workspace(path: &Path, machine: Machine) -> Result<Arc<WorkspaceFolder>, Error> {
    let folder = WorkspaceFolder::at(path, machine);
    Ok(Arc::new(
        folder.map_err(|error| Error::workspace(path, &error))?,
    ))
}
