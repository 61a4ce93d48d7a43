//! Serving over HTTP: the protocol's *Streamable HTTP*, at [`PATH`].
//!
//! Who has a token of the server is a principal of it, and has conversations, each with a stack of
//! its own; no other principal can see or resolve what is pending there. Transport encryption is a
//! proxy's.

mod accept;
mod batch;
mod bodies;
mod connections;
mod conversations;
mod gate;
mod resuming;
mod tokens;
mod visit;
mod visitors;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use airlock_host::Tenant;
use airlock_host::cancel::CancellationToken;
use async_trait::async_trait;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

use crate::metrics::Metrics;
use crate::server::{ServeError, Server};
use conversations::Conversations;
use gate::Gate;

pub(crate) use conversations::NoConversation;
pub use tokens::{Access, Principal, TokenError, Tokens};
pub(crate) use visit::Visit;

/// Where the protocol is spoken.
pub const PATH: &str = "/mcp";

/// The path that answers `ok` without a token while the server is up.
pub const HEALTH: &str = "/healthz";

/// The path of the metrics. It needs a token: see [`Tokens::may_read_metrics`].
pub const METRICS: &str = "/metrics";

/// How long a conversation is kept that nobody uses. What is pending there stays pending, and is
/// decided at a terminal then.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// How often idle ones are looked for.
const SWEPT_EVERY: Duration = Duration::from_secs(60);

/// How long a call is waited for that goes on after its conversation has ended.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long subscriptions may take to end, before all else that is not answered yet is cut off.
const GRACE: Duration = Duration::from_secs(1);

/// What a server over HTTP has of its operator.
#[async_trait]
pub trait Sessions: Send + Sync + 'static {
    /// Opens the session of a conversation, or, without one, a session to list its tools, of which
    /// nothing is called.
    ///
    /// # Errors
    /// Those of [`Server::open`].
    fn open(&self, conversation: Option<&Conversation<'_>>) -> Result<Server, ServeError>;

    /// Gives one that is open the tools that it would have if it were opened now, by
    /// [`Server::rebind`].
    ///
    /// # Errors
    /// Those of [`Server::rebind`].
    fn rebind(&self, server: &Server) -> Result<bool, ServeError>;

    /// How many instances of plugins are live, for the [metrics](METRICS). Default: that is not
    /// known, and the metric is left out.
    fn live_instances(&self) -> Option<usize> {
        None
    }

    /// Ends a conversation: what its tools keep in memory only can't be applied any more.
    async fn end(&self, server: &Server);
}

/// A conversation that is about to have a session.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Conversation<'a> {
    /// Its name: letters, digits, `-`, `_` and `.`, with its principal's name at the start.
    pub name: &'a str,
    /// Its principal, to be given to
    /// [`SessionBuilder::tenant`](airlock_host::SessionBuilder::tenant), so that no principal uses
    /// up what others need.
    pub tenant: &'a Tenant,
}

/// What a server over HTTP lets in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The names, with or without a port, by which clients may call the server: what they send as
    /// `Host`. Loopback's are always among them, and the address that is listened on.
    pub hosts: Vec<String>,
    /// The origins, such as `https://app.example.com:443`, of web pages that may call it. Pages of
    /// all others are refused. The origin of the address that is listened on, where no page is,
    /// is always among them.
    pub origins: Vec<String>,
    /// How many connections may be open. More wait, and the oldest without a token is closed for
    /// them. If there are several principals, none may have more than three quarters.
    pub max_connections: usize,
    /// How many bytes the body of a request may have.
    pub max_body: usize,
    /// How many requests a principal may send in a second, and at once.
    pub requests_per_second: NonZeroU32,
    /// How many conversations a principal may have, beside its own.
    pub max_conversations: usize,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            max_connections: 4096,
            max_body: 4 << 20,
            requests_per_second: const { NonZeroU32::new(1000).unwrap() },
            max_conversations: 4096,
        }
    }
}

