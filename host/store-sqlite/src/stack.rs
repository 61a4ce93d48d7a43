//! The stacks of sessions. The functions run in transactions.

use std::sync::Arc;

use airlock_model::digest::Digest;
use airlock_model::pending::{
    ActionId, ActionState, BriefAction, CallId, Decision, SessionId, StackedAction,
};
use airlock_model::store::{Push, Replacement, SessionRoom, Stacks, Standing, StoreError, Watch};
use async_trait::async_trait;
use rusqlite::Connection;

use super::problem::Problem;
use super::rows::{ActionRow, select_all};
use super::writer::Undo;
use super::{SqliteStore, capacity, listing, push, replace};

/// The condition for open actions. It is written as in the index `open_actions`; otherwise SQLite
/// would not use that.
///
/// Write bound values next to it as `+?`. Without the plus, SQLite plans the statement again for
/// each value, to check whether the value implies the index's condition.
pub(super) const OPEN: &str = "a.resolved IS NULL";

#[async_trait]
impl Stacks for SqliteStore {
    async fn push(&self, push: Push) -> Result<(), StoreError> {
        let push = Arc::new(push);
        let pushing = {
            let mut pushing = self.inner.pushing();
            pushing.insert(push.plugin.digest);
            pushing.clone()
        };
        let hosts = Arc::clone(&self.inner.hosts);
        let (pushed, unheard) = (Arc::clone(&push), Arc::clone(&push));
        let watchers = self.inner.watchers.clone();
        let work = move |connection: &_| push::put_on_top(connection, &hosts, &pushed, &pushing);
        let undo = move |()| {
            Some(Box::new(move |connection: &_| {
                push::unpush(connection, &unheard)?;
                watchers.notify(&unheard.session);
                Ok(())
            }) as Undo)
        };
        self.inner.writer.write_or_undo(work, undo).await?;
        self.inner.watchers.notify(&push.session);
        Ok(())
    }

    async fn replace(
        &self,
        push: Push,
        replacement: Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        let session = push.session.clone();
        let hosts = Arc::clone(&self.inner.hosts);
        let pushing = {
            let mut pushing = self.inner.pushing();
            if !push.actions.is_empty() {
                pushing.insert(push.plugin.digest);
            }
            pushing.clone()
        };
        let work = move |connection: &_| {
            let replaced = replace::replace(connection, &hosts, &push, &replacement, &pushing)?;
            for plugin in &replaced.plugins {
                if !pushing.contains(plugin) {
                    forget_plugin(connection, plugin)?;
                }
            }
            Ok((replaced.actions, capacity::is_loose(connection)?))
        };
        // A replacement can't be undone, but watchers must look again.
        let (watchers, of) = (self.inner.watchers.clone(), session.clone());
        let unheard = move |_| {
            watchers.notify(&of);
            None::<Undo>
        };
        let (replaced, is_loose) = self.inner.writer.write_or_undo(work, unheard).await?;
        if !replaced.is_empty() {
            self.inner.watchers.notify(&session);
        }
        if is_loose {
            self.give_pages_back();
        }
        self.prune_sometimes();
        Ok(replaced)
    }

    async fn room(&self, session: &SessionId, more: u64) -> Result<SessionRoom, StoreError> {
        let session = session.clone();
        self.read(move |connection| push::room(connection, &session, more))
            .await
    }

    async fn peek(&self, session: &SessionId) -> Result<Option<StackedAction>, StoreError> {
        let session = session.clone();
        let top = self.read(move |connection| listing::stack(connection, &session, 1));
        Ok(top.await?.pop())
    }

    async fn standing(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Standing, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        self.read(move |connection| standing(connection, &session, &action))
            .await
    }

    async fn peek_at(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let (session, action) = (session.clone(), action.clone());
        self.read(move |connection| listing::stacked(connection, &session, &action))
            .await
    }

    async fn lowest_of_call(
        &self,
        session: &SessionId,
        call: &CallId,
    ) -> Result<Option<StackedAction>, StoreError> {
        let (session, call) = (session.clone(), call.clone());
        self.read(move |connection| listing::lowest_of_call(connection, &session, &call))
            .await
    }

    async fn list(&self, session: &SessionId) -> Result<Vec<StackedAction>, StoreError> {
        let session = session.clone();
        self.read(move |connection| listing::stack(connection, &session, usize::MAX))
            .await
    }

    async fn list_briefly(&self, session: &SessionId) -> Result<Vec<BriefAction>, StoreError> {
        let session = session.clone();
        self.read(move |connection| listing::stack_briefly(connection, &session))
            .await
    }

    fn lose(&self, session: &SessionId, actions: &[ActionId]) {
        let watchers = self.inner.watchers.clone();
        let (session, actions) = (session.clone(), actions.to_vec());
        self.inner.writer.write_later(move |connection| {
            lose(connection, &session, &actions)?;
            // This notification precedes the commit; the file watcher notifies again.
            watchers.notify(&session);
            Ok(())
        });
    }

    fn watch(&self, session: &SessionId) -> Watch {
        let watch = self.inner.watchers.watch(session);
        self.inner.file_watcher.start(&self.inner);
        watch
    }
}

/// Deletes a plugin that no open action needs. Returns whether it was deleted.
pub(super) fn forget_plugin(connection: &Connection, plugin: &Digest) -> Result<bool, Problem> {
    let delete = format!(
        "DELETE FROM plugins WHERE digest = ?1
            AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.plugin = +?1 AND {OPEN})"
    );
    let forgotten = connection
        .prepare_cached(&delete)?
        .execute([plugin.as_bytes()])?;
    Ok(forgotten > 0)
}

pub(super) fn by_id(connection: &Connection, id: &ActionId) -> Result<Option<ActionRow>, Problem> {
    let mut only = None;
    select_all(connection, "WHERE a.id = ?", [id.as_str()], |found| {
        only = Some(found);
        false
    })?;
    only.transpose().map_err(Problem::Unreadable)
}

fn standing(
    connection: &Connection,
    session: &SessionId,
    id: &ActionId,
) -> Result<Standing, Problem> {
    let found = by_id(connection, id)?.filter(|found| found.session == *session);
    Ok(found.map_or(Standing::Unknown, |found| standing_of(&found)))
}

pub(super) fn standing_of(found: &ActionRow) -> Standing {
    match found.stored.state {
        ActionState::Applied => Standing::Resolved(Decision::Apply),
        ActionState::Discarded => Standing::Resolved(Decision::Discard),
        _ if found.is_pending() => Standing::Pending,
        _ => Standing::InProgress,
    }
}

/// Marks an action as lost, because its owner is gone.
fn lose(connection: &Connection, session: &SessionId, actions: &[ActionId]) -> Result<(), Problem> {
    let update = "UPDATE actions SET owner = NULL WHERE id = ? AND session = ? AND NOT durable";
    let mut update = connection.prepare_cached(update)?;
    for action in actions {
        update.execute([action.as_str(), session.as_str()])?;
    }
    Ok(())
}

pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<String, Problem> {
    serde_json::to_string(value)
        .map_err(|error| Problem::BadRow(format!("a value can't be written as JSON: {error}")))
}
