//! Operations that change a stack. Each function runs in a transaction.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::actor::DecidedBy;
use airlock_model::digest::Digest;
use airlock_model::pending::{ActionId, ActionState, Decision, Resolution, SessionId};
use airlock_model::store::{
    APPLY_INTERRUPTED, Claim, Claimed, Completion, DISCARD_INTERRUPTED, Lease, Standing, StoreError,
};
use rusqlite::{Connection, OptionalExtension, named_params};
use serde_json::{Map, Value};

use super::SqliteStore;
use super::hosts::{self, HostRegistry};
use super::problem::Problem;
use super::rows::{ActionRow, millis, select, select_all};

/// The condition for open actions. It is written as in the index `open_actions`; otherwise SQLite
/// would not use that.
///
/// Write bound values next to it as `+?`. Without the plus, SQLite plans the statement again for
/// each value, to check whether the value implies the index's condition.
pub(super) const OPEN: &str = "a.resolved IS NULL";

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

/// Claims an action for this host, for `lease_time` from now.
pub(super) fn claim(
    connection: &Connection,
    hosts: &HostRegistry,
    lease_time: Duration,
    session: &SessionId,
    resolution: &Resolution,
    decided_by: &DecidedBy,
) -> Result<Claim, Problem> {
    let found = match &resolution.id {
        None => topmost(connection, session)?,
        Some(id) => by_id(connection, id)?.filter(|found| found.session == *session),
    };
    let found = match (found, &resolution.id) {
        (Some(found), _) if found.is_pending() => found,
        (Some(found), _) => {
            let standing = standing_of(&found);
            return Ok(Claim::refused(found.stored.action.id, standing));
        }
        (None, Some(id)) => return Ok(Claim::Unknown(id.clone())),
        (None, None) => return Ok(Claim::NothingPending),
    };
    hosts.register()?;
    let attempt = found.stored.attempts + 1;
    let attempts = match resolution.decision {
        Decision::Apply => attempt,
        Decision::Discard => found.stored.attempts,
    };
    let token = found.token + 1;
    let update = "UPDATE actions SET state = 'resolving', interrupted = :interrupted,
            attempts = :attempts, last_error = :last_error, token = :token, holder = :holder,
            holder_name = :holder_name, claimed_at = :claimed_at, lease_until = :lease_until,
            decision = :decision, actor = :actor, decided_by = :decided_by, evidence = :evidence,
            reason = :reason, extra = :extra
        WHERE number = :number";
    connection.prepare_cached(update)?.execute(named_params! {
        ":interrupted": found.stored.interruption.number(),
        ":attempts": attempts,
        ":last_error": found.stored.last_error,
        ":token": token,
        ":holder": hosts.own(),
        ":holder_name": hosts.name(),
        ":claimed_at": millis(SystemTime::now()),
        ":lease_until": lease_until(lease_time),
        ":decision": resolution.decision.as_str(),
        ":actor": decided_by.actor.kind(),
        ":decided_by": decided_by.actor.name(),
        ":evidence": decided_by.evidence.as_str(),
        ":reason": resolution.reason,
        ":extra": resolution.extra.as_ref().map(json::<Map<String, Value>>).transpose()?,
        ":number": found.number,
    })?;
    let state =
        "SELECT coalesce(guest_state, (SELECT bytes FROM large_guest_states WHERE action = number))
        FROM actions WHERE number = ?";
    let guest_state = connection
        .prepare_cached(state)?
        .query_row([found.number], |row| row.get(0))?;
    Ok(Claim::Claimed(Claimed {
        lease: Lease {
            session: session.clone(),
            action: found.stored.action.id.clone(),
            token: token.cast_unsigned(),
        },
        action: Arc::new(found.stored.action),
        guest_state,
        attempt,
    }))
}

fn topmost(connection: &Connection, session: &SessionId) -> Result<Option<ActionRow>, Problem> {
    let tail = format!("WHERE a.session = +? AND {OPEN} ORDER BY a.position DESC");
    let mut top = None;
    select(connection, &tail, [session.as_str()], |found| {
        top = Some(found).filter(ActionRow::is_pending);
        top.is_none()
    })?;
    Ok(top)
}

pub(super) fn by_id(connection: &Connection, id: &ActionId) -> Result<Option<ActionRow>, Problem> {
    let mut only = None;
    select_all(connection, "WHERE a.id = ?", [id.as_str()], |found| {
        only = Some(found);
        false
    })?;
    only.transpose().map_err(Problem::Unreadable)
}

