//! A session's stack of pending actions, in its store.

use std::sync::Arc;

use airlock_model::error::Error;
use airlock_model::pending::{ActionId, BriefAction, SessionId, StackedAction};
use airlock_model::store::PendingStore;

use crate::pushing::SessionContext;

/// The stack of one session.
pub(super) struct Stack {
    context: Arc<SessionContext>,
}

impl Stack {
    pub fn new(context: Arc<SessionContext>) -> Self {
        Self { context }
    }

    pub fn id(&self) -> &SessionId {
        &self.context.id
    }

    /// # Errors
    /// [`Error::NoStore`].
    pub fn store(&self) -> Result<&PendingStore, Error> {
        self.context.store()
    }

    /// Returns all pending actions, topmost first. Without a store, the list is empty.
    pub async fn list(&self) -> Result<Vec<StackedAction>, Error> {
        let Ok(store) = self.store() else {
            return Ok(Vec::new());
        };
        let mut stack = store.stacks.list(self.id()).await?;
        let lost = &self.context.lost;
        lost.mark(&mut stack, |it| &it.action.id, |it| &mut it.state);
        Ok(stack)
    }

    /// Returns all pending actions in brief, topmost first. Without a store, the list is empty.
    pub async fn list_briefly(&self) -> Result<Vec<BriefAction>, Error> {
        let Ok(store) = self.store() else {
            return Ok(Vec::new());
        };
        let mut stack = store.stacks.list_briefly(self.id()).await?;
        let lost = &self.context.lost;
        lost.mark(&mut stack, BriefAction::id, |it| &mut it.state);
        Ok(stack)
    }

    /// Returns whether anything is pending.
    pub async fn has_pending(&self) -> Result<bool, Error> {
        match self.store() {
            Ok(store) => Ok(store.stacks.peek(self.id()).await?.is_some()),
            Err(_) => Ok(false),
        }
    }

    /// Returns whether this action is pending.
    pub async fn is_pending(&self, id: &ActionId) -> Result<bool, Error> {
        Ok(self.find(Some(id)).await?.is_some())
    }

    /// Returns the action with this id, or the topmost one, if it is on the stack.
    pub async fn find(&self, id: Option<&ActionId>) -> Result<Option<StackedAction>, Error> {
        let stacks = &self.store()?.stacks;
        Ok(match id {
            Some(id) => stacks.peek_at(self.id(), id).await?,
            None => stacks.peek(self.id()).await?,
        })
    }

    /// Returns whether no resolution of the action was tried since it was listed.
    pub async fn waits_as(&self, found: &StackedAction) -> Result<bool, Error> {
        let now = self.find(Some(&found.action.id)).await?;
        Ok(now.is_some_and(|now| (now.state, now.attempts) == (found.state, found.attempts)))
    }

    /// Waits for a change that happens after this function is called. Without a store, it never
    /// returns.
    pub fn changed(&self) -> impl Future<Output = ()> + Send + use<> {
        let watch = self.store().ok().map(|store| store.stacks.watch(self.id()));
        async move {
            match watch {
                Some(mut watch) => watch.changed().await,
                None => std::future::pending().await,
            }
        }
    }
}
