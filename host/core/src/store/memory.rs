//! The store for a host that need not outlive its process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::{Claim, Claimed, Lease, PendingStore, StoreError};
use crate::pending::{ActionId, Decision, PendingAction, Resolution, SessionId, StackedAction};

/// How many resolved actions of a session are remembered, to answer for an `id` that was resolved before.
const REMEMBERED: usize = 1024;

/// Keeps pending actions in this process's memory. Cheap to clone; clones share their stacks.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    sessions: Arc<Mutex<HashMap<SessionId, Stack>>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Frees what the store holds of a session, pending actions and the memory of resolved ones alike.
    pub fn forget(&self, session: &SessionId) {
        self.with(|sessions| sessions.remove(session));
    }

    fn with<R>(&self, body: impl FnOnce(&mut HashMap<SessionId, Stack>) -> R) -> R {
        // The stacks are consistent between any two statements that can panic, so a poisoned lock is still good.
        body(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn end_claim(
        &self,
        lease: Lease,
        end: impl FnOnce(&mut Stack, Resolving),
    ) -> Result<(), StoreError> {
        self.with(|sessions| {
            let stack = sessions.get_mut(&lease.session);
            match stack.and_then(|stack| Some((stack.take_resolving(&lease)?, stack))) {
                Some((resolving, stack)) => {
                    end(stack, resolving);
                    Ok(())
                }
                None => Err(StoreError::LeaseLost(lease.action)),
            }
        })
    }
}

#[derive(Debug, Default)]
struct Stack {
    /// Topmost last.
    pending: Vec<StackedAction>,
    resolving: Vec<Resolving>,
    /// Oldest first. Searched only for an id that is not pending, which is rare.
    resolved: VecDeque<(ActionId, Decision)>,
    last_token: u64,
}

#[derive(Debug)]
struct Resolving {
    stacked: StackedAction,
    decision: Decision,
    token: u64,
}

impl Stack {
    fn claim(&mut self, session: &SessionId, resolution: &Resolution) -> Claim {
        let mut stacked = match &resolution.id {
            None => match self.pending.pop() {
                Some(stacked) => stacked,
                None => return Claim::NothingPending,
            },
            Some(id) => match self.pending.iter().rposition(|it| it.action.id == *id) {
                Some(position) => self.pending.remove(position),
                None => return self.answer_for(id),
            },
        };
        let attempt = stacked.attempts + 1;
        if resolution.decision == Decision::Apply {
            stacked.attempts = attempt;
        }
        self.last_token += 1;
        let claimed = Claimed {
            action: Arc::clone(&stacked.action),
            attempt,
            lease: Lease {
                session: session.clone(),
                action: stacked.action.id.clone(),
                token: self.last_token,
            },
        };
        self.resolving.push(Resolving {
            stacked,
            decision: resolution.decision,
            token: self.last_token,
        });
        Claim::Claimed(claimed)
    }

    fn answer_for(&self, id: &ActionId) -> Claim {
        if self.resolving.iter().any(|it| it.stacked.action.id == *id) {
            return Claim::InProgress(id.clone());
        }
        match self.resolved.iter().find(|(resolved, _)| resolved == id) {
            Some((_, decision)) => Claim::Resolved(id.clone(), *decision),
            None => Claim::Unknown(id.clone()),
        }
    }

    fn take_resolving(&mut self, lease: &Lease) -> Option<Resolving> {
        let position = self
            .resolving
            .iter()
            .position(|it| it.token == lease.token)?;
        Some(self.resolving.swap_remove(position))
    }

    fn remember(&mut self, id: ActionId, decision: Decision) {
        if self.resolved.len() == REMEMBERED {
            self.resolved.pop_front();
        }
        self.resolved.push_back((id, decision));
    }
}

#[async_trait]
impl PendingStore for MemoryStore {
    async fn push(
        &self,
        session: &SessionId,
        action: Arc<PendingAction>,
        capacity: usize,
    ) -> Result<(), StoreError> {
        self.with(|sessions| {
            let stack = match sessions.get_mut(session) {
                Some(stack) => stack,
                None => sessions.entry(session.clone()).or_default(),
            };
            if stack.pending.len() + stack.resolving.len() >= capacity {
                return Err(StoreError::Full { capacity });
            }
            stack.pending.push(StackedAction {
                action,
                attempts: 0,
                last_error: None,
            });
            Ok(())
        })
    }

    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError> {
        Ok(self.with(|sessions| sessions.get(session)?.pending.last().cloned()))
    }

    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError> {
        Ok(self.with(|sessions| match sessions.get(session) {
            Some(stack) => stack.pending.iter().rev().cloned().collect(),
            None => Vec::new(),
        }))
    }

    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
    ) -> Result<Claim, StoreError> {
        Ok(self.with(
            |sessions| match (sessions.get_mut(session), &resolution.id) {
                (Some(stack), _) => stack.claim(session, resolution),
                (None, Some(id)) => Claim::Unknown(id.clone()),
                (None, None) => Claim::NothingPending,
            },
        ))
    }

    async fn complete(&self, lease: Lease) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, resolving| {
            stack.remember(resolving.stacked.action.id.clone(), resolving.decision);
        })
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        self.end_claim(lease, |stack, resolving| {
            stack.pending.push(StackedAction {
                last_error: Some(failure.to_owned()),
                ..resolving.stacked
            });
        })
    }

    fn abandon(&self, lease: Lease) {
        // Where the claim is gone already there is nothing to put back.
        let _ = self.end_claim(lease, |stack, resolving| {
            stack.pending.push(StackedAction {
                last_error: Some("the host stopped in the middle of it".to_owned()),
                ..resolving.stacked
            });
        });
    }
}