pub(super) fn standing(
    connection: &Connection,
    session: &SessionId,
    id: &ActionId,
) -> Result<Standing, Problem> {
    let found = by_id(connection, id)?.filter(|found| found.session == *session);
    Ok(found.map_or(Standing::Unknown, |found| standing_of(&found)))
}

fn standing_of(found: &ActionRow) -> Standing {
    match found.stored.state {
        ActionState::Applied => Standing::Resolved(Decision::Apply),
        ActionState::Discarded => Standing::Resolved(Decision::Discard),
        _ if found.is_pending() => Standing::Pending,
        _ => Standing::InProgress,
    }
}

/// Renews a claim. An expired claim becomes valid again if no other host has claimed the action
/// since.
pub(super) fn renew(
    connection: &Connection,
    hosts: &HostRegistry,
    lease_time: Duration,
    lease: &Lease,
) -> Result<(), Problem> {
    let update = "UPDATE actions SET lease_until = :until
        WHERE id = :id AND state = 'resolving' AND token = :token AND holder = :holder";
    let renewed = connection.prepare_cached(update)?.execute(named_params! {
        ":until": lease_until(lease_time),
        ":id": lease.action.as_str(),
        ":token": lease.token.cast_signed(),
        ":holder": hosts.own(),
    })?;
    require_lease(renewed, lease)
}

/// The final outcome of a claim.
pub(super) struct End {
    pub result: Option<Digest>,
    pub error: Option<String>,
    pub before: Option<AppliedBefore>,
}

/// The decision of an earlier apply that took effect.
pub(super) struct AppliedBefore {
    pub reason: String,
    /// Extra details, as JSON.
    pub extra: Option<String>,
    pub decided_by: Option<DecidedBy>,
}

impl End {
    pub fn of(completion: Completion<'_>) -> Self {
        let before = match completion {
            Completion::AppliedBefore {
                outcome,
                decided_by,
            } => Some(AppliedBefore {
                reason: outcome.details.reason.clone(),
                // A map from strings to values is always serializable.
                extra: outcome.details.extra.as_ref().and_then(|it| json(it).ok()),
                decided_by: decided_by.cloned(),
            }),
            Completion::Succeeded(_) | Completion::RejectFailed(_) => None,
        };
        Self {
            result: completion.result_digest(),
            error: completion.error().map(str::to_owned),
            before,
        }
    }
}

