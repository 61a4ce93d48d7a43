//! The in-memory store, whose contents are lost when its process ends.

mod claims;
mod denials;
mod records;
mod spending;
mod stack;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use spending::Accounts;
use stack::{Open, Stack};

use super::{Push, Replacement, SessionRoom, Stacks, Standing, StoreError, Watch, Watchers};
use crate::pending::{ActionId, BriefAction, CallId, SessionId, StackedAction};

/// The number of resolved actions per session that are remembered, to answer for their ids.
const REMEMBERED: usize = 1024;

/// The stacks, by session.
type Sessions = HashMap<SessionId, Stack>;

/// A store in this process's memory, without plugins. Cheap to clone; clones share their stacks.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    sessions: Arc<Mutex<Sessions>>,
    accounts: Arc<Mutex<Accounts>>,
    watchers: Watchers,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Frees everything that the store holds of a session, including the memory of resolved
    /// actions.
    pub fn forget(&self, session: &SessionId) {
        self.with(|sessions| sessions.remove(session));
        self.watchers.notify(session);
    }

    /// Returns a property of an open action.
    fn of_open<R>(
        &self,
        session: &SessionId,
        action: &ActionId,
        property: impl FnOnce(&mut Open) -> Option<R>,
    ) -> Option<R> {
        self.with(|sessions| {
            let mut open = sessions.get_mut(session)?.open.iter_mut();
            property(open.find(|open| open.action.id == *action)?)
        })
    }

    fn with<R>(&self, body: impl FnOnce(&mut Sessions) -> R) -> R {
        // The stacks are consistent between any two statements that can panic, so a poisoned lock
        // is still good.
        body(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Stacks for MemoryStore {
    async fn push(&self, push: Push) -> Result<(), StoreError> {
        let more = push.room();
        let bytes: Vec<u64> = push.bytes().collect();
        let session = push.session;
        let call = push.call.map(Arc::new);
        self.with(|sessions| {
            let stack = sessions.entry(session.clone()).or_default();
            stack
                .room()
                .check(more, push.capacity, push.capacity_bytes)?;
            stack.bytes += more.bytes;
            let pushed = push.actions.into_iter().zip(bytes);
            let pushed = pushed.map(|(pushed, bytes)| Open::new(pushed, bytes, call.clone()));
            stack.open.extend(pushed);
            Ok::<_, StoreError>(())
        })?;
        self.watchers.notify(&session);
        Ok(())
    }

    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        let session = push.session.clone();
        let replaced = self.with(|sessions| match sessions.get_mut(&session) {
            Some(stack) => stack.replace(push, &replacement),
            None => Ok(Vec::new()),
        })?;
        if !replaced.is_empty() {
            self.watchers.notify(&session);
        }
        Ok(replaced)
    }

    async fn room(&self, session: &SessionId, _: u64) -> Result<SessionRoom, StoreError> {
        let held = self.with(|sessions| sessions.get(session).map(Stack::room));
        Ok(SessionRoom {
            held: held.unwrap_or_default(),
            store_bytes_left: u64::MAX,
        })
    }

    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError> {
        Ok(self.with(|sessions| {
            let mut open = sessions.get(session)?.open.iter();
            Some(open.rfind(|open| open.is_pending())?.stacked())
        }))
    }

    async fn standing(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Standing, StoreError> {
        Ok(self.with(|sessions| {
            let stack = sessions.get(session);
            stack.map_or(Standing::Unknown, |stack| stack.standing(action))
        }))
    }

    async fn peek_at(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<StackedAction>, StoreError> {
        Ok(self.of_open(session, action, |open| {
            open.is_pending().then(|| open.stacked())
        }))
    }

    async fn lowest_of_call(
        &self,
        session: &SessionId,
        call: &CallId,
    ) -> Result<Option<StackedAction>, StoreError> {
        Ok(self.with(|sessions| {
            let mut open = sessions.get(session)?.open.iter();
            let is_of_call = |it: &&Open| it.action.call.as_ref() == Some(call) && it.is_pending();
            open.find(is_of_call).map(Open::stacked)
        }))
    }

    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError> {
        Ok(self.with(|sessions| match sessions.get(session) {
            Some(stack) => {
                let open = stack.open.iter().rev();
                open.filter(|open| open.is_pending())
                    .map(Open::stacked)
                    .collect()
            }
            None => Vec::new(),
        }))
    }

    async fn list_briefly(&self, session: &SessionId) -> Result<Vec<BriefAction>, StoreError> {
        Ok(self.with(|sessions| match sessions.get(session) {
            Some(stack) => {
                let mut listed = Vec::with_capacity(stack.open.len());
                let open = stack.open.iter().rev();
                listed.extend(open.filter(|open| open.is_pending()).map(Open::brief));
                listed
            }
            None => Vec::new(),
        }))
    }

    fn lose(&self, session: &SessionId, actions: &[ActionId]) {
        self.with(|sessions| {
            let open = sessions.get_mut(session).map(|stack| &mut stack.open);
            for open in open.into_iter().flatten() {
                open.lost |= !open.action.durable && actions.contains(&open.action.id);
            }
        });
        self.watchers.notify(session);
    }

    fn watch(&self, session: &SessionId) -> Watch {
        self.watchers.watch(session)
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::actor::Actor;
    use crate::digest::Digest;
    use crate::pending::{PendingAction, Resolution};
    use crate::policy::Policy;
    use crate::store::{Claim, Claims, Lease, PluginBytes};

    async fn push_and_claim(store: &MemoryStore, session: &SessionId, id: &str) -> Lease {
        let digest = Digest::of(b"");
        let plugin = PluginBytes {
            digest,
            name: "".into(),
            bytes: Vec::new().into(),
        };
        let pushed_at = SystemTime::UNIX_EPOCH;
        let action = PendingAction::new(id, "", digest, "", Policy::default(), pushed_at);
        let push = Push::new(session, action, &plugin).with_capacity(1);
        store.push(push).await.unwrap();
        let apply = Resolution::apply("");
        let claim = store.claim(session, &apply, &Actor::Model.into()).await;
        match claim.unwrap() {
            Claim::Claimed(claimed) => claimed.lease,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_lease_from_before_a_session_was_forgotten_ends_no_later_claim() {
        let (store, session) = (MemoryStore::new(), SessionId::from("forgotten"));
        let before = push_and_claim(&store, &session, "before").await;
        store.forget(&session);
        let later = push_and_claim(&store, &session, "later").await;
        assert_eq!(before.token, later.token);
        let lost = store.requeue(before, "too late").await;
        assert!(matches!(lost, Err(StoreError::LeaseLost(id)) if id.as_str() == "before"));
        store.requeue(later, "in time").await.unwrap();
    }
}
