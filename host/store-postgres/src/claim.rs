//! Claims actions, each for one host.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use airlock_model::actor::DecidedBy;
use airlock_model::pending::{ActionId, Decision, Resolution, SessionId};
use airlock_model::store::{
    APPLY_INTERRUPTED, Claim, Claimed, DISCARD_INTERRUPTED, Lease, Standing, StoreError,
};
use sqlx::postgres::PgRow;

use super::connections::Statement;
use super::problem::Failure;
use super::record::{action, action_columns, get, micros, text};
use super::schema::same_schema;
use super::text::escaped;
use super::{Nonce, PostgresStoreInner, session_key};

/// The columns that [`PostgresStoreInner::claimed`] reads. The action's state is already known.
macro_rules! claimed_columns {
    () => {
        concat!(action_columns!(), ", a.attempts, a.guest_state, a.token")
    };
}

/// A claim also records that an earlier lease of the action has expired. The texts are arguments,
/// so that each is written only once.
macro_rules! claim {
    ($before:literal, $which:literal) => {
        concat!(
            $before,
            "UPDATE airlock.actions AS a SET
                state = 'resolving',
                attempts = a.attempts + CASE WHEN $2 = 'apply' THEN 1 ELSE 0 END,
                interrupted = CASE WHEN a.state = 'resolving' AND a.decision = 'apply'
                    THEN greatest(a.interrupted, 1) ELSE a.interrupted END,
                last_error = CASE
                    WHEN a.state = 'pending' THEN a.last_error
                    WHEN a.decision = 'apply' THEN $9
                    WHEN a.interrupted <> 0 THEN a.last_error
                    ELSE $10 END,
                token = a.token + 1, nonce = $3, holder = $4, leased_at = clock_timestamp(),
                lease_until = clock_timestamp() + $5 * interval '1 microsecond',
                decision = $2, reason = $6, extra = $7, decided_by = $8, actor = $11, evidence = $12 ",
            $which,
            " AND ",
            same_schema!(),
            " RETURNING ",
            claimed_columns!()
        )
    };
}

/// Skips a row that another host is claiming at the moment, instead of waiting for it.
const CLAIM_TOPMOST: &str = claim!(
    "WITH topmost AS (
        SELECT id FROM airlock.actions
        WHERE session = $1 AND open AND (state = 'pending' OR lease_until <= clock_timestamp())
        ORDER BY position DESC LIMIT 1 FOR UPDATE SKIP LOCKED
    ) ",
    "FROM topmost WHERE a.id = topmost.id"
);

/// Finds the action by its id alone. A condition that it is open would be redundant, and would let
/// the server scan the whole stack.
const CLAIM_NAMED: &str = claim!(
    "",
    "WHERE a.id = $13 AND a.session = $1 AND (a.state = 'pending' OR a.lease_until <= clock_timestamp())"
);

/// Finds the action that a claim without a response took, if any. Its lease starts again, because
/// the caller counts from now.
const RECALL: &str = concat!(
    "UPDATE airlock.actions AS a SET lease_until = clock_timestamp() + $3 * interval '1 microsecond'
    WHERE a.session = $1 AND a.open AND a.nonce = $2 AND a.state = 'resolving' AND ",
    same_schema!(),
    " RETURNING ",
    claimed_columns!()
);

const STATE: &str = concat!(
    "SELECT state FROM airlock.actions WHERE id = $1 AND session = $2 AND ",
    same_schema!()
);

impl PostgresStoreInner {
    pub async fn claim(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        let nonce = self.nonce();
        let statement = self.claim_statement(session, resolution, by, &nonce)?;
        let recall = Statement::new(RECALL)
            .bind(session_key(session))
            .bind(nonce)
            .bind(micros(self.lease_time));
        let rows = self.once(&statement, &recall).await?;
        match (rows.first(), &resolution.id) {
            (Some(row), id) => match self.claimed(row, session, resolution.decision) {
                Ok(claimed) => Ok(Claim::Claimed(claimed)),
                Err(unreadable) => {
                    let lease = lease(row, session).map_err(|error| self.error(error))?;
                    self.release(&lease).await?;
                    match id {
                        Some(id) => Err(self.error(unreadable.of(id))),
                        None => self.claim_readable(session, resolution, by).await,
                    }
                }
            },
            (None, Some(id)) => self.answer_for(session, id).await,
            (None, None) => Ok(Claim::NothingPending),
        }
    }

