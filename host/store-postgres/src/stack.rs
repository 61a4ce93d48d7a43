//! The stacks of sessions.

use std::sync::Arc;

use airlock_model::pending::{ActionId, BriefAction, CallId, SessionId, StackedAction};
use airlock_model::store::{Push, Replacement, SessionRoom, Stacks, Standing, StoreError, Watch};
use async_trait::async_trait;

use super::connections::Statement;
use super::record::{action_columns, brief, name_columns, state_columns};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStore, finished, session_key};

const LOWEST_OF_CALL: &str = concat!(
    "SELECT ",
    action_columns!(),
    ", ",
    state_columns!(),
    " FROM airlock.actions AS a
    WHERE a.call = $1 AND a.session = $2 AND a.open AND (a.state = 'pending' OR a.lease_until <= clock_timestamp()) AND ",
    same_schema!(),
    " ORDER BY a.position LIMIT 1"
);

const LIST_BRIEFLY: &str = concat!(
    "SELECT ",
    name_columns!(),
    ", ",
    state_columns!(),
    " FROM airlock.actions AS a
    WHERE a.session = $1 AND a.open AND (a.state = 'pending' OR a.lease_until <= clock_timestamp()) AND ",
    same_schema!(),
    " ORDER BY a.position DESC"
);

/// Clears the owner. No host has an empty name, so the owner counts as gone.
const LOSE: &str = concat!(
    "UPDATE airlock.actions SET owner = ''::bytea
    WHERE id = ANY($1) AND session = $2 AND open AND NOT durable AND ",
    same_schema!()
);

#[async_trait]
impl Stacks for PostgresStore {
    async fn push(&self, push: Push) -> Result<(), StoreError> {
        let (inner, push) = (Arc::clone(&self.inner), Arc::new(push));
        let pushed = Arc::clone(&push);
        let pushing = async move {
            let done = inner.push(&pushed).await;
            // If the server did not respond, it may still have pushed the actions.
            if let Err(StoreError::Backend(_)) = &done {
                inner.unpush_later(Arc::clone(&pushed));
            }
            done
        };
        let inner = Arc::clone(&self.inner);
        let unheard = Arc::clone(&push);
        let take_back = move || inner.unpush_later(unheard);
        finished::or_undone(&self.inner.runtime, pushing, take_back).await?;
        self.inner.notifier.tell(&push.session);
        Ok(())
    }

    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        let session = push.session.clone();
        let inner = Arc::clone(&self.inner);
        let replacing = async move { inner.replace(&push, &replacement).await };
        // A replacement can't be undone, but watchers must look again.
        let (inner, of) = (Arc::clone(&self.inner), session.clone());
        let unheard = move || inner.notifier.tell(&of);
        let replaced = finished::or_undone(&self.inner.runtime, replacing, unheard).await?;
        if !replaced.is_empty() {
            self.inner.notifier.tell(&session);
            self.inner.maintain_if_due();
        }
        Ok(replaced)
    }

    async fn room(&self, session: &SessionId, more: u64) -> Result<SessionRoom, StoreError> {
        Ok(SessionRoom {
            store_bytes_left: self.inner.check_store_room(more).await?,
            held: self.inner.room(session).await?,
        })
    }

    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError> {
        let top = self.inner.list(session, Some(1)).await?.pop();
        match top {
            Some(top) => Ok(Some(top)),
            // Either there is none, or it is unreadable.
            None => Ok(self.inner.list(session, None).await?.into_iter().next()),
        }
    }

    async fn standing(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Standing, StoreError> {
        match self.inner.peek_at(session, action).await? {
            Some(_) => Ok(Standing::Pending),
            None => self.inner.unless_pending(session, action).await,
        }
    }

    async fn peek_at(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<StackedAction>, StoreError> {
        self.inner.peek_at(session, action).await
    }

    async fn lowest_of_call(
        &self,
        session: &SessionId,
        call: &CallId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let find = Statement::new(LOWEST_OF_CALL)
            .bind(escaped(call.as_str()))
            .bind(session_key(session));
        Ok(self.inner.stacked(&find).await?.pop())
    }

    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError> {
        self.inner.list(session, None).await
    }

    async fn list_briefly(&self, session: &SessionId) -> Result<Vec<BriefAction>, StoreError> {
        // If the topmost one is unreadable, or has changed between the two statements, all actions
        // are read in full.
        let statement = Statement::new(LIST_BRIEFLY).bind(session_key(session));
        let topmost = self.inner.list(session, Some(1));
        let (rows, top) = tokio::try_join!(self.inner.read(&statement), topmost)?;
        let listed = rows.iter().map(|row| brief(row, &self.inner.host));
        let listed = self.inner.readable(&rows, listed)?;
        let top = top.first().map(|top| &top.action.id);
        if listed.first().map(BriefAction::id) == top {
            return Ok(listed);
        }
        let in_full = self.inner.list(session, None).await?;
        Ok(in_full.into_iter().map(BriefAction::from).collect())
    }

    fn lose(&self, session: &SessionId, actions: &[ActionId]) {
        let inner = Arc::clone(&self.inner);
        let session = session.clone();
        let ids: Vec<String> = actions
            .iter()
            .map(|id| escaped(id.as_str()).into_owned())
            .collect();
        let lose = Statement::new(LOSE).bind(ids).bind(session_key(&session));
        self.inner.runtime.spawn(async move {
            match inner.read(&lose).await {
                Ok(_) => inner.notifier.tell(&session),
                Err(error) => tracing::warn!(
                    "volatile actions were lost, and others see them as pending until this host ends: {error}"
                ),
            }
        });
    }

    fn watch(&self, session: &SessionId) -> Watch {
        self.inner.notifier.watch(session)
    }
}
