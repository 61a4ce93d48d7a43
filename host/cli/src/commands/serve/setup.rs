//! The shared setup of a server's conversations.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use airlock_desk::approval::Judge;
use airlock_desk::configuration::{Given, Grant, Settings};
use airlock_desk::discard;
use airlock_desk::store::Store;
use airlock_host::pending::SessionId;
use airlock_host::policy::ProducerWithPolicy;
use airlock_host::{Engine, Session, Tenant, UndoRetention};
use airlock_serve::http::{Conversation, Sessions};
use airlock_serve::{ServeError, Server};
use async_trait::async_trait;

use super::plugins::{self, Served};
use super::{Request, failure};
use crate::bundled::CATALOG;
use crate::commands::context::undo_retention;
use crate::failure::Failure;
use crate::rules;

/// The reason for discarding a preview that exists only in its tool's memory.
const REASON: &str =
    "undecided when `airlock serve` ended, and the tool keeps its preview only in memory";

/// The reason for discarding such a preview when one of several conversations ends.
const REASON_OF_ONE: &str =
    "undecided when its conversation ended, and the tool keeps its preview only in memory";

/// The served plugins, the arguments and the rules. Clones share state.
#[derive(Clone)]
pub struct Setup {
    pub request: Arc<Request>,
    offered: Arc<RwLock<Offered>>,
    engine: Engine,
    store: Arc<Store>,
    workspace: PathBuf,
    judge: Judge,
    undo: UndoRetention,
}

/// The served plugins and what they may do, which change together.
#[derive(Clone)]
struct Offered {
    served: Arc<[Served]>,
    grants: Arc<[Grant]>,
}

impl Setup {
    /// Reads the configuration.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn new(
        request: Request,
        served: Vec<Served>,
        engine: Engine,
        store: Store,
    ) -> Result<Self, Failure> {
        let workspace = airlock_desk::session::real_path(request.session.workspace());
        let judge = rules::judge(Some(&workspace), &store)?;
        Ok(Self {
            offered: Arc::new(RwLock::new(Offered {
                served: served.into(),
                grants: request.grants.clone().into(),
            })),
            request: Arc::new(request),
            engine,
            undo: undo_retention(&store)?,
            store: Arc::new(store),
            workspace,
            judge,
        })
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Reloads the plugins, their grants and the rules, for everything that is opened or
    /// [rebound](Setup::rebind) from now on. Pending actions keep the grants that they had. Returns
    /// the number of plugins.
    ///
    /// # Errors
    /// If the configuration is invalid. Nothing has changed then.
    pub async fn read_anew(&self) -> Result<usize, Failure> {
        let given = Given {
            workspace: Some(self.workspace.clone()),
            plugins: self.request.given_plugins.clone(),
            grant: self.request.given_grant.clone(),
            ..Given::default()
        };
        let settings = Settings::read(&self.store.choice().config().anew(), &given, CATALOG);
        let settings = settings.map_err(airlock_desk::Error::from)?;
        let rules = rules::of(&settings, &self.workspace, &self.store);
        let named = settings.plugins.value;
        let before = self.offered().served;
        let served = plugins::load_again(&named, &settings.locks, &self.engine, &before).await?;
        let count = served.len();
        self.judge.replace_rules(rules);
        let mut held = self.offered.write().unwrap_or_else(PoisonError::into_inner);
        *held = Offered {
            served: served.into(),
            grants: settings.grants.value.into(),
        };
        Ok(count)
    }

    /// Gives an open conversation the tools that it would have if it were opened now. Returns
    /// whether that changed its list of tools.
    ///
    /// # Errors
    /// Those of [`Server::rebind`].
    pub fn rebind(&self, server: &Server) -> Result<bool, ServeError> {
        server.rebind(self.producers())
    }

    /// Opens the server of the only conversation. It has its own stack, unless the session is
    /// named.
    ///
    /// # Errors
    /// If the session can't be opened, or the store can't be read.
    pub async fn open_alone(&self) -> Result<Server, Failure> {
        let of_workspace = self.request.session.id(&self.store);
        let id = match &self.request.session.session {
            Some(_) => of_workspace,
            None => {
                let own = SessionId::generate(SystemTime::now());
                SessionId::from(format!("{of_workspace}#{own}"))
            }
        };
        let mut others = airlock_desk::session::open_at(&self.workspace, &self.store).await?;
        others.retain(|record| record.session != id);
        self.open_session(id, others.len(), &Tenant::new())
            .map_err(failure)
    }

    /// Discards the conversation's actions that can't be applied any more.
    ///
    /// # Errors
    /// If the store can't be used.
    pub async fn end(&self, server: &Server) -> Result<(), Failure> {
        Ok(self.discard_volatile(server, REASON).await?)
    }

    async fn discard_volatile(
        &self,
        server: &Server,
        reason: &str,
    ) -> Result<(), airlock_host::Error> {
        let pending = server.session().pending().await?;
        let pending: Vec<_> = pending.iter().map(|it| it.action.clone()).collect();
        discard::discard_volatile(server.session(), &self.store, &pending, reason).await?;
        Ok(())
    }

    fn open_session(
        &self,
        id: SessionId,
        others: usize,
        tenant: &Tenant,
    ) -> Result<Server, ServeError> {
        let request = &self.request;
        let session = Session::builder()
            .id(id)
            .workspace(&self.workspace)
            .tenant(tenant)
            .limits(request.limits.clone())
            .undo_retention(Some(self.undo))
            .engine(&self.engine);
        let session = match request.expires {
            Some(time) => session.pending_expires_after(time),
            None => session,
        };
        let producers = self.producers();
        let server = Server::open(
            (producers.into_iter()).fold(session, |session, it| session.bind(it)),
            request.decides,
            self.judge.clone(),
            others,
            &self.store,
        )?;
        let server = server.skip_while_pending(request.skip_while_pending);
        Ok(match request.answer_within {
            Some(patience) => server.answered_within(patience),
            None => server,
        })
    }

    fn producers(&self) -> Vec<ProducerWithPolicy> {
        let Offered { served, grants } = self.offered();
        let under = served.iter().map(|it| {
            let policy = Grant::policy(&grants, &it.loaded, &it.named);
            it.loaded.under(match self.request.rehearse {
                Some(rehearse) => policy.with_rehearse(rehearse),
                None => policy,
            })
        });
        under.collect()
    }

    fn offered(&self) -> Offered {
        let held = self.offered.read().unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }
}

#[async_trait]
impl Sessions for Setup {
    /// Opens a conversation. It learns nothing of other pending actions, because they may belong to
    /// other principals.
    fn open(&self, conversation: Option<&Conversation<'_>>) -> Result<Server, ServeError> {
        let of_workspace = self.request.session.id(&self.store);
        let id = match conversation {
            Some(Conversation { name, .. }) => SessionId::from(format!("{of_workspace}#{name}")),
            None => SessionId::generate(SystemTime::now()),
        };
        let tenant = conversation.map(|it| it.tenant.clone());
        self.open_session(id, 0, &tenant.unwrap_or_default())
    }

    fn rebind(&self, server: &Server) -> Result<bool, ServeError> {
        Setup::rebind(self, server)
    }

    fn live_instances(&self) -> Option<usize> {
        Some(self.engine.live_instances())
    }

    async fn end(&self, server: &Server) {
        if let Err(error) = self.discard_volatile(server, REASON_OF_ONE).await {
            tracing::warn!("could not discard a conversation's volatile actions: {error}");
        }
    }
}
