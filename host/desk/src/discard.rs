//! Discarding actions without calling the plugin that pushed them, which may be what failed.

use std::sync::Arc;
use std::time::SystemTime;

use airlock_host::pending::{ActionId, ActionState, EXPIRED, SessionId, StackedAction};
use airlock_host::store::ActionRecord;
use airlock_host::{Error, PendingAction, Session};

use crate::decider;
use crate::store::Store;

/// Discards the pushed actions that are still pending and volatile. They end with the session,
/// because their tool keeps the preview in its memory. Returns their number.
///
/// # Errors
/// Fails if the store can't be used.
pub async fn discard_volatile(
    session: &Session,
    store: &Store,
    pushed: &[Arc<PendingAction>],
    reason: &str,
) -> Result<usize, Error> {
    if pushed.iter().all(|action| action.durable) {
        return Ok(0);
    }
    let mut left = left_of(pushed, &session.pending().await?);
    left.retain(|action| !action.durable);
    let ids: Vec<_> = left.iter().map(|action| action.id.clone()).collect();
    discard(session.id(), store, &ids, reason).await?;
    Ok(left.len())
}

/// Discards the actions that have expired, and returns their number. Doesn't call their plugins,
/// because a caller that lists actions has none. Actions with apply attempts stay.
///
/// # Errors
/// Fails if the store can't be used.
pub async fn discard_expired(store: &Store, open: &[ActionRecord]) -> Result<usize, Error> {
    let now = SystemTime::now();
    let is_expired = |record: &&ActionRecord| {
        let is_untried = matches!(record.state, ActionState::Pending | ActionState::Lost);
        is_untried && record.attempts == 0 && record.action.has_expired(now)
    };
    let mut count = 0;
    for records in open.chunk_by(|one, next| one.session == next.session) {
        let expired = records.iter().filter(is_expired);
        let ids: Vec<_> = expired.map(|record| record.action.id.clone()).collect();
        discard(&records[0].session, store, &ids, EXPIRED).await?;
        count += ids.len();
    }
    Ok(count)
}

/// Discards actions atomically, without calling their plugins. Skips those that another caller
/// resolved first.
async fn discard(
    session: &SessionId,
    store: &Store,
    ids: &[ActionId],
    reason: &str,
) -> Result<(), Error> {
    let by = decider::program().into();
    store.durable().discard(session, ids, reason, &by).await?;
    Ok(())
}

/// Returns those of the pushed actions that are pending, in their order.
pub fn left_of(
    pushed: &[Arc<PendingAction>],
    pending: &[StackedAction],
) -> Vec<Arc<PendingAction>> {
    let is_pending = |action: &PendingAction| {
        let mut pending = pending.iter();
        pending.any(|pending| pending.action.id == action.id)
    };
    let pushed = pushed.iter().filter(|action| is_pending(action));
    pushed.cloned().collect()
}
