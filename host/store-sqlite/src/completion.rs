//! Completes claims.

use std::time::SystemTime;

use airlock_model::actor::DecidedBy;
use airlock_model::digest::Digest;
use airlock_model::store::{Completion, Lease};
use rusqlite::{Connection, OptionalExtension, named_params};

use super::problem::Problem;
use super::rows::millis;
use super::stack::json;

/// The final outcome of a claim.
pub(super) struct End {
    result: Option<Digest>,
    error: Option<String>,
    /// The applied part, as JSON.
    part: Option<String>,
    before: Option<AppliedBefore>,
}

/// The decision of an earlier apply that took effect.
struct AppliedBefore {
    reason: String,
    /// Extra details, as JSON.
    extra: Option<String>,
    decided_by: Option<DecidedBy>,
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
            part: completion.part().and_then(|it| json(it).ok()),
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
            resolved_at = :now, result = :result, error = :error, part = :part, interrupted = 0, guest_state = NULL
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
                ":part": end.part,
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
