//! Notifies other hosts of changes to a session's stack, and receives their notifications.
//!
//! A notification is not part of the statement that makes the change, because the server would
//! commit only one such transaction at a time. A separate statement follows for all sessions that
//! have changed by then; no caller waits for it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use airlock_model::digest::hex;
use airlock_model::pending::SessionId;
use airlock_model::store::{Watch, Watchers};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Executor, PgPool};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::connections::{Connections, Statement};
use super::{HostId, SessionKey, session_key};

const CHANNEL: &str = "airlock";

/// Notifications need no durable commit.
const NOTIFY: &str =
    "SELECT set_config('synchronous_commit', 'off', true), pg_notify('airlock', payload)
    FROM unnest($1) AS payload";

/// The minimum interval of notifications: at most 200 a second. Changes in between are batched.
const BETWEEN_NOTIFICATIONS: Duration = Duration::from_millis(5);

/// Quiet period after which the connection is checked.
const SILENCE: Duration = Duration::from_secs(20);

/// Pause between attempts to listen.
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// Local watchers, and notifications that are not sent yet.
#[derive(Debug)]
pub struct ChangeNotifier {
    shared: Arc<Shared>,
    connections: Arc<Connections>,
    runtime: Handle,
    stop: CancellationToken,
    telling: AtomicBool,
    listening: AtomicBool,
}

#[derive(Debug)]
struct Shared {
    /// Marks this host's own notifications, which are ignored.
    host: String,
    watchers: Watchers,
    watched: Mutex<HashMap<SessionKey, SessionId>>,
    changed: Mutex<HashSet<SessionKey>>,
    any_changed: Notify,
}

impl ChangeNotifier {
    pub fn new(connections: Arc<Connections>, host: &HostId, stop: CancellationToken) -> Self {
        let shared = Shared {
            host: hex(&host[..8]),
            watchers: Watchers::default(),
            watched: Mutex::default(),
            changed: Mutex::default(),
            any_changed: Notify::new(),
        };
        Self {
            shared: Arc::new(shared),
            connections,
            runtime: Handle::current(),
            stop,
            telling: AtomicBool::new(false),
            listening: AtomicBool::new(false),
        }
    }

    /// Announces that this host changed the session's stack.
    pub fn tell(&self, session: &SessionId) {
        self.shared.watchers.notify(session);
        lock(&self.shared.changed).insert(session_key(session));
        self.shared.any_changed.notify_one();
        if !self.telling.swap(true, Ordering::AcqRel) {
            let shared = Arc::clone(&self.shared);
            let (connections, stop) = (Arc::clone(&self.connections), self.stop.clone());
            self.runtime.spawn(async move {
                stop.run_until_cancelled(keep_telling(&shared, &connections))
                    .await;
            });
        }
    }

    pub fn watch(&self, session: &SessionId) -> Watch {
        let watch = self.shared.watchers.watch(session);
        self.shared.remember_watched(session);
        if !self.listening.swap(true, Ordering::AcqRel) {
            let shared = Arc::clone(&self.shared);
            let (options, stop) = (self.connections.options().clone(), self.stop.clone());
            self.runtime.spawn(async move {
                stop.run_until_cancelled(keep_listening(&shared, options))
                    .await;
            });
        }
        watch
    }
}

impl Shared {
    fn remember_watched(&self, session: &SessionId) {
        let mut watched = lock(&self.watched);
        // Remove unwatched sessions only when the map is full, so that the amortized cost is low.
        if watched.len() == watched.capacity() {
            watched.retain(|_, session| self.watchers.watches(session));
        }
        watched.insert(session_key(session), session.clone());
    }

    /// Handles a notification. `payload` is the host's mark and the session's key.
    fn hear(&self, payload: &str) {
        let Some((host, key)) = payload.split_once(':') else {
            return;
        };
        if host == self.host {
            return;
        }
        let session = key_of_hex(key).and_then(|key| lock(&self.watched).get(&key).cloned());
        if let Some(session) = session {
            self.watchers.notify(&session);
        }
    }

    fn take_payloads(&self) -> Vec<String> {
        let keys = std::mem::take(&mut *lock(&self.changed));
        keys.iter()
            .map(|key| format!("{}:{}", self.host, hex(key)))
            .collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key_of_hex(text: &str) -> Option<SessionKey> {
    let mut key = SessionKey::default();
    if text.len() != 2 * key.len() || !text.is_ascii() {
        return None;
    }
    for (index, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(key)
}

async fn keep_telling(shared: &Shared, connections: &Connections) {
    loop {
        shared.any_changed.notified().await;
        let payloads = shared.take_payloads();
        if payloads.is_empty() {
            continue;
        }
        if let Err(error) = connections
            .rows(&Statement::new(NOTIFY).bind(payloads))
            .await
        {
            tracing::warn!("could not notify other hosts of changed stacks: {error:?}");
        }
        sleep(BETWEEN_NOTIFICATIONS).await;
    }
}

async fn keep_listening(shared: &Shared, options: PgConnectOptions) {
    // sqlx's listener requires a pool.
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_lazy_with(options);
    loop {
        if let Err(error) = listen(shared, &pool).await {
            tracing::debug!("not receiving other hosts' changes: {error}");
        }
        sleep(BETWEEN_TRIES).await;
    }
}

/// Listens until the connection fails.
async fn listen(shared: &Shared, pool: &PgPool) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    // Changes before this point were not received.
    shared.watchers.notify_all();
    loop {
        match timeout(SILENCE, listener.try_recv()).await {
            Ok(Ok(Some(notification))) => shared.hear(notification.payload()),
            Ok(Ok(None)) => return Err(sqlx::Error::PoolClosed),
            Ok(Err(error)) => return Err(error),
            // A silently broken connection looks like a quiet one.
            Err(_) => match timeout(SILENCE, listener.execute("SELECT 1")).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(sqlx::Error::PoolTimedOut),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_from_its_text_and_nothing_else_does() {
        let key = session_key(&SessionId::from("one"));
        assert_eq!(key_of_hex(&hex(&key)), Some(key));
        for text in ["", "00", "é000000000000000000000000000000", &"g".repeat(32)] {
            assert_eq!(key_of_hex(text), None, "{text}");
        }
    }
}
