//! The actions on a session's stack.

use std::sync::atomic::Ordering;

use airlock_model::error::Error;
use airlock_model::pending::{ActionId, BriefAction, StackedAction};
use airlock_model::store::{PendingStore, StoreError};

use super::Session;

impl Session {
    /// Returns all pending actions, topmost first. The first call on a session also recovers
    /// interrupted applies, like [`recover`](Self::recover).
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be read. Without a store, the list is empty.
    pub async fn pending(&self) -> Result<Vec<StackedAction>, Error> {
        let listed = self.listed().await?;
        if !self.inner.looked.swap(true, Ordering::Relaxed)
            && Box::pin(self.recover_listed(&listed)).await
        {
            return self.listed().await;
        }
        Ok(listed)
    }

    pub(super) async fn listed(&self) -> Result<Vec<StackedAction>, Error> {
        match &self.inner.context.store {
            Some(store) => {
                let mut stack = store.list(self.id()).await?;
                let lost = &self.inner.context.lost;
                lost.mark(&mut stack, |it| &it.action.id, |it| &mut it.state);
                Ok(stack)
            }
            None => Ok(Vec::new()),
        }
    }

    /// Returns the pending actions in brief, for the query before each turn. The first call lists
    /// them in full, because recovery may resolve some.
    pub(super) async fn pending_briefly(&self) -> Result<Vec<BriefAction>, Error> {
        if !self.inner.looked.load(Ordering::Relaxed) {
            self.pending().await?;
        }
        match &self.inner.context.store {
            Some(store) => {
                let mut stack = store.list_briefly(self.id()).await?;
                let lost = &self.inner.context.lost;
                lost.mark(&mut stack, BriefAction::id, |it| &mut it.state);
                Ok(stack)
            }
            None => Ok(Vec::new()),
        }
    }

    /// Returns whether anything is pending. Each call queries the stack.
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be read.
    pub async fn has_pending(&self) -> Result<bool, Error> {
        match &self.inner.context.store {
            Some(store) => Ok(store.peek(self.id()).await?.is_some()),
            None => Ok(false),
        }
    }

    /// Waits for a change of the stack of pending actions, by this session, another one, or another
    /// process that shares the store. It counts changes from the moment this function is *called*,
    /// so that you don't miss one between listing and waiting:
    ///
    /// ```no_run
    /// # async fn example(session: airlock_host::Session) -> Result<(), airlock_host::Error> {
    /// loop {
    ///     let changed = session.pending_changed();
    ///     println!("{} pending", session.pending().await?.len());
    ///     changed.await;
    /// }
    /// # }
    /// ```
    ///
    /// May return spuriously. Without a store, it never returns.
    pub fn pending_changed(&self) -> impl Future<Output = ()> + Send + use<> {
        let watch = self.inner.context.store.as_ref();
        let watch = watch.map(|store| store.watch(self.id()));
        async move {
            match watch {
                Some(mut watch) => watch.changed().await,
                None => std::future::pending().await,
            }
        }
    }

    /// Returns the action with this id, or the topmost one, if it is on the stack.
    pub(super) async fn stacked(
        &self,
        store: &dyn PendingStore,
        id: Option<&ActionId>,
    ) -> Result<Option<StackedAction>, StoreError> {
        match id {
            Some(id) => store.peek_at(self.id(), id).await,
            None => store.peek(self.id()).await,
        }
    }
}
