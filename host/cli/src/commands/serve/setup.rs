//! What all conversations of a server have in common.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use airlock_desk::approval::Judge;
use airlock_desk::discard;
use airlock_desk::plugin::Loaded;
use airlock_desk::store::Store;
use airlock_host::pending::SessionId;
use airlock_host::{Engine, Policy, Session, SessionBuilder};
use airlock_serve::http::Sessions;
use airlock_serve::{ServeError, Server};
use async_trait::async_trait;

use super::{Request, failure};
use crate::failure::Failure;
use crate::rules;

/// Why a preview is discarded that its tool keeps in memory only.
const REASON: &str =
    "undecided when `airlock serve` ended, and the tool keeps its preview only in memory";

/// The same of one conversation of several.
const REASON_OF_ONE: &str =
    "undecided when its conversation ended, and the tool keeps its preview only in memory";

/// What is served, for whom and under which rules. Clones are the same.
#[derive(Clone)]
pub struct Setup {
    pub request: Arc<Request>,
    loaded: Arc<[Loaded]>,
    engine: Engine,
    store: Arc<Store>,
    workspace: PathBuf,
    judge: Judge,
}

impl Setup {
    /// # Errors
    /// Where something is wrong in the configuration.
    pub fn new(
        request: Request,
        loaded: Vec<Loaded>,
        engine: Engine,
        store: Store,
    ) -> Result<Self, Failure> {
        let workspace = airlock_desk::session::real_path(request.session.workspace());
        let judge = rules::judge(Some(&workspace), &store)?;
        Ok(Self {
            request: Arc::new(request),
            loaded: loaded.into(),
            engine,
            store: Arc::new(store),
            workspace,
            judge,
        })
    }

    /// The server of the only conversation. It has a stack of its own, unless it was given a name.
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
        self.open_session(id, others.len()).map_err(failure)
    }

    /// Discards what of it can't be applied any more.
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

    fn open_session(&self, id: SessionId, others: usize) -> Result<Server, ServeError> {
        let request = &self.request;
        let session = Session::builder()
            .id(id)
            .workspace(&self.workspace)
            .store(self.store.pending())
            .limits(request.limits.clone())
            .engine(&self.engine);
        let session = match request.expires {
            Some(time) => session.pending_expires_after(time),
            None => session,
        };
        let choice = self.store.choice().clone();
        // A model is told of it, whose shell may be anywhere.
        let command = move |words: &[&str]| choice.command_anywhere(words);
        Server::open(
            self.bind(session),
            request.decides,
            self.judge.clone(),
            others,
            command,
        )
    }

    fn bind(&self, session: SessionBuilder) -> SessionBuilder {
        let mut policy = Policy::default();
        if let Some(rehearse) = self.request.rehearse {
            policy = policy.with_rehearse(rehearse);
        }
        for grant in &self.request.grants {
            policy = grant.add_to(policy);
        }
        let loaded = self.loaded.iter();
        loaded.fold(session, |session, it| it.bind_to(session, policy.clone()))
    }
}

#[async_trait]
impl Sessions for Setup {
    /// What is pending of others is not told of: they may be other principals'.
    fn open(&self, conversation: Option<&str>) -> Result<Server, ServeError> {
        let of_workspace = self.request.session.id(&self.store);
        let id = match conversation {
            Some(name) => SessionId::from(format!("{of_workspace}#{name}")),
            None => SessionId::generate(SystemTime::now()),
        };
        self.open_session(id, 0)
    }

    async fn end(&self, server: &Server) {
        if let Err(error) = self.discard_volatile(server, REASON_OF_ONE).await {
            tracing::warn!("what a conversation left behind could not be discarded: {error}");
        }
    }
}
