//! Putting an action on a stack: one statement, which holds the capacity and gives the action its
//! place.

use airlock_model::digest::Digest;
use airlock_model::json::Json;
use airlock_model::store::rows::bytes_of_path;
use airlock_model::store::{Push, StoreError, pushed_bytes};

use super::connections::Statement;
use super::problem::Failure;
use super::record::{get, nanos_of_time};
use super::text::escaped;
use super::{HostId, PostgresStoreInner, session_key};

/// The row of the session is made or locked, the action put behind it. It has a row for an answer
/// where it was pushed.
macro_rules! push_onto {
    ($before:literal, $where:literal) => {
        concat!(
            "WITH stack AS (
                INSERT INTO airlock.sessions AS s (key, id, open, top, bytes) SELECT $1, $2, 1, 1, $16 WHERE $3 > 0 AND $16 <= $17",
            $where,
            " ON CONFLICT (key) DO UPDATE SET open = s.open + 1, top = s.top + 1, bytes = s.bytes + $16
                    WHERE s.open < $3 AND s.bytes + $16 <= $17
                RETURNING top
            )",
            $before,
            " INSERT INTO airlock.actions (session, session_id, position, id, label, source_tool_name, details, has_reject,
                durable, plugin, grants, workspace, pushed_at, guest_state, owner, bytes, plugin_name, source_is_own_tool,
                workspace_identity)
            SELECT $1, $2, stack.top, $5, $6, $7, $8, $9, $10, $4, $11, $12, $13, $14, $15, $16, $18, $19, $20 FROM stack
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
        INSERT INTO airlock.plugins (digest, name, bytes) SELECT $4, $21, $22 FROM stack ON CONFLICT (digest) DO NOTHING
    )",
    ""
);

const IS_KEPT: &str = "SELECT 1 FROM airlock.plugins WHERE digest = $1";

/// What the session has room for. Its row counts no resolutions, which so need not lock it: where
/// it says that there is no room, what is open is counted. The top tells whether something was
/// pushed since.
const COUNT: &str = "UPDATE airlock.sessions AS s SET open = counted.open, bytes = counted.bytes
    FROM (
        SELECT top, (SELECT count(*) FROM airlock.actions AS a WHERE a.session = $1 AND a.open) AS open,
            (SELECT coalesce(sum(a.bytes), 0)::bigint FROM airlock.actions AS a WHERE a.session = $1 AND a.open) AS bytes
        FROM airlock.sessions WHERE key = $1
    ) AS counted
    WHERE s.key = $1 AND s.top = counted.top RETURNING s.open, s.bytes";

/// Whether a push that had no answer took effect.
const RECALL: &str = "SELECT 1 FROM airlock.actions WHERE id = $1 AND session = $2";

impl PostgresStoreInner {
    pub async fn push(&self, push: &Push<'_>) -> Result<(), StoreError> {
        if !push.action.durable {
            self.heartbeat
                .beat()
                .await
                .map_err(|error| self.error(error))?;
        }
        let key = session_key(push.session);
        let recall = Statement::new(RECALL)
            .bind(escaped(push.action.id.as_str()))
            .bind(key);
        let row = NewRow::of(push, &self.host).map_err(|error| self.error(error))?;
        self.check_store_room(row.bytes).await?;
        self.pushing().insert(push.plugin.digest);
        let known = row.bind(Statement::new(PUSH));
        if self.try_push(&known, &recall).await? {
            self.note_pushed(row.bytes);
            return Ok(());
        }
        // Either there seems to be no room, or the plugin is not kept.
        loop {
            self.check_room(push, row.bytes).await?;
            let pushed = match self.is_kept(push.plugin.digest).await? {
                true => self.try_push(&known, &recall).await?,
                false => {
                    let with_plugin = row.bytes + push.plugin.bytes.len() as u64;
                    self.check_store_room(with_plugin).await?;
                    self.try_push(&row.bind_with_plugin(), &recall).await?
                }
            };
            if pushed {
                self.note_pushed(row.bytes);
                return Ok(());
            }
        }
    }

    async fn check_room(&self, push: &Push<'_>, pushed: u64) -> Result<(), StoreError> {
        let count = Statement::new(COUNT).bind(session_key(push.session));
        let rows = self.read(&count).await?;
        // Nothing was ever pushed, or something just now: then another try tells.
        let (open, held) = match rows.first() {
            Some(row) => {
                let number = |column| get::<i64>(row, column).map_err(|error| self.error(error));
                (number("open")?, number("bytes")?.unsigned_abs())
            }
            None => (0, 0),
        };
        let capacity = push.capacity;
        if usize::try_from(open).is_ok_and(|open| open >= capacity) {
            return Err(StoreError::Full { capacity });
        }
        let limit = push.capacity_bytes;
        if held.saturating_add(pushed) > limit {
            return Err(StoreError::SessionFull {
                limit,
                held,
                pushed,
            });
        }
        Ok(())
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

/// What a push writes.
struct NewRow<'a> {
    push: &'a Push<'a>,
    host: &'a HostId,
    details: Option<&'a str>,
    grants: String,
    workspace_identity: Option<String>,
    bytes: u64,
}

impl<'a> NewRow<'a> {
    fn of(push: &'a Push<'a>, host: &'a HostId) -> Result<Self, Failure> {
        let action = &push.action;
        let details = action.details.as_ref().map(Json::as_str);
        let guest_state = push.guest_state.as_deref();
        Ok(Self {
            bytes: pushed_bytes(action, details, guest_state),
            details,
            grants: json(&action.grants)?,
            workspace_identity: action.workspace_identity.as_deref().map(json).transpose()?,
            push,
            host,
        })
    }

    fn bind_with_plugin(&self) -> Statement {
        self.bind(Statement::new(PUSH_WITH_PLUGIN))
            .bind(escaped(&self.push.plugin.name))
            .bind(&self.push.plugin.bytes[..])
    }

    fn bind(&self, statement: Statement) -> Statement {
        let push = self.push;
        let action = &push.action;
        let number = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
        statement
            .bind(session_key(push.session))
            .bind(escaped(push.session.as_str()))
            .bind(i64::try_from(push.capacity).unwrap_or(i64::MAX))
            .bind(push.plugin.digest.to_string())
            .bind(escaped(action.id.as_str()))
            .bind(escaped(&action.label))
            .bind(escaped(&action.source_tool_name))
            .bind(self.details)
            .bind(action.has_reject)
            .bind(action.durable)
            .bind(self.grants.as_str())
            .bind(action.workspace.as_deref().map(bytes_of_path))
            .bind(nanos_of_time(action.pushed_at))
            .bind(push.guest_state.as_deref())
            .bind((!action.durable).then_some(self.host.as_slice()))
            .bind(number(self.bytes))
            // Where it is all there is, a sum must not go beyond it.
            .bind(number(push.capacity_bytes.min(1 << 62)))
            .bind(escaped(&action.plugin_name))
            .bind(action.source_is_own_tool)
            .bind(self.workspace_identity.as_deref())
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, Failure> {
    let text = serde_json::to_string(value);
    text.map_err(|error| sqlx::Error::InvalidArgument(error.to_string()).into())
}
