//! Ends and renews claims. Each statement names the token, so an outdated claim changes nothing
//! after another host has taken the action over.

use std::sync::Arc;
use std::time::Duration;

use airlock_model::actor::DecidedBy;
use airlock_model::pending::{Resolution, SessionId};
use airlock_model::store::{
    APPLY_INTERRUPTED, Claim, Claims, Completion, DISCARD_INTERRUPTED, Lease, StoreError,
};
use async_trait::async_trait;

use super::connections::Statement;
use super::record::{get, micros};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStore, PostgresStoreInner};

const RENEW: &str = concat!(
    "UPDATE airlock.actions SET lease_until = clock_timestamp() + $4 * interval '1 microsecond'
    WHERE id = $1 AND session = $2 AND token = $3 AND state = 'resolving' AND lease_until > clock_timestamp() AND ",
    same_schema!(),
    " RETURNING 1"
);

/// Completes an action, even if its lease has expired, unless another host has claimed it since.
/// The result is true, and this avoids an action with an unknown outcome.
const COMPLETE: &str = concat!(
    "UPDATE airlock.actions SET open = false,
        state = CASE WHEN $6 OR decision = 'apply' THEN 'applied' ELSE 'discarded' END,
        decision = CASE WHEN $6 THEN 'apply' ELSE decision END,
        reason = CASE WHEN $6 THEN $7 ELSE reason END, extra = CASE WHEN $6 THEN $8 ELSE extra END,
        actor = coalesce($9, actor), evidence = coalesce($10, evidence),
        decided_by = CASE WHEN $9 IS NULL THEN decided_by ELSE $11 END,
        guest_state = NULL, lease_until = NULL, nonce = NULL,
        resolved_at = clock_timestamp(), resolved_order = nextval('airlock.resolved_order'), result = $4, error = $5, part = $12
    WHERE id = $1 AND session = $2 AND token = $3 AND state = 'resolving' AND ",
    same_schema!(),
    " RETURNING plugin"
);

/// Does not check the version of the tables, like every statement that looks up an earlier effect.
const RECALL_COMPLETED: &str =
    "SELECT plugin FROM airlock.actions WHERE id = $1 AND session = $2 AND token = $3 AND NOT open";

const REQUEUE: &str = concat!(
    "WITH held AS (
        SELECT session FROM airlock.actions
        WHERE id = $1 AND session = $2 AND token = $3 AND state = 'resolving' AND ",
    same_schema!(),
    " FOR UPDATE
    ), stack AS (
        UPDATE airlock.sessions AS s SET top = s.top + 1 FROM held WHERE s.key = held.session RETURNING s.top
    ), back AS (
        UPDATE airlock.actions AS a SET state = 'pending', position = stack.top, interrupted = 0, last_error = $4,
            nonce = NULL, holder = NULL, leased_at = NULL, lease_until = NULL, decision = NULL,
            reason = NULL, extra = NULL, decided_by = NULL, actor = NULL, evidence = NULL
        FROM stack WHERE a.id = $1
        RETURNING 1
    )
    SELECT 1 FROM back"
);

const RECALL_REQUEUED: &str = "SELECT 1 FROM airlock.actions WHERE id = $1 AND session = $2 AND token = $3 AND state = 'pending'";

const RELEASE: &str = concat!(
    "UPDATE airlock.actions SET state = 'pending', nonce = NULL, lease_until = NULL,
        attempts = attempts - CASE WHEN decision = 'apply' THEN 1 ELSE 0 END
    WHERE id = $1 AND session = $2 AND token = $3 AND state = 'resolving' AND ",
    same_schema!(),
    " RETURNING 1"
);

const RECOVERED: &str = concat!(
    "UPDATE airlock.actions SET state = 'pending', nonce = NULL, lease_until = NULL,
        interrupted = 0, last_error = $4,
        attempts = attempts - CASE WHEN decision = 'apply' THEN 1 ELSE 0 END
    WHERE id = $1 AND session = $2 AND token = $3 AND state = 'resolving' AND ",
    same_schema!(),
    " RETURNING 1"
);

/// Has the same effect as an expired lease.
const ABANDON: &str = concat!(
    "UPDATE airlock.actions SET state = 'pending', nonce = NULL, lease_until = NULL,
        interrupted = CASE WHEN decision = 'apply' THEN greatest(interrupted, 1) ELSE interrupted END,
        last_error = CASE WHEN decision = 'apply' THEN $4 WHEN interrupted <> 0 THEN last_error ELSE $5 END
    WHERE id = $1 AND session = $2 AND token = $3 AND state = 'resolving' AND ",
    same_schema!(),
    " RETURNING 1"
);

