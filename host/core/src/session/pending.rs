//! What is on a session's stack.

use std::sync::atomic::Ordering;

use airlock_model::error::Error;
use airlock_model::pending::{ActionId, BriefAction, StackedAction};
use airlock_model::store::{PendingStore, StoreError};

use super::Session;

impl Session {
    /// All pending actions, topmost first. Who looks for the first time since the session was
    /// opened has what was cut off before found out about, as by [`recover`](Self::recover).
    ///
    /// # Errors
    /// [`Error::Store`] where the store can't be read. Without a store there are none.
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

    /// The same in brief, for what is asked before each turn. The first look is in full, since
    /// what was cut off may be pending no more.
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

    /// Whether anything is pending: asked of the stack each time.
    ///
    /// # Errors
    /// [`Error::Store`] where the store can't be read.
    pub async fn has_pending(&self) -> Result<bool, Error> {
        match &self.inner.context.store {
            Some(store) => Ok(store.peek(self.id()).await?.is_some()),
            None => Ok(false),
        }
    }

    /// Ends when the stack of pending actions changes, through this session or another, or in
    /// another process that shares the store. What counts is any change after this function was
    /// *called*, so that none is missed between a look and the wait:
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
    /// May return spuriously. Without a store it never returns.
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

    /// The action of this id, or the topmost one, where it is on the stack.
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
