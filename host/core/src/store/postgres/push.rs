//! Putting an action on a stack: one statement, which holds the capacity and gives the action its place.

use sqlx::Row;

use super::connections::Statement;
use super::problem::Failure;
use super::record::nanos_of_time;
use super::text::escaped;
use super::{HostId, Inner, session_key};
use crate::store::kept::bytes_of_path;
use crate::store::{Push, StoreError};

/// The row of the session is made or locked, the action put behind it.
macro_rules! push_onto {
    ($before:literal, $from:literal) => {
        concat!(
            "WITH ",
            $before,
            "stack AS (
                INSERT INTO airlock.sessions AS s (key, id, open, top) SELECT $1, $2, 1, 1 ",
            $from,
            " WHERE $3 > 0
                ON CONFLICT (key) DO UPDATE SET open = s.open + 1, top = s.top + 1 WHERE s.open < $3
                RETURNING top
            ), pushed AS (
                INSERT INTO airlock.actions (session, session_id, position, id, label, source_tool_name, details, has_reject,
                    durable, plugin, grants, workspace, pushed_at, guest_state, owner)
                SELECT $1, $2, stack.top, $5, $6, $7, $8, $9, $10, $4, $11, $12, $13, $14, $15 FROM stack
                RETURNING 1
            )"
        )
    };
}

/// Nearly always the plugin has pushed before.
const PUSH: &str = concat!(
    push_onto!(
        "known AS MATERIALIZED (SELECT 1 FROM airlock.plugins WHERE digest = $4), ",
        "FROM known"
    ),
    " SELECT EXISTS (SELECT FROM pushed) AS pushed, EXISTS (SELECT FROM known) AS known"
);

const PUSH_WITH_PLUGIN: &str = concat!(
    push_onto!("", ""),
    ", kept AS (
        INSERT INTO airlock.plugins (digest, name, bytes) SELECT $4, $16, $17 FROM stack ON CONFLICT (digest) DO NOTHING
    )
    SELECT EXISTS (SELECT FROM pushed) AS pushed, true AS known"
);

/// Whether a push that had no answer took effect.
const RECALL: &str =
    "SELECT true AS pushed, true AS known FROM airlock.actions WHERE id = $1 AND session = $2";

impl Inner {
    pub async fn push(&self, push: &Push<'_>) -> Result<(), StoreError> {
        if !push.action.durable {
            self.heart.beat().await.map_err(|error| self.error(error))?;
        }
        let key = session_key(push.session);
        let recall = Statement::new(RECALL)
            .bind(escaped(push.action.id.as_str()))
            .bind(key);
        let known = Statement::new(PUSH);
        let known = bind(known, push, &self.host).map_err(|error| self.error(error))?;
        match self.try_push(&known, &recall).await? {
            Answer::Pushed => return Ok(()),
            Answer::Full => return Err(full(push)),
            Answer::UnknownPlugin => {}
        }
        let with_plugin = Statement::new(PUSH_WITH_PLUGIN);
        let with_plugin = bind(with_plugin, push, &self.host)
            .map_err(|error| self.error(error))?
            .bind(escaped(&push.plugin.name))
            .bind(&push.plugin.bytes[..]);
        match self.try_push(&with_plugin, &recall).await? {
            Answer::Pushed => Ok(()),
            Answer::Full | Answer::UnknownPlugin => Err(full(push)),
        }
    }

    async fn try_push(
        &self,
        statement: &Statement,
        recall: &Statement,
    ) -> Result<Answer, StoreError> {
        let rows = self.connections.once(statement, recall).await;
        let rows = rows.map_err(|error| self.error(error))?;
        let flag = |name: &str| {
            rows.first()
                .and_then(|row| row.try_get::<bool, _>(name).ok())
                .unwrap_or_default()
        };
        Ok(match (flag("pushed"), flag("known")) {
            (true, _) => Answer::Pushed,
            (false, true) => Answer::Full,
            (false, false) => Answer::UnknownPlugin,
        })
    }
}

enum Answer {
    Pushed,
    Full,
    UnknownPlugin,
}

fn full(push: &Push<'_>) -> StoreError {
    StoreError::Full {
        capacity: push.capacity,
    }
}

fn bind(statement: Statement, push: &Push<'_>, host: &HostId) -> Result<Statement, Failure> {
    let action = &push.action;
    let unwritable = |error: serde_json::Error| sqlx::Error::InvalidArgument(error.to_string());
    let details = action.details.as_ref().map(serde_json::to_string);
    let details = details.transpose().map_err(unwritable)?;
    let grants = serde_json::to_string(&action.grants).map_err(unwritable)?;
    let statement = statement
        .bind(session_key(push.session))
        .bind(escaped(push.session.as_str()))
        .bind(i64::try_from(push.capacity).unwrap_or(i64::MAX))
        .bind(push.plugin.digest.to_string())
        .bind(escaped(action.id.as_str()))
        .bind(escaped(&action.label))
        .bind(escaped(&action.source_tool_name))
        .bind(details)
        .bind(action.has_reject)
        .bind(action.durable)
        .bind(grants)
        .bind(action.workspace.as_deref().map(bytes_of_path))
        .bind(nanos_of_time(action.pushed_at))
        .bind(push.guest_state.as_deref())
        .bind((!action.durable).then_some(host.as_slice()));
    Ok(statement)
}