#[async_trait]
impl Claims for PostgresStore {
    async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        let claim = self.inner.claim(session, resolution, decided_by).await?;
        if matches!(claim, Claim::Claimed(_)) {
            self.inner.notifier.tell(session);
        }
        Ok(claim)
    }

    fn lease_time(&self) -> Option<Duration> {
        Some(self.inner.lease_time)
    }

    async fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        let statement = of(RENEW, lease).bind(micros(self.inner.lease_time));
        let rows = self.inner.read(&statement).await?;
        require_lease(!rows.is_empty(), lease)
    }

    async fn complete(&self, lease: Lease, completion: Completion<'_>) -> Result<(), StoreError> {
        let (before, by) = match completion {
            Completion::AppliedBefore {
                outcome,
                decided_by,
            } => (Some(&outcome.details), decided_by),
            Completion::Succeeded(_) | Completion::RejectFailed(_) => (None, None),
        };
        let extra = before.and_then(|details| details.extra.as_ref());
        let statement = of(COMPLETE, &lease)
            .bind(completion.result_digest().map(|digest| digest.to_string()))
            .bind(completion.error().map(escaped))
            .bind(before.is_some())
            .bind(before.map(|details| escaped(&details.reason)))
            // A map from strings to values is always serializable.
            .bind(extra.and_then(|extra| serde_json::to_string(extra).ok()))
            .bind(by.map(|by| by.actor.kind()))
            .bind(by.map(|by| by.evidence.as_str()))
            .bind(by.and_then(|by| by.actor.name()).map(escaped))
            .bind(
                completion
                    .part()
                    .and_then(|part| serde_json::to_string(part).ok()),
            );
        let recall = of(RECALL_COMPLETED, &lease);
        let rows = self.inner.once(&statement, &recall).await?;
        require_lease(!rows.is_empty(), &lease)?;
        let plugin = rows.first().map(|row| get::<&str>(row, "plugin"));
        if let Some(Ok(plugin)) = plugin {
            self.inner.forget_plugin_where_unneeded(plugin).await;
        }
        self.inner.notifier.tell(&lease.session);
        self.inner.maintain_if_due();
        Ok(())
    }

    async fn requeue(&self, lease: Lease, failure: &str) -> Result<(), StoreError> {
        let requeue = of(REQUEUE, &lease).bind(escaped(failure));
        self.give_back(&lease, &requeue).await
    }

    async fn recovered(&self, lease: Lease, what: &str) -> Result<(), StoreError> {
        let recovered = of(RECOVERED, &lease).bind(escaped(what));
        self.give_back(&lease, &recovered).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.give_back(&lease, &of(RELEASE, &lease)).await
    }

    fn abandon(&self, lease: Lease) {
        let inner = Arc::clone(&self.inner);
        let abandon = of(ABANDON, &lease)
            .bind(APPLY_INTERRUPTED)
            .bind(DISCARD_INTERRUPTED);
        self.inner.runtime.spawn(async move {
            match inner.read(&abandon).await {
                Ok(_) => inner.notifier.tell(&lease.session),
                Err(error) => {
                    tracing::warn!("a claim was not released, and will expire: {error}")
                }
            }
        });
    }
}

impl PostgresStore {
    async fn give_back(&self, lease: &Lease, statement: &Statement) -> Result<(), StoreError> {
        self.inner.give_back(lease, statement).await?;
        self.inner.notifier.tell(&lease.session);
        Ok(())
    }
}

impl PostgresStoreInner {
    pub async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.give_back(lease, &of(RELEASE, lease)).await
    }

    async fn give_back(&self, lease: &Lease, statement: &Statement) -> Result<(), StoreError> {
        let recall = of(RECALL_REQUEUED, lease);
        let rows = self.once(statement, &recall).await?;
        require_lease(!rows.is_empty(), lease)
    }
}

fn of(sql: &'static str, lease: &Lease) -> Statement {
    Statement::of_action(sql, &lease.session, &lease.action)
        .bind(i64::try_from(lease.token).unwrap_or(i64::MAX))
}

fn require_lease(held: bool, lease: &Lease) -> Result<(), StoreError> {
    if held {
        Ok(())
    } else {
        Err(StoreError::LeaseLost(lease.action.clone()))
    }
}
