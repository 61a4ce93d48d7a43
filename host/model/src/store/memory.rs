//! The in-memory store, whose contents are lost when its process ends.

mod effects;
mod spending;
mod stack;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use foldhash::quality::RandomState;
use spending::Accounts;
use stack::{Open, Stack};

use super::rows::lose_claim;
use super::{
    BackendErrorKind, Budget, Claim, Completion, Lease, PendingStore, Push, Replacement,
    SessionRoom, Spending, Spent, Standing, StoreError, Watch, Watchers,
};
use crate::actor::DecidedBy;
use crate::call_record::CallRecord;
use crate::denial::{Denial, DenialRecord};
use crate::effects::{EffectsRecord, PackedEffects};
use crate::pending::{
    ActionId, BriefAction, CallId, Decision, Interruption, Resolution, SessionId, StackedAction,
};

/// The number of resolved actions per session that are remembered, to answer for their ids.
const REMEMBERED: usize = 1024;

/// The stacks, by session. The default hasher would be a large part of a push's cost. Ids are
/// chosen by the embedder, and this hasher is seeded.
type Sessions = HashMap<SessionId, Stack, RandomState>;

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

    fn with<R>(&self, body: impl FnOnce(&mut Sessions) -> R) -> R {
        // The stacks are consistent between any two statements that can panic, so a poisoned lock
        // is still good.
        body(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_claim(
        &self,
        lease: Lease,
        end: impl FnOnce(&mut Stack, usize, Decision),
    ) -> Result<(), StoreError> {
        let ended = self.with(|sessions| {
            let stack = sessions.get_mut(&lease.session)?;
            let (position, decision) = stack.claimed(&lease)?;
            end(stack, position, decision);
            Some(())
        });
        match ended {
            Some(()) => {
                self.watchers.notify(&lease.session);
                Ok(())
            }
            None => Err(StoreError::LeaseLost(lease.action)),
        }
    }
}

#[async_trait]
impl PendingStore for MemoryStore {
    async fn push(&self, push: Push) -> Result<(), StoreError> {
        let more = push.room();
        let bytes: Vec<u64> = push.bytes().collect();
        let session = push.session;
        let call = push.call.map(Arc::new);
        self.with(|sessions| {
            let stack = match sessions.get_mut(&session) {
                Some(stack) => stack,
                None => sessions.entry(session.clone()).or_default(),
            };
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
        Ok(self.with(|sessions| {
            let mut open = sessions.get(session)?.open.iter();
            let found = open.find(|open| open.action.id == *action)?;
            found.is_pending().then(|| found.stacked())
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

    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        _: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        let claim = self.with(
            |sessions| match (sessions.get_mut(session), &resolution.id) {
                (Some(stack), _) => stack.claim(session, resolution),
                (None, Some(id)) => Claim::Unknown(id.clone()),
                (None, None) => Claim::NothingPending,
            },
        );
        if matches!(claim, Claim::Claimed(_)) {
            self.watchers.notify(session);
        }
        Ok(claim)
    }

    async fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        let held = self.with(|sessions| sessions.get(&lease.session)?.claimed(lease));
        match held {
            Some(_) => Ok(()),
            None => Err(StoreError::LeaseLost(lease.action.clone())),
        }
    }

    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, position, decision| {
            let decision = match completion {
                Completion::AppliedBefore { .. } => Decision::Apply,
                Completion::Succeeded(_) | Completion::RejectFailed(_) => decision,
            };
            let open = stack.open.remove(position);
            stack.bytes -= open.bytes;
            stack.remember(open.action.id.clone(), decision);
        })
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, position, _| {
            let open = stack.open.remove(position);
            stack.open.push(Open {
                last_error: Some(failure.to_owned()),
                interruption: Interruption::None,
                claim: None,
                ..open
            });
        })
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, position, decision| {
            stack.open[position].unclaim(decision);
        })
    }

    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, position, decision| {
            let open = &mut stack.open[position];
            open.unclaim(decision);
            open.interruption = Interruption::None;
            open.last_error = Some(what.to_owned());
        })
    }

    fn abandon(&self, lease: Lease) {
        // If the claim is gone already, there is nothing to put back.
        let _ = self.end_claim(lease, |stack, position, decision| {
            let open = &mut stack.open[position];
            open.claim = None;
            lose_claim(decision, &mut open.interruption, &mut open.last_error);
        });
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

    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        let packed = self.with(|sessions| {
            let mut open = sessions.get(session)?.open.iter();
            open.find(|open| open.action.id == *action)?.call.clone()
        });
        let record = packed.map(|packed| packed.unpack()).transpose();
        record.map_err(damaged)
    }

    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        let record = Arc::new(effects.unpack().map_err(damaged)?);
        let bytes = effects.bytes();
        self.with(|sessions| {
            let Some(stack) = sessions.get_mut(session) else {
                return Ok(());
            };
            stack.keep_effects(action, record, bytes, capacity_bytes)
        })?;
        self.watchers.notify(session);
        Ok(())
    }

    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError> {
        Ok(self.with(|sessions| {
            let mut open = sessions.get(session)?.open.iter();
            let found = open.find(|open| open.action.id == *action)?;
            found.effects.as_deref().cloned()
        }))
    }

    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.with(|sessions| {
            let mut open = sessions.get(session)?.open.iter();
            let found = open.find(|open| open.action.id == *action)?;
            found.guest_state.clone()
        }))
    }

    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError> {
        self.with(|sessions| {
            let open = &mut sessions.get_mut(session)?.open;
            let found = open.iter_mut().find(|open| open.action.id == *action)?;
            found.deny(denial);
            Some(())
        });
        Ok(())
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        let denials = self.with(|sessions| {
            let mut open = sessions.get(session)?.open.iter();
            let found = open.find(|open| open.action.id == *action)?;
            Some(found.denials.iter().cloned().collect())
        });
        Ok(denials.unwrap_or_default())
    }

    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError> {
        let mut accounts = self.accounts();
        Ok(accounts.spend(account, action, spending, budget, Instant::now()))
    }

    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError> {
        let accounts = self.accounts();
        Ok(accounts.spent(account, within, Instant::now()))
    }

    fn watch(&self, session: &SessionId) -> Watch {
        self.watchers.watch(session)
    }
}

fn damaged(error: std::io::Error) -> StoreError {
    StoreError::backend(BackendErrorKind::Damaged, "in memory", error.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::actor::Actor;
    use crate::digest::Digest;
    use crate::pending::PendingAction;
    use crate::policy::Policy;
    use crate::store::PluginBytes;

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
