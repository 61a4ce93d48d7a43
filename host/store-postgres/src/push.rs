//! Pushes actions onto a stack in one statement, which checks the capacity and assigns the
//! positions.

use std::sync::Arc;

use airlock_model::call_record::PackedBody;
use airlock_model::digest::Digest;
use airlock_model::json::Json;
use airlock_model::pending::SessionId;
use airlock_model::store::rows::bytes_of_path;
use airlock_model::store::{NewAction, Push, Room, StoreError};

use sqlx::postgres::PgRow;

use super::connections::Statement;
use super::problem::Failure;
use super::record::{get, nanos_of_time};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStoreInner, session_key};

/// Stores the record of the call.
macro_rules! keep_call {
    () => {
        ", called AS (
                INSERT INTO airlock.calls (id, tool, called_at, body)
                    SELECT $23::text, $24::text, $25::bigint, $26::bytea FROM stack WHERE $23::text IS NOT NULL
            ), pieces AS (
                INSERT INTO airlock.call_pieces (call, place, bytes)
                    SELECT $23::text, p.place, p.bytes FROM stack, unnest($27::bytea[]) WITH ORDINALITY AS p (bytes, place)
            )"
    };
}

/// Inserts the actions. `stack` provides the position of the topmost one.
macro_rules! put {
    () => {
        " INSERT INTO airlock.actions (session, session_id, position, plugin, id, label, source_tool_name, details, has_reject,
                durable, grants, workspace, pushed_at, guest_state, owner, bytes, plugin_name, source_is_own_tool,
                workspace_identity, call, expires_at)
            SELECT $1, $2, stack.top - $5 + a.place, $4, a.id, a.label, a.source_tool_name, a.details, a.has_reject,
                a.durable, $8, $9, a.pushed_at, a.guest_state, CASE WHEN a.durable THEN NULL ELSE $10::bytea END, a.bytes, $11,
                a.source_is_own_tool, $12, $23::text, a.expires_at
            FROM stack, unnest($13::text[], $14::text[], $15::text[], $16::text[], $17::boolean[], $18::boolean[],
                $19::bigint[], $20::bytea[], $21::bigint[], $22::boolean[], $28::bigint[]) WITH ORDINALITY AS a
                (id, label, source_tool_name, details, has_reject, durable, pushed_at, guest_state, bytes, source_is_own_tool, expires_at, place)
            RETURNING 1"
    };
}

/// Creates or locks the session's row, then inserts the actions. Returns rows if the actions were
/// pushed.
macro_rules! push_onto {
    ($before:literal, $where:literal) => {
        concat!(
            "WITH stack AS (
                INSERT INTO airlock.sessions AS s (key, id, open, top, bytes)
                    SELECT $1, $2, $5, $5, $6 WHERE $5 <= $3 AND $6 <= $7 AND ",
            same_schema!(),
            $where,
            " ON CONFLICT (key) DO UPDATE SET open = s.open + $5, top = s.top + $5, bytes = s.bytes + $6
                    WHERE s.open + $5 <= $3 AND s.bytes + $6 <= $7
                RETURNING top
            )",
            keep_call!(),
            $before,
            put!()
        )
    };
}

pub(super) use {keep_call, put};

/// The plugin has nearly always pushed before.
const PUSH: &str = push_onto!(
    "",
    " AND EXISTS (SELECT FROM airlock.plugins WHERE digest = $4)"
);

const PUSH_WITH_PLUGIN: &str = push_onto!(
    ", kept AS (
        INSERT INTO airlock.plugins (digest, name, bytes) SELECT $4, $29, $30 FROM stack ON CONFLICT (digest) DO NOTHING
    )",
    ""
);

const IS_KEPT: &str = concat!(
    "SELECT 1 FROM airlock.plugins WHERE digest = $1 AND ",
    same_schema!()
);

/// Removes unclaimed actions. The session's row may then count too much.
const UNPUSH: &str = concat!(
    "DELETE FROM airlock.actions WHERE id = ANY($1) AND session = $2 AND token = 0 AND ",
    same_schema!()
);