    /// Claims the topmost readable action, in listing order.
    async fn claim_readable(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        by: &DecidedBy,
    ) -> Result<Claim, StoreError> {
        let Some(top) = self.list(session, None).await?.into_iter().next() else {
            return Ok(Claim::NothingPending);
        };
        let resolution = resolution.clone().with_id(top.action.id.clone());
        Box::pin(self.claim(session, &resolution, by)).await
    }

    fn claim_statement(
        &self,
        session: &SessionId,
        resolution: &Resolution,
        by: &DecidedBy,
        nonce: &Nonce,
    ) -> Result<Statement, StoreError> {
        let extra = resolution.extra.as_ref().map(serde_json::to_string);
        let extra = extra
            .transpose()
            .map_err(|error| self.error(sqlx::Error::InvalidArgument(error.to_string()).into()))?;
        let statement = match resolution.id {
            Some(_) => Statement::new(CLAIM_NAMED),
            None => Statement::new(CLAIM_TOPMOST),
        };
        let statement = statement
            .bind(session_key(session))
            .bind(resolution.decision.as_str())
            .bind(*nonce)
            .bind(escaped(&self.holder))
            .bind(micros(self.lease_time))
            .bind(escaped(&resolution.reason))
            .bind(extra)
            .bind(by.actor.name().map(escaped))
            .bind(APPLY_INTERRUPTED)
            .bind(DISCARD_INTERRUPTED)
            .bind(by.actor.kind())
            .bind(by.evidence.as_str());
        Ok(match &resolution.id {
            Some(id) => statement.bind(escaped(id.as_str())),
            None => statement,
        })
    }

    fn claimed(
        &self,
        row: &PgRow,
        session: &SessionId,
        decision: Decision,
    ) -> Result<Claimed, Failure> {
        let action = action(row)?;
        let attempts: i32 = get(row, "attempts")?;
        let attempts = attempts.unsigned_abs();
        let attempt = match decision {
            Decision::Apply => attempts,
            Decision::Discard => attempts + 1,
        };
        Ok(Claimed {
            lease: lease(row, session)?,
            action: Arc::new(action),
            guest_state: get(row, "guest_state")?,
            attempt,
        })
    }

    /// Returns the reason why a named action could not be claimed.
    async fn answer_for(&self, session: &SessionId, id: &ActionId) -> Result<Claim, StoreError> {
        let standing = self.unless_pending(session, id).await?;
        Ok(Claim::refused(id.clone(), standing))
    }

    /// Returns the standing of an action that was not pending a moment ago.
    pub async fn unless_pending(
        &self,
        session: &SessionId,
        id: &ActionId,
    ) -> Result<Standing, StoreError> {
        let statement = Statement::of_action(STATE, session, id);
        let state = self.first(&statement, |row| get::<String>(row, "state"));
        Ok(match state.await?.as_deref() {
            None => Standing::Unknown,
            Some("applied") => Standing::Resolved(Decision::Apply),
            Some("discarded") => Standing::Resolved(Decision::Discard),
            Some(_) => Standing::InProgress,
        })
    }

    pub fn nonce(&self) -> Nonce {
        let mut nonce = self.host;
        let number = self.claims.fetch_add(1, Ordering::Relaxed);
        nonce[8..].copy_from_slice(&number.to_be_bytes());
        nonce
    }
}

/// Reads a lease, using only columns that are always readable.
fn lease(row: &PgRow, session: &SessionId) -> Result<Lease, Failure> {
    let token: i64 = get(row, "token")?;
    Ok(Lease {
        session: session.clone(),
        action: text(row, "id")?.into(),
        token: token.unsigned_abs(),
    })
}
