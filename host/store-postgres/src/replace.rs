//! Replaces pending actions with new ones in one statement.

use std::collections::BTreeSet;

use airlock_model::pending::ActionId;
use airlock_model::store::{Push, Replacement, Room, StoreError};
use sqlx::postgres::PgRow;

use super::connections::Statement;
use super::push::{keep_call, put, room_of};
use super::record::{get, text};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStoreInner, session_key};

/// Actions that can be discarded without a claim. An apply with an expired lease is interrupted.
macro_rules! goes {
    () => {
        "(a.interrupted = 0 AND (a.state = 'pending'
            OR (a.state = 'resolving' AND a.decision = 'discard' AND a.lease_until <= clock_timestamp())))"
    };
}

/// Computes the stack without the discarded actions, and checks that they can be discarded.
const STANDS: &str = concat!(
    "SELECT s.top, count(*) FILTER (WHERE a.goes) AS goes, coalesce(bool_or(a.goes AND a.id = $3), false) AS pending,
        count(*) FILTER (WHERE NOT a.goes) AS open, coalesce(sum(a.bytes) FILTER (WHERE NOT a.goes), 0)::bigint AS bytes,
        EXISTS (SELECT FROM airlock.plugins WHERE digest = $4) AS kept
    FROM airlock.sessions AS s JOIN (
        SELECT a.session, a.id, a.bytes, a.id = ANY($2) AND ",
    goes!(),
    " AS goes FROM airlock.actions AS a WHERE a.session = $1 AND a.open
    ) AS a ON a.session = s.key
    WHERE s.key = $1 AND ",
    same_schema!(),
    " GROUP BY s.key, s.top"
);

/// Does nothing if the stack has changed. After a push or a released claim, the top is higher, and
/// there may be more actions above than this statement sees. Locks the actions' rows before the
/// session's row, in the same order as releasing a claim.
const REPLACE: &str = concat!(
    "WITH old AS MATERIALIZED (
        SELECT a.id, a.position FROM airlock.actions AS a
        WHERE a.id = ANY($31::text[]) AND a.session = $1 AND a.open AND ",
    goes!(),
    " ORDER BY a.position FOR UPDATE SKIP LOCKED
    ), place AS (
        SELECT max(position) AS position FROM old HAVING count(*) = $32::bigint AND bool_or(id = $33::text)
    ), above AS MATERIALIZED (
        SELECT a.id FROM airlock.actions AS a, place
        WHERE a.session = $1 AND a.open AND a.position > place.position AND $5 > 1
        ORDER BY a.position FOR UPDATE OF a
    ), stack AS (
        UPDATE airlock.sessions AS s SET open = s.open + $5, bytes = s.bytes + $6, top = s.top + greatest($5, 1)
        FROM place, (SELECT count(*) FROM above) AS locked
        WHERE s.key = $1 AND s.top = $34::bigint
            AND ($5 = 0 OR $29::text IS NOT NULL OR EXISTS (SELECT FROM airlock.plugins WHERE digest = $4)) AND ",
    same_schema!(),
    " RETURNING place.position + $5 - 1 AS top
    ), numbered AS (
        SELECT id, nextval('airlock.resolved_order') AS number
        FROM (SELECT old.id FROM old, stack ORDER BY old.position) AS ordered
    ), replaced AS (
        UPDATE airlock.actions AS a SET open = false, state = 'discarded', decision = 'discard',
            reason = $35::text, extra = NULL, actor = $36::text, decided_by = $37::text, evidence = $38::text,
            guest_state = NULL, lease_until = NULL, nonce = $39::bytea, result = NULL, error = NULL,
            resolved_at = clock_timestamp(), resolved_order = numbered.number
        FROM numbered WHERE a.id = numbered.id
        RETURNING a.id, a.plugin, a.resolved_order
    ), lifted AS (
        UPDATE airlock.actions AS a SET position = a.position + $5 - 1 FROM above, stack WHERE a.id = above.id
    ), kept AS (
        INSERT INTO airlock.plugins (digest, name, bytes) SELECT $4, $29::text, $30::bytea FROM stack
            WHERE $29::text IS NOT NULL ON CONFLICT (digest) DO NOTHING
    )",
    keep_call!(),
    ", pushed AS (",
    put!(),
    ") SELECT id, plugin FROM replaced ORDER BY resolved_order"
);

