//! The conditions under which a durable action is applied.

use airlock_model::effects::EffectsRecord;
use airlock_model::error::{Error, HostError};
use airlock_model::pending::PendingAction;
use airlock_model::policy::Policy;

use crate::instance::Conditions;
use crate::instance::new_seed;

/// Returns the conditions of the action's rehearsal, except for what the policy grants. If the
/// result of an apply under granted conditions differs from the review, the next decision is about
/// that result, and the apply's conditions are used again.
///
/// # Errors
/// If the system has no randomness.
pub(super) fn conditions(
    action: &PendingAction,
    review: Option<&EffectsRecord>,
    policy: &Policy,
) -> Result<Conditions, Error> {
    let files_moved = review.is_some_and(|review| review.effects.moved);
    if let Some(review) = review
        && let Some(time) = review.time
    {
        let mut conditions = Conditions::new(review.seed.clone(), time);
        conditions.files_moved = files_moved;
        return Ok(conditions);
    }
    let seed = match review {
        Some(review) if !policy.fresh_randomness => review.seed.clone(),
        _ => new_seed().map_err(HostError::Randomness)?,
    };
    let mut conditions = if policy.real_time {
        Conditions::from_now(seed)
    } else {
        Conditions::new(seed, action.pushed_at)
    };
    conditions.files_moved = files_moved;
    conditions.are_granted = policy.real_time || policy.fresh_randomness;
    Ok(conditions)
}