/// Completes a claim and returns the plugin that pushed the action.
pub(super) fn complete(
    connection: &Connection,
    lease: &Lease,
    end: &End,
) -> Result<Digest, Problem> {
    let update = "UPDATE actions SET
            state = CASE decision WHEN 'apply' THEN 'applied' ELSE 'discarded' END,
            resolved = 1 + coalesce((SELECT max(resolved) FROM actions WHERE resolved IS NOT NULL), 0),
            resolved_at = :now, result = :result, error = :error, interrupted = 0, guest_state = NULL
        WHERE id = :id AND state = 'resolving' AND token = :token RETURNING number, plugin";
    if let Some(before) = &end.before {
        note_applied_before(connection, lease, before)?;
    }
    let ended: Option<(i64, [u8; 32])> = connection
        .prepare_cached(update)?
        .query_row(
            named_params! {
                ":now": millis(SystemTime::now()),
                ":result": end.result.map(|digest| *digest.as_bytes()),
                ":error": end.error,
                ":id": lease.action.as_str(),
                ":token": lease.token.cast_signed(),
            },
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let (number, plugin) = ended.ok_or_else(|| Problem::LeaseLost(lease.action.clone()))?;
    connection
        .prepare_cached("DELETE FROM large_guest_states WHERE action = ?")?
        .execute([number])?;
    Ok(Digest::from_bytes(plugin))
}

/// Records the earlier decision instead of the current one.
fn note_applied_before(
    connection: &Connection,
    lease: &Lease,
    before: &AppliedBefore,
) -> Result<(), Problem> {
    let update = "UPDATE actions SET decision = 'apply', reason = :reason, extra = :extra
        WHERE id = :id AND state = 'resolving' AND token = :token";
    connection.prepare_cached(update)?.execute(named_params! {
        ":reason": before.reason,
        ":extra": before.extra,
        ":id": lease.action.as_str(),
        ":token": lease.token.cast_signed(),
    })?;
    let Some(by) = &before.decided_by else {
        return Ok(());
    };
    let update = "UPDATE actions SET actor = :actor, decided_by = :decided_by, evidence = :evidence
        WHERE id = :id AND state = 'resolving' AND token = :token";
    connection.prepare_cached(update)?.execute(named_params! {
        ":actor": by.actor.kind(),
        ":decided_by": by.actor.name(),
        ":evidence": by.evidence.as_str(),
        ":id": lease.action.as_str(),
        ":token": lease.token.cast_signed(),
    })?;
    Ok(())
}

impl SqliteStore {
    /// Ends a claim and leaves the action on the stack.
    pub(super) async fn give_back(
        &self,
        lease: Lease,
        mut work: impl FnMut(&Connection, &Lease) -> Result<(), Problem> + Send + 'static,
    ) -> Result<(), StoreError> {
        let session = lease.session.clone();
        let work = move |connection: &_| work(connection, &lease);
        self.inner.writer.write(work).await?;
        self.inner.watchers.notify(&session);
        Ok(())
    }
}

pub(super) fn requeue(
    connection: &Connection,
    lease: &Lease,
    failure: &str,
) -> Result<(), Problem> {
    let update = "UPDATE actions SET state = 'pending', interrupted = 0, last_error = :failure,
            position = 1 + (SELECT max(b.position) FROM actions b
                WHERE b.session = actions.session AND b.resolved IS NULL)
        WHERE id = :id AND state = 'resolving' AND token = :token";
    let requeued = connection.prepare_cached(update)?.execute(named_params! {
        ":failure": failure,
        ":id": lease.action.as_str(),
        ":token": lease.token.cast_signed(),
    })?;
    require_lease(requeued, lease)
}

pub(super) fn recovered(connection: &Connection, lease: &Lease, what: &str) -> Result<(), Problem> {
    let update = "UPDATE actions SET interrupted = 0, last_error = :what
        WHERE id = :id AND state = 'resolving' AND token = :token";
    connection.prepare_cached(update)?.execute(named_params! {
        ":what": what,
        ":id": lease.action.as_str(),
        ":token": lease.token.cast_signed(),
    })?;
    release(connection, lease)
}

pub(super) fn abandon(connection: &Connection, lease: &Lease) -> Result<(), Problem> {
    let update = "UPDATE actions SET state = 'pending',
            last_error = CASE
                WHEN decision = 'apply' THEN :apply_interrupted
                WHEN interrupted THEN last_error
                ELSE :discard_interrupted END,
            interrupted = CASE WHEN decision = 'apply' THEN max(interrupted, 1) ELSE interrupted END
        WHERE id = :id AND state = 'resolving' AND token = :token";
    // If the claim is gone already, there is nothing to put back.
    connection.prepare_cached(update)?.execute(named_params! {
        ":apply_interrupted": APPLY_INTERRUPTED,
        ":discard_interrupted": DISCARD_INTERRUPTED,
        ":id": lease.action.as_str(),
        ":token": lease.token.cast_signed(),
    })?;
    Ok(())
}

/// Marks an action as lost, because its owner is gone.
pub(super) fn lose(
    connection: &Connection,
    session: &SessionId,
    actions: &[ActionId],
) -> Result<(), Problem> {
    let update = "UPDATE actions SET owner = NULL WHERE id = ? AND session = ? AND NOT durable";
    let mut update = connection.prepare_cached(update)?;
    for action in actions {
        update.execute([action.as_str(), session.as_str()])?;
    }
    Ok(())
}

/// Releases a claim under which nothing was tried, so that it does not count as an attempt.
pub(super) fn release(connection: &Connection, lease: &Lease) -> Result<(), Problem> {
    require_lease(unclaimed(connection, lease)?, lease)
}

/// Releases a claim whose caller is gone. Does nothing if the claim is gone already.
pub(super) fn unclaim(connection: &Connection, lease: &Lease) -> Result<(), Problem> {
    unclaimed(connection, lease).map(drop)
}

fn unclaimed(connection: &Connection, lease: &Lease) -> Result<usize, Problem> {
    let update = "UPDATE actions SET state = 'pending',
            attempts = attempts - (decision = 'apply')
        WHERE id = :id AND state = 'resolving' AND token = :token";
    let unclaimed = connection.prepare_cached(update)?.execute(named_params! {
        ":id": lease.action.as_str(),
        ":token": lease.token.cast_signed(),
    })?;
    Ok(unclaimed)
}

fn require_lease(changed: usize, lease: &Lease) -> Result<(), Problem> {
    match changed {
        0 => Err(Problem::LeaseLost(lease.action.clone())),
        _ => Ok(()),
    }
}

fn lease_until(lease_time: Duration) -> i64 {
    let lease_time = i64::try_from(lease_time.as_millis()).unwrap_or(i64::MAX);
    hosts::clock().saturating_add(lease_time)
}

pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<String, Problem> {
    serde_json::to_string(value)
        .map_err(|error| Problem::BadRow(format!("a value can't be written as JSON: {error}")))
}