/// A server over HTTP, with a session for each conversation.
pub struct HttpServer {
    gate: Arc<Gate>,
    conversations: Arc<Conversations>,
    ended: Mutex<mpsc::UnboundedReceiver<Server>>,
    sessions: Arc<dyn Sessions>,
    max_connections: usize,
    stop: CancellationToken,
}

impl HttpServer {
    /// A server for whoever has one of the tokens, which listens on an address of the caller's.
    ///
    /// # Errors
    /// [`ServeError::Randomness`], and those of [`Sessions::open`].
    pub fn new(
        sessions: impl Sessions,
        tokens: Tokens,
        settings: &HttpSettings,
        listens_on: SocketAddr,
    ) -> Result<Self, ServeError> {
        let sessions: Arc<dyn Sessions> = Arc::new(sessions);
        let (ending, ended) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        let (metrics, most) = (Metrics::default(), settings.max_conversations);
        let conversations = Conversations::new(&sessions, &metrics, most, ending)?;
        let conversations = Arc::new(conversations);
        let gate = Gate::new(tokens, settings, listens_on, &conversations, metrics, &stop);
        Ok(Self {
            gate: Arc::new(gate),
            conversations,
            ended: Mutex::new(ended),
            sessions,
            max_connections: settings.max_connections,
            stop,
        })
    }

    /// The server that lists what all conversations have.
    pub fn listing(&self) -> &Server {
        self.conversations.listing()
    }

    /// Gives each conversation the tools that it would have if it were opened now; from before on,
    /// [`Sessions::open`] has to give new ones those tools. Then clients hear of it where the list
    /// of tools has changed: says whether it has.
    ///
    /// # Errors
    /// Those of [`Sessions::rebind`], for the list. A conversation that keeps what it had is
    /// logged.
    pub fn rebind(&self) -> Result<bool, ServeError> {
        for server in self.conversations.all() {
            if let Err(error) = self.sessions.rebind(&server) {
                tracing::warn!("a conversation keeps the tools that it had: {error}");
            }
        }
        self.sessions.rebind(self.listing())
    }

    /// Serves clients until `stop` is cancelled; then waits until no call is under way, and ends
    /// all conversations. A commit that has begun is finished.
    pub async fn serve(&self, listener: TcpListener, stop: &CancellationToken) {
        self.serving(listener, stop).await
    }

    /// Boxed, so that it is compiled here, and not by whoever awaits it.
    fn serving<'a>(
        &'a self,
        listener: TcpListener,
        stop: &'a CancellationToken,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let mut ended = self.ended.lock().await;
            let closing = CancellationToken::new();
            let accepting = connections::accept(
                listener,
                self.max_connections,
                Arc::clone(&self.gate),
                closing.clone(),
            );
            let mut accepting = tokio::spawn(accepting);
            let mut sweeping = interval(SWEPT_EVERY);
            let mut ending = JoinSet::new();
            loop {
                tokio::select! {
                    () = stop.cancelled() => break,
                    Some(server) = ended.recv() => {
                        ending.spawn(end(Arc::clone(&self.sessions), server));
                    }
                    Some(_) = ending.join_next() => {}
                    _ = sweeping.tick() => self.conversations.end_idle(IDLE),
                }
            }
            closing.cancel();
            let has_subscriptions = self.listing().changes().end();
            let is_over = has_subscriptions && timeout(GRACE, &mut accepting).await.is_ok();
            self.stop.cancel();
            if !is_over {
                let _ = accepting.await;
            }
            self.conversations.end_all();
            while let Ok(server) = ended.try_recv() {
                ending.spawn(end(Arc::clone(&self.sessions), server));
            }
            ending.join_all().await;
        })
    }
}

async fn end(sessions: Arc<dyn Sessions>, server: Server) {
    if timeout(PATIENCE, server.idle()).await.is_err() {
        tracing::warn!("a call goes on after its conversation has ended");
    }
    sessions.end(&server).await;
}