/// Looks up the effect of a replacement that had no response.
const RECALL: &str = "SELECT id, plugin FROM airlock.actions
    WHERE id = ANY($1) AND session = $2 AND nonce = $3 AND NOT open ORDER BY resolved_order";

/// The stack without the discarded actions.
struct Remaining {
    top: i64,
    /// The number of discarded actions.
    goes: i64,
    /// True if the required action is one of them.
    is_pending: bool,
    left: Room,
    is_plugin_kept: bool,
}

impl PostgresStoreInner {
    pub async fn replace(
        &self,
        push: &Push,
        replacement: &Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        if push.actions.iter().any(|pushed| !pushed.action.durable) {
            let beaten = self.heartbeat.beat().await;
            beaten.map_err(|error| self.error(error))?;
        }
        let room = push.room();
        if !push.actions.is_empty() {
            self.check_store_room(room.bytes).await?;
            self.pushing().insert(push.plugin.digest);
        }
        let ids: Vec<String> = replacement
            .ids()
            .map(|id| escaped(id.as_str()).into_owned())
            .collect();
        let nonce = self.nonce();
        let recall = Statement::new(RECALL)
            .bind(ids.clone())
            .bind(session_key(&push.session))
            .bind(nonce);
        loop {
            let remaining = self.remaining(push, replacement, &ids).await?;
            let Some(remaining) = remaining.filter(|remaining| remaining.is_pending) else {
                return Ok(Vec::new());
            };
            let capacity_bytes = push.capacity_bytes;
            remaining.left.check(room, push.capacity, capacity_bytes)?;
            let plugin = if remaining.is_plugin_kept || push.actions.is_empty() {
                None
            } else {
                Some(&push.plugin)
            };
            if let Some(plugin) = plugin {
                let with_plugin = room.bytes + plugin.bytes.len() as u64;
                self.check_store_room(with_plugin).await?;
            }
            let by = &replacement.decided_by;
            let statement = self
                .bind(push, REPLACE)?
                .bind(plugin.map(|plugin| escaped(&plugin.name)))
                .bind(plugin.map(|plugin| &plugin.bytes[..]))
                .bind(ids.clone())
                .bind(remaining.goes)
                .bind(escaped(replacement.action.as_str()))
                .bind(remaining.top)
                .bind(escaped(&replacement.reason))
                .bind(by.actor.kind())
                .bind(by.actor.name().map(escaped))
                .bind(by.evidence.as_str())
                .bind(nonce);
            let rows = self.once(&statement, &recall).await?;
            if !rows.is_empty() {
                self.note_pushed(room.bytes);
                return self.replaced(&rows).await;
            }
        }
    }

    async fn remaining(
        &self,
        push: &Push,
        replacement: &Replacement,
        ids: &[String],
    ) -> Result<Option<Remaining>, StoreError> {
        let stands = Statement::new(STANDS)
            .bind(session_key(&push.session))
            .bind(ids.to_vec())
            .bind(escaped(replacement.action.as_str()))
            .bind(push.plugin.digest.to_string());
        let read = |row: &PgRow| {
            Ok(Remaining {
                top: get(row, "top")?,
                goes: get(row, "goes")?,
                is_pending: get(row, "pending")?,
                left: room_of(row)?,
                is_plugin_kept: get(row, "kept")?,
            })
        };
        self.first(&stands, read).await
    }

    async fn replaced(&self, rows: &[PgRow]) -> Result<Vec<ActionId>, StoreError> {
        let mut ids = Vec::new();
        let mut plugins = BTreeSet::new();
        for row in rows {
            let id = text(row, "id").map_err(|error| self.error(error))?;
            ids.push(id.into());
            if let Ok(plugin) = get::<&str>(row, "plugin") {
                plugins.insert(plugin);
            }
        }
        for plugin in plugins {
            self.forget_plugin_where_unneeded(plugin).await;
        }
        Ok(ids)
    }
}
