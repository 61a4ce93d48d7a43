//! Claims of actions. The functions run in transactions.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::actor::DecidedBy;
use airlock_model::pending::{Decision, Resolution, SessionId};
use airlock_model::store::{
    APPLY_INTERRUPTED, Claim, Claimed, Claims, Completion, DISCARD_INTERRUPTED, Lease, StoreError,
};
use async_trait::async_trait;
use rusqlite::{Connection, named_params};
use serde_json::{Map, Value};

use super::completion::End;
use super::hosts::{self, HostRegistry};
use super::problem::Problem;
use super::rows::{ActionRow, millis, select};
use super::stack::{OPEN, by_id, forget_plugin, json, standing_of};
use super::writer::Undo;
use super::{SqliteStore, capacity, completion};

#[async_trait]
impl Claims for SqliteStore {
    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        let hosts = Arc::clone(&self.inner.hosts);
        let lease_time = self.inner.lease_time;
        let (of, resolution) = (session.clone(), resolution.clone());
        let by = decided_by.clone();
        let work =
            move |connection: &_| claim(connection, &hosts, lease_time, &of, &resolution, &by);
        // The action was not handed out yet, so giving it back leaves no doubt about its state.
        let undo = |claim| match claim {
            Claim::Claimed(claimed) => {
                let lease = claimed.lease;
                Some(Box::new(move |connection: &_| unclaim(connection, &lease)) as Undo)
            }
            _ => None,
        };
        let claim = self.inner.writer.write_or_undo(work, undo).await?;
        if matches!(claim, Claim::Claimed(_)) {
            self.inner.watchers.notify(session);
        }
        Ok(claim)
    }

    fn lease_time(&self) -> Option<Duration> {
        Some(self.inner.lease_time)
    }

    async fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        let hosts = Arc::clone(&self.inner.hosts);
        let lease_time = self.inner.lease_time;
        let lease = Lease {
            session: lease.session.clone(),
            action: lease.action.clone(),
            token: lease.token,
        };
        let work = move |connection: &_| renew(connection, &hosts, lease_time, &lease);
        self.inner.writer.write(work).await
    }

    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError> {
        let session = lease.session.clone();
        let end = End::of(completion);
        let pushing = self.inner.pushing().clone();
        let work = move |connection: &_| {
            let plugin = completion::complete(connection, &lease, &end)?;
            if !pushing.contains(&plugin) {
                forget_plugin(connection, &plugin)?;
            }
            capacity::is_loose(connection)
        };
        let is_loose = self.inner.writer.write(work).await?;
        self.inner.watchers.notify(&session);
        if is_loose {
            self.give_pages_back();
        }
        self.prune_sometimes();
        Ok(())
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        let failure = failure.to_owned();
        let work = move |connection: &_, lease: &_| requeue(connection, lease, &failure);
        self.give_back(lease, work).await
    }

    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError> {
        let what = what.to_owned();
        let work = move |connection: &_, lease: &_| recovered(connection, lease, &what);
        self.give_back(lease, work).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.give_back(lease, release).await
    }

    fn abandon(&self, lease: Lease) {
        let watchers = self.inner.watchers.clone();
        self.inner.writer.write_later(move |connection| {
            abandon(connection, &lease)?;
            // This notification precedes the commit; the file watcher notifies again.
            watchers.notify(&lease.session);
            Ok(())
        });
    }
}

impl SqliteStore {
    /// Ends a claim and leaves the action on the stack.
    async fn give_back(
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

/// Claims an action for this host, for `lease_time` from now.
fn claim(
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
            return Ok(Claim::refused(found.stored.action.id.clone(), standing));
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
        action: found.stored.action,
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

/// Renews a claim. An expired claim becomes valid again if no other host has claimed the action
/// since.
fn renew(
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

fn requeue(connection: &Connection, lease: &Lease, failure: &str) -> Result<(), Problem> {
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

fn recovered(connection: &Connection, lease: &Lease, what: &str) -> Result<(), Problem> {
    let update = "UPDATE actions SET interrupted = 0, last_error = :what
        WHERE id = :id AND state = 'resolving' AND token = :token";
    connection.prepare_cached(update)?.execute(named_params! {
        ":what": what,
        ":id": lease.action.as_str(),
        ":token": lease.token.cast_signed(),
    })?;
    release(connection, lease)
}

fn abandon(connection: &Connection, lease: &Lease) -> Result<(), Problem> {
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

/// Releases a claim under which nothing was tried, so that it does not count as an attempt.
fn release(connection: &Connection, lease: &Lease) -> Result<(), Problem> {
    require_lease(unclaimed(connection, lease)?, lease)
}

/// Releases a claim whose caller is gone. Does nothing if the claim is gone already.
fn unclaim(connection: &Connection, lease: &Lease) -> Result<(), Problem> {
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
