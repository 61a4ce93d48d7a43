//! Clients hear of it when the list of tools has changed.
//!
//! Nothing queues up for a client that reads slowly: it hears once of all that has changed since it
//! last heard, and keeps nobody else from hearing.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use rmcp::transport::Transport;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What there is to hear of. Clones are the same.
#[derive(Clone, Default)]
pub struct Changes {
    list: watch::Sender<()>,
    /// Whether subscriptions end. Each holds a receiver.
    has_ended: watch::Sender<bool>,
}

impl Changes {
    /// The list of tools has changed.
    pub fn tell(&self) {
        self.list.send_replace(());
    }

    /// Has each subscription end as the protocol wants it, with an answer. Says whether there were
    /// any.
    pub fn end(&self) -> bool {
        self.has_ended.send_replace(true);
        self.has_ended.receiver_count() > 0
    }
}

/// What one client has heard, and how it hears more.
pub struct Hearing {
    changes: Changes,
    /// Has seen what the client knows: the list as it was when the client last asked for it.
    known: Mutex<watch::Receiver<()>>,
    /// Tells a client that needn't subscribe. It ends with the client's connection, which has this.
    telling: Mutex<JoinSet<()>>,
}

impl Hearing {
    pub fn new(changes: &Changes) -> Self {
        Self {
            changes: changes.clone(),
            known: Mutex::new(changes.list.subscribe()),
            telling: Mutex::default(),
        }
    }

    /// The client is about to get the list as it is.
    pub fn lists(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.mark_unchanged();
    }

    /// Tells the client of each change from here on, if it isn't told yet.
    pub fn begin(&self, peer: Peer<RoleServer>) {
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        if !telling.is_empty() {
            return;
        }
        let mut known = self.known();
        telling.spawn(async move {
            while known.changed().await.is_ok() {
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    /// Tells the client within its subscription, until that ends.
    pub async fn subscribe(&self, subscription: &SubscriptionContext) {
        let mut has_ended = self.changes.has_ended.subscribe();
        let mut known = self.known();
        let telling = async {
            if subscription.accepted().tools_list_changed != Some(true) {
                return std::future::pending().await;
            }
            while known.changed().await.is_ok() {
                if subscription
                    .sink()
                    .notify_tool_list_changed()
                    .await
                    .is_err()
                {
                    return;
                }
            }
        };
        tokio::select! {
            () = subscription.cancelled() => {}
            _ = has_ended.wait_for(|it| *it) => {}
            () = telling => {}
        }
    }

    fn known(&self) -> watch::Receiver<()> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }
}

/// A connection whose subscriptions end when its client says nothing more. Calls that are under way
/// then are still answered, for which whoever serves it waits.
pub struct Ending<T> {
    transport: T,
    changes: Changes,
}

impl<T> Ending<T> {
    pub fn new(transport: T, changes: &Changes) -> Self {
        let changes = changes.clone();
        Self { transport, changes }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Ending<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let received = self.transport.receive().await;
        if received.is_none() {
            self.changes.end();
        }
        received
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
