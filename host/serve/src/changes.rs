//! Notifications to clients that the list of tools has changed.
//!
//! Nothing queues up for a slow client: it gets one notification for all changes since the last
//! one, and does not delay other clients.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use rmcp::transport::Transport;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The changes of the list of tools. Clones share state.
#[derive(Clone, Default)]
pub struct Changes {
    list: watch::Sender<()>,
    /// True once subscriptions end. Each subscription holds a receiver.
    has_ended: watch::Sender<bool>,
}

impl Changes {
    /// Announces that the list of tools has changed.
    pub fn tell(&self) {
        self.list.send_replace(());
    }

    /// Ends each subscription with an answer, as the protocol requires. Returns whether there were
    /// any.
    pub fn end(&self) -> bool {
        self.has_ended.send_replace(true);
        self.has_ended.receiver_count() > 0
    }
}

/// The changes that one client has heard of, and the means to notify it of more.
pub struct Hearing {
    changes: Changes,
    /// The list that the client knows: the one it last asked for.
    known: Mutex<watch::Receiver<()>>,
    /// The task that notifies a client that does not have to subscribe. It ends with the client's
    /// connection, which owns this.
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

    /// Records that the client is about to get the current list.
    pub fn lists(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.mark_unchanged();
    }

    /// Notifies the client of each change from now on, unless that has begun already.
    pub fn begin(&self, peer: Peer<RoleServer>) {
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        if !telling.is_empty() {
            return;
        }
        let mut known = self.receiver();
        telling.spawn(async move {
            while known.changed().await.is_ok() {
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    /// Notifies the client within its subscription until the subscription ends.
    pub async fn subscribe(&self, subscription: &SubscriptionContext) {
        let mut has_ended = self.changes.has_ended.subscribe();
        let mut known = self.receiver();
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

    fn receiver(&self) -> watch::Receiver<()> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }
}

/// A connection whose subscriptions end when its client closes its side. The server still waits for
/// the calls under way, and answers them.
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
