//! Putting an action on a stack: one statement, which holds the capacity and gives the action its place.

use super::connections::Statement;
use super::problem::Failure;
use super::record::{get, nanos_of_time};
use super::text::escaped;
use super::{HostId, Inner, session_key};
use crate::digest::Digest;
use crate::store::kept::bytes_of_path;
use crate::store::{Push, StoreError};

/// The row of the session is made or locked, the action put behind it. It has a row for an answer where it was pushed.
macro_rules! push_onto {
    ($before:literal, $where:literal) => {
        concat!(
            "WITH stack AS (
                INSERT INTO airlock.sessions AS s (key, id, open, top) SELECT $1, $2, 1, 1 WHERE $3 > 0",
            $where,
            " ON CONFLICT (key) DO UPDATE SET open = s.open + 1, top = s.top + 1 WHERE s.open < $3
                RETURNING top
            )",
            $before,
            " INSERT INTO airlock.actions (session, session_id, position, id, label, source_tool_name, details, has_reject,
                durable, plugin, grants, workspace, pushed_at, guest_state, owner)
            SELECT $1, $2, stack.top, $5, $6, $7, $8, $9, $10, $4, $11, $12, $13, $14, $15 FROM stack
            RETURNING 1"
        )
    };
}

/// Nearly always the plugin has pushed before.
const PUSH: &str = push_onto!(
    "",
    " AND EXISTS (SELECT FROM airlock.plugins WHERE digest = $4)"
);

const PUSH_WITH_PLUGIN: &str = push_onto!(
    ", kept AS (
        INSERT INTO airlock.plugins (digest, name, bytes) SELECT $4, $16, $17 FROM stack ON CONFLICT (digest) DO NOTHING
    )",
    ""
);

const IS_KEPT: &str = "SELECT 1 FROM airlock.plugins WHERE digest = $1";

/// What the session has room for. Its row counts no resolutions, which so need not lock it: where it says that there is no room, what is
/// open is counted. The top tells whether something was pushed since.
const COUNT: &str = "UPDATE airlock.sessions AS s SET open = counted.open
    FROM (
        SELECT top, (SELECT count(*) FROM airlock.actions AS a WHERE a.session = $1 AND a.open) AS open
        FROM airlock.sessions WHERE key = $1
    ) AS counted
    WHERE s.key = $1 AND s.top = counted.top RETURNING s.open";

/// Whether a push that had no answer took effect.
const RECALL: &str = "SELECT 1 FROM airlock.actions WHERE id = $1 AND session = $2";

impl Inner {
    pub async fn push(&self, push: &Push<'_>) -> Result<(), StoreError> {
        if !push.action.durable {
            self.heart.beat().await.map_err(|error| self.error(error))?;
        }
        let key = session_key(push.session);
        let recall = Statement::new(RECALL)
            .bind(escaped(push.action.id.as_str()))
            .bind(key);
        let known = bind(Statement::new(PUSH), push, &self.host);
        let known = known.map_err(|error| self.error(error))?;
        if self.try_push(&known, &recall).await? {
            return Ok(());
        }
        // Either there seems to be no room, or the plugin is not kept.
        while self.has_room(push).await? {
            let pushed = match self.is_kept(push.plugin.digest).await? {
                true => self.try_push(&known, &recall).await?,
                false => {
                    let with_plugin = with_plugin(push, &self.host);
                    let with_plugin = with_plugin.map_err(|error| self.error(error))?;
                    self.try_push(&with_plugin, &recall).await?
                }
            };
            if pushed {
                return Ok(());
            }
        }
        Err(StoreError::Full {
            capacity: push.capacity,
        })
    }

    async fn has_room(&self, push: &Push<'_>) -> Result<bool, StoreError> {
        let count = Statement::new(COUNT).bind(session_key(push.session));
        let rows = self.read(&count).await?;
        // Nothing was ever pushed, or something just now: then another try tells.
        let Some(row) = rows.first() else {
            return Ok(push.capacity > 0);
        };
        let open: i64 = get(row, "open").map_err(|error| self.error(error))?;
        Ok(usize::try_from(open).is_ok_and(|open| open < push.capacity))
    }

    async fn is_kept(&self, plugin: Digest) -> Result<bool, StoreError> {
        let statement = Statement::new(IS_KEPT).bind(plugin.to_string());
        Ok(!self.read(&statement).await?.is_empty())
    }

    async fn try_push(
        &self,
        statement: &Statement,
        recall: &Statement,
    ) -> Result<bool, StoreError> {
        let rows = self.connections.once(statement, recall).await;
        let rows = rows.map_err(|error| self.error(error))?;
        Ok(!rows.is_empty())
    }
}

fn with_plugin(push: &Push<'_>, host: &HostId) -> Result<Statement, Failure> {
    let statement = bind(Statement::new(PUSH_WITH_PLUGIN), push, host)?;
    Ok(statement
        .bind(escaped(&push.plugin.name))
        .bind(&push.plugin.bytes[..]))
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
