//! Serving over HTTP: the protocol's *Streamable HTTP*, at [`PATH`].
//!
//! Each token of the server belongs to a principal. A principal has conversations, each with its
//! own stack. No other principal can see or resolve what is pending there. Use a proxy for
//! transport encryption.

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

/// The path of the protocol's endpoint.
pub const PATH: &str = "/mcp";

/// The path that answers `ok` without a token while the server is up.
pub const HEALTH: &str = "/healthz";

/// The path of the metrics. It needs a token: see [`Tokens::may_read_metrics`].
pub const METRICS: &str = "/metrics";

/// The time for which an unused conversation is kept: one hour. Its pending actions stay, to be
/// resolved in a terminal.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// The interval between two searches for idle conversations.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The time to wait for a call that continues after its conversation has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// The time that subscriptions may take to end before all unanswered requests are cut off.
const SUBSCRIPTION_GRACE: Duration = Duration::from_secs(1);

/// The operator's side of a server over HTTP: opens, rebinds and ends sessions.
#[async_trait]
pub trait Sessions: Send + Sync + 'static {
    /// Opens the session of a conversation. Without one, opens a session that only lists tools;
    /// none of them is called.
    ///
    /// # Errors
    /// Those of [`Server::open`].
    fn open(&self, conversation: Option<&Conversation<'_>>) -> Result<Server, ServeError>;

    /// Gives an open session the tools that it would have if it were opened now, by
    /// [`Server::rebind`].
    ///
    /// # Errors
    /// Those of [`Server::rebind`].
    fn rebind(&self, server: &Server) -> Result<bool, ServeError>;

    /// Returns the number of live plugin instances, for the [metrics](METRICS). Default: `None`,
    /// which omits the metric.
    fn live_instances(&self) -> Option<usize> {
        None
    }

    /// Ends a conversation. Actions that its tools only keep in memory can't be applied any more.
    async fn end(&self, server: &Server);
}

/// A conversation for which a session is being opened.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Conversation<'a> {
    /// Its name: letters, digits, `-`, `_` and `.`, starting with the name of its principal.
    pub name: &'a str,
    /// Its principal. Pass it to [`SessionBuilder::tenant`](airlock_host::SessionBuilder::tenant),
    /// so that no principal uses up the resources of the others.
    pub tenant: &'a Tenant,
}

/// The limits of a server over HTTP, and the hosts and origins it accepts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The names, with or without a port, that clients may send as `Host`. Loopback names and the
    /// address that the server listens on are always allowed.
    pub hosts: Vec<String>,
    /// The origins of web pages that may call the server, such as `https://app.example.com:443`.
    /// Pages of all other origins are refused. The origin of the address that the server listens on
    /// is always allowed, because it serves no pages.
    pub origins: Vec<String>,
    /// The most open connections. More connections wait, and the oldest one without a token is
    /// closed to make room. If there are several principals, none may have more than three
    /// quarters.
    pub max_connections: usize,
    /// The largest body of a request, in bytes.
    pub max_body: usize,
    /// The most requests of a principal per second, which is also the largest burst.
    pub requests_per_second: NonZeroU32,
    /// The most conversations of a principal, in addition to its default one.
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
    /// Returns a server for clients with one of the tokens. The caller binds the address and passes
    /// a listener to [`HttpServer::serve`].
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

    /// Returns the server that lists what all conversations share.
    pub fn listing(&self) -> &Server {
        self.conversations.listing()
    }

    /// Gives each conversation the tools that it would have if it were opened now. From before this
    /// call on, [`Sessions::open`] must give new conversations the same tools. Notifies clients if
    /// the list of tools has changed, and returns whether it has.
    ///
    /// # Errors
    /// Those of [`Sessions::rebind`], for the list. If a conversation keeps its old tools, that is
    /// logged.
    pub fn rebind(&self) -> Result<bool, ServeError> {
        for server in self.conversations.all() {
            if let Err(error) = self.sessions.rebind(&server) {
                tracing::warn!("a conversation keeps the tools that it had: {error}");
            }
        }
        self.sessions.rebind(self.listing())
    }

    /// Serves clients until `stop` is cancelled, then waits for the calls under way and ends all
    /// conversations. A commit that has begun is finished.
    pub async fn serve(&self, listener: TcpListener, stop: &CancellationToken) {
        self.serving(listener, stop).await
    }

    /// Returns the future of `serve`, boxed so that it is compiled in this crate and not in every
    /// crate that awaits it.
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
            let mut sweeping = interval(SWEEP_INTERVAL);
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
            let is_over =
                has_subscriptions && timeout(SUBSCRIPTION_GRACE, &mut accepting).await.is_ok();
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
    if timeout(DRAIN_TIMEOUT, server.idle()).await.is_err() {
        tracing::warn!("a call goes on after its conversation has ended");
    }
    sessions.end(&server).await;
}