/// Counts the session's open actions.
const ROOM: &str = concat!(
    "SELECT count(*) AS open, coalesce(sum(a.bytes), 0)::bigint AS bytes
    FROM airlock.actions AS a WHERE a.session = $1 AND a.open AND ",
    same_schema!()
);

/// Recounts the session's open actions if its row says that there is no room. The row does not
/// count resolutions, so they don't have to lock it. A changed top means that there was a push
/// since.
const COUNT: &str = concat!(
    "UPDATE airlock.sessions AS s SET open = counted.open, bytes = counted.bytes
    FROM (
        SELECT top, (SELECT count(*) FROM airlock.actions AS a WHERE a.session = $1 AND a.open) AS open,
            (SELECT coalesce(sum(a.bytes), 0)::bigint FROM airlock.actions AS a WHERE a.session = $1 AND a.open) AS bytes
        FROM airlock.sessions WHERE key = $1
    ) AS counted
    WHERE s.key = $1 AND s.top = counted.top AND ",
    same_schema!(),
    " RETURNING s.open, s.bytes"
);

/// Looks up whether a push without a response took effect.
const RECALL: &str = "SELECT 1 FROM airlock.actions WHERE id = $1 AND session = $2";

/// Reads a number of actions and their size.
pub fn room_of(row: &PgRow) -> Result<Room, Failure> {
    Ok(Room {
        actions: usize::try_from(get::<i64>(row, "open")?).unwrap_or(usize::MAX),
        bytes: get::<i64>(row, "bytes")?.unsigned_abs(),
    })
}

fn ids(push: &Push) -> Vec<String> {
    let actions = push.actions.iter();
    actions
        .map(|pushed| escaped(pushed.action.id.as_str()).into_owned())
        .collect()
}

impl PostgresStoreInner {
    pub async fn push(&self, push: &Push) -> Result<(), StoreError> {
        let Some(first) = push.actions.first() else {
            return Ok(());
        };
        if push.actions.iter().any(|pushed| !pushed.action.durable) {
            let beaten = self.heartbeat.beat().await;
            beaten.map_err(|error| self.error(error))?;
        }
        let recall = Statement::of_action(RECALL, &push.session, &first.action.id);
        let room = push.room();
        let bytes = room.bytes;
        self.check_store_room(bytes).await?;
        self.pushing().insert(push.plugin.digest);
        let known = self.bind(push, PUSH)?;
        if !self.once(&known, &recall).await?.is_empty() {
            self.note_pushed(bytes);
            return Ok(());
        }
        // Either there seems to be no room, or the plugin is not stored.
        loop {
            let held = self.counted(&push.session).await?;
            held.check(room, push.capacity, push.capacity_bytes)?;
            let pushed = if self.is_kept(push.plugin.digest).await? {
                self.once(&known, &recall).await?
            } else {
                let with_plugin = bytes + push.plugin.bytes.len() as u64;
                self.check_store_room(with_plugin).await?;
                let statement = self.bind(push, PUSH_WITH_PLUGIN)?;
                let statement = statement
                    .bind(escaped(&push.plugin.name))
                    .bind(&push.plugin.bytes[..]);
                self.once(&statement, &recall).await?
            };
            if !pushed.is_empty() {
                self.note_pushed(bytes);
                return Ok(());
            }
        }
    }

    /// Removes a push whose caller is gone, except for actions that were claimed in the meantime.
    pub async fn unpush(&self, push: &Push) -> Result<(), StoreError> {
        let statement = Statement::new(UNPUSH)
            .bind(ids(push))
            .bind(session_key(&push.session));
        self.read(&statement).await?;
        Ok(())
    }

    /// Removes a push in the background.
    pub fn unpush_later(self: &Arc<Self>, push: Arc<Push>) {
        let inner = Arc::clone(self);
        self.runtime.spawn(async move {
            match inner.unpush(&push).await {
                Ok(()) => inner.notifier.tell(&push.session),
                Err(error) => {
                    tracing::warn!("actions of a call that failed may be pending: {error}");
                }
            }
        });
    }

    pub async fn room(&self, session: &SessionId) -> Result<Room, StoreError> {
        self.room_as(ROOM, session).await
    }

