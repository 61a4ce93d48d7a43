//! Opening a session.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, RwLock};
use std::time::SystemTime;

use airlock_model::error::Error;
use airlock_model::event::{Event, EventSource, Observer};
use airlock_model::identity::Machine;
use airlock_model::limits::Limits;
use airlock_model::pending::SessionId;
use airlock_model::policy::Policy;
use airlock_model::steering::ToolChoicePolicy;
use airlock_model::store::{MemoryStore, PendingStore};
use airlock_model::tool::RejectedTool;

use super::standing::StandingState;
use super::turns::Turns;
use super::{Session, SessionInner};
use crate::engine::Engine;
use crate::lost::LostActions;
use crate::plugin::Plugin;
use crate::producer::Origin;
use crate::producer::native::NativeProducer;
use crate::pushing::SessionContext;
use crate::workspace::WorkspaceFolder;

/// Builder for a [`Session`].
#[derive(Default)]
pub struct SessionBuilder {
    id: Option<SessionId>,
    workspace: Option<PathBuf>,
    machine: Option<Machine>,
    store: Store,
    limits: Option<Arc<Limits>>,
    observer: Option<Observer>,
    origins: Vec<(Origin, Policy)>,
    engine: Option<Engine>,
    tool_choice: ToolChoicePolicy,
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

    /// The engine for plugins that earlier sessions left in the store. Default: the first plugin's.
    pub fn engine(mut self, engine: &Engine) -> Self {
        self.engine = Some(engine.clone());
        self
    }

    /// When the model is forced to decide about what is pending, see [`Session::next_turn`]. Default:
    /// after a turn that did not decide.
    pub fn tool_choice(mut self, policy: ToolChoicePolicy) -> Self {
        self.tool_choice = policy;
        self
    }

    /// Binds a plugin under the default policy.
    pub fn plugin(self, plugin: &Plugin) -> Self {
        self.plugin_with(plugin, Policy::default())
    }

    /// Binds a plugin under a policy of its own.
    pub fn plugin_with(mut self, plugin: &Plugin, policy: Policy) -> Self {
        self.origins.push((Origin::Plugin(plugin.clone()), policy));
        self
    }

    /// Binds a producer that is part of the host, under the default policy. Its tools stand beside
    /// those of plugins, in the order in which all are bound.
    pub fn producer(self, producer: &NativeProducer) -> Self {
        self.producer_with(producer, Policy::default())
    }

    /// Binds such a producer under a policy of its own.
    pub fn producer_with(mut self, producer: &NativeProducer, policy: Policy) -> Self {
        self.origins
            .push((Origin::Native(producer.clone()), policy));
        self
    }

    /// Opens the session. Tools that are left out for their name are left out silently: see
    /// [`SessionBuilder::open_with_report`].
    ///
    /// # Errors
    /// [`Error::Workspace`] where the workspace is not there, is no directory, or leaves no place
    /// for a scratch directory.
    pub fn open(self) -> Result<Session, Error> {
        Ok(self.open_with_report()?.0)
    }

    /// Opens the session, and returns the tools that were left out.
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn open_with_report(self) -> Result<(Session, Vec<RejectedTool>), Error> {
        let workspace = match self.workspace {
            Some(path) => {
                let machine = self.machine.as_ref().unwrap_or_else(|| Machine::this());
                Some(Arc::new(open_workspace(&path, machine.clone())?))
            }
            None => None,
        };
        let engine = self.engine.or_else(|| {
            let mut origins = self.origins.iter();
            origins.find_map(|(origin, _)| match origin {
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
                    lost: LostActions::default(),
                    descriptors: Arc::default(),
                }),
                workspace,
                machine: self.machine,
                engine,
                limits,
                observer: self.observer,
                bindings: RwLock::default(),
                calls: AtomicU64::new(0),
                turns: Turns::new(self.tool_choice),
                standing: StandingState::default(),
            }),
        };
        let mut rejected = Vec::new();
        for (origin, policy) in self.origins {
            rejected.extend(session.bind_origin(&origin, policy)?);
        }
        Ok((session, rejected))
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

fn open_workspace(path: &Path, machine: Machine) -> Result<WorkspaceFolder, Error> {
    WorkspaceFolder::at(path, machine).map_err(|error| Error::Workspace {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}
