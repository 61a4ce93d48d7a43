//! Notifying waiters that a session's stack has changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::pending::SessionId;

/// The watches on each session, for stores. Clones share their watches.
#[derive(Debug, Clone, Default)]
pub struct Watchers {
    sessions: Arc<Mutex<HashMap<SessionId, watch::Sender<()>>>>,
}

impl Watchers {
    /// Starts to watch one session.
    pub fn watch(&self, session: &SessionId) -> Watch {
        let mut sessions = self.lock();
        let sender = sessions.entry(session.clone()).or_default();
        Watch {
            receiver: sender.subscribe(),
            session: session.clone(),
            watchers: self.clone(),
        }
    }

    /// Returns true if there is any watch.
    pub fn any(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Returns true if there is a watch on this session.
    pub fn watches(&self, session: &SessionId) -> bool {
        self.lock().contains_key(session)
    }

    /// Notifies the session's watches that its stack has changed.
    pub fn notify(&self, session: &SessionId) {
        if let Some(sender) = self.lock().get(session) {
            sender.send_replace(());
        }
    }

    /// Notifies all watches that any stack may have changed.
    pub fn notify_all(&self) {
        for sender in self.lock().values() {
            sender.send_replace(());
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, watch::Sender<()>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A watch on one session's stack.
#[derive(Debug)]
pub struct Watch {
    receiver: watch::Receiver<()>,
    session: SessionId,
    watchers: Watchers,
}

impl Watch {
    /// Waits until the stack has changed since the last time, or since the watch began. May return
    /// spuriously.
    pub async fn changed(&mut self) {
        // The sender lives as long as there is a watch.
        let _ = self.receiver.changed().await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut sessions = self.watchers.lock();
        // The receiver of this watch still counts.
        if sessions
            .get(&self.session)
            .is_some_and(|sender| sender.receiver_count() <= 1)
        {
            sessions.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_watch_hears_of_its_session_alone_and_is_forgotten_when_dropped() {
        let watchers = Watchers::default();
        let (one, other) = (SessionId::from("one"), SessionId::from("other"));
        let mut watch = watchers.watch(&one);
        let second = watchers.watch(&one);
        watchers.notify(&other);
        assert!(!watch.receiver.has_changed().unwrap());
        watchers.notify(&one);
        watch.changed().await;
        assert!(!watch.receiver.has_changed().unwrap());
        watchers.notify_all();
        watch.changed().await;
        drop(second);
        assert!(watchers.watches(&one));
        watchers.notify(&one);
        watch.changed().await;
        drop(watch);
        assert!(!watchers.any() && !watchers.watches(&one));
        assert!(watchers.lock().is_empty());
    }
}