    pub async fn counted(&self, session: &SessionId) -> Result<Room, StoreError> {
        self.room_as(COUNT, session).await
    }

    async fn room_as(&self, sql: &'static str, session: &SessionId) -> Result<Room, StoreError> {
        let statement = Statement::new(sql).bind(session_key(session));
        let room = self.first(&statement, room_of).await?;
        // There was either no push ever, or one just now: another attempt decides.
        Ok(room.unwrap_or_default())
    }

    async fn is_kept(&self, plugin: Digest) -> Result<bool, StoreError> {
        let statement = Statement::new(IS_KEPT).bind(plugin.to_string());
        Ok(!self.read(&statement).await?.is_empty())
    }

    /// Binds the arguments of a statement that inserts actions.
    pub fn bind(&self, push: &Push, sql: &'static str) -> Result<Statement, StoreError> {
        // The actions of one call share their grants and workspace.
        let first = push.actions.first().map(|NewAction { action, .. }| action);
        let grants = first.map(|first| json(&first.grants)).transpose();
        let identity = first.and_then(|first| first.workspace_identity.as_deref());
        let identity = identity.map(json).transpose();
        let (grants, identity) = grants
            .and_then(|grants| Ok((grants, identity?)))
            .map_err(|error| self.error(error))?;
        let number = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
        let count = |it: usize| number(it as u64);
        let room = push.room();
        let actions = || push.actions.iter().map(|pushed| &*pushed.action);
        let statement = Statement::new(sql)
            .bind(session_key(&push.session))
            .bind(escaped(push.session.as_str()))
            .bind(count(push.capacity))
            .bind(push.plugin.digest.to_string())
            .bind(count(room.actions))
            .bind(number(room.bytes))
            // An unlimited capacity is lowered, so that a sum can't overflow.
            .bind(number(push.capacity_bytes.min(1 << 62)))
            .bind(grants)
            .bind(
                first
                    .and_then(|it| it.workspace.as_deref())
                    .map(bytes_of_path),
            )
            .bind(self.host.as_slice())
            .bind(first.map(|first| escaped(&first.plugin_name)))
            .bind(identity)
            .bind(ids(push))
            .bind(actions().map(|it| escaped(&it.label)).collect::<Vec<_>>())
            .bind(
                actions()
                    .map(|it| escaped(&it.source_tool_name))
                    .collect::<Vec<_>>(),
            )
            .bind(
                actions()
                    .map(|it| it.details.as_ref().map(Json::as_str))
                    .collect::<Vec<_>>(),
            )
            .bind(actions().map(|it| it.has_reject).collect::<Vec<_>>())
            .bind(actions().map(|it| it.durable).collect::<Vec<_>>())
            .bind(
                actions()
                    .map(|it| nanos_of_time(it.pushed_at))
                    .collect::<Vec<_>>(),
            )
            .bind(
                push.actions
                    .iter()
                    .map(|it| it.guest_state.as_deref())
                    .collect::<Vec<_>>(),
            )
            .bind(push.bytes().map(number).collect::<Vec<_>>())
            .bind(
                actions()
                    .map(|it| it.source_is_own_tool)
                    .collect::<Vec<_>>(),
            );
        let call = push.call.as_ref();
        let (plain, pieces) = match call.map(|call| &call.body) {
            Some(PackedBody::Plain(plain)) => (Some(&**plain), Vec::new()),
            Some(PackedBody::Pieces(pieces)) => (None, pieces.iter().map(|it| &**it).collect()),
            None => (None, Vec::new()),
        };
        Ok(statement
            .bind(call.map(|call| escaped(call.id.as_str())))
            .bind(call.map(|call| escaped(&call.tool)))
            .bind(call.map(|call| nanos_of_time(call.called_at)))
            .bind(plain)
            .bind(pieces)
            .bind(
                actions()
                    .map(|it| it.expires_at.map(nanos_of_time))
                    .collect::<Vec<_>>(),
            ))
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, Failure> {
    let text = serde_json::to_string(value);
    text.map_err(|error| sqlx::Error::InvalidArgument(error.to_string()).into())
}
